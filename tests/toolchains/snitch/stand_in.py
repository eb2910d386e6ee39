"""Programs with the command lines of a Verilator build of the cluster and of banshee.

Inside is the built-in simulator, with all nine harts of the default cluster.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.snitch.elf import Elf, read_elf
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.simulation import Simulation
from perfdojo.toolchains.snitch.simulator import Job, simulate

ROOT = Path(__file__).parents[3]
MAIN, MAIN_BYTES = 0x80000000, 1 << 20


def executable(folder: Path, kind: str) -> Path:
    """Write a program that calls the function `kind` of this file."""
    path = folder / kind
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        f"from tests.toolchains.snitch import stand_in\nsys.exit(stand_in.{kind}(sys.argv[1:]))\n"
    )
    path.chmod(0o755)
    return path


def verilator(arguments: list[str]) -> int:
    elf_path, ipc = arguments
    flag, tx, rx = ipc.split(",")
    assert flag == "--ipc"
    assert Path("logs").is_dir()
    done = _simulate(read_elf(Path(elf_path)))
    with open(tx, "rb") as requests, open(rx, "wb") as answers:
        while request := requests.read(24):
            operation, address, size = struct.unpack("<QQQ", request)
            if operation == 2:
                size = 4
            answers.write(done.memory[0][address - MAIN :][:size])
            answers.flush()
    return done.exit_code & 255


def silent(arguments: list[str]) -> int:
    """A simulator that ends without having opened its pipes."""
    print("no such option", file=sys.stderr)
    return 3


def banshee(arguments: list[str]) -> int:
    option, configuration, elf_path = arguments
    assert option == "--configuration"
    text = Path(configuration).read_text()
    elf = read_elf(Path(elf_path))
    exit_register = re.search(r"scratch_reg: (0x[0-9a-f]+)", text)
    cores = re.search(r"num_cores: (\d+)", text)
    assert exit_register is not None
    assert int(exit_register[1], 16) == elf.symbols["tohost"]
    assert cores is not None
    assert cores[1] == "9"
    return _simulate(elf).exit_code & 255


def _simulate(elf: Elf) -> Simulation:
    job = Job(8, True, dumps=((MAIN, MAIN_BYTES),))
    return simulate(elf, job, find_tools(), Limits())
