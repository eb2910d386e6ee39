"""The instructions of a program in words: objdump's, and Snitch's own by our decoder."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.snitch.decode import CSRS, custom
from perfdojo.toolchains.snitch.elf import Elf

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s+(.*)$")
_TARGET = re.compile(r" <[^>]*\+0x[0-9a-f]+>$")
"""The place in a function that objdump adds to an address; a function's own name stays."""
_CSR = re.compile("|".join(f"{name}(?![0-9a-f])" for name in CSRS))
_LIMITS = Limits(wall_s=60.0, output_bytes=64 << 20)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `operands` as in assembly, "" when there are none."""

    pc: int
    word: int
    name: str
    operands: str

    def __str__(self) -> str:
        return f"{self.name:<9} {self.operands}".rstrip()


def disassemble(elf: Elf, start: int, end: int, compiler: Compiler) -> tuple[Instruction, ...]:
    """Return the instructions from `start` up to `end`; words that nobody knows are named `.word`."""
    texts = _objdump(elf, start, end, compiler)
    code = elf.read(start, end - start)
    found = []
    for at in range(0, len(code) - 3, 4):
        word = int.from_bytes(code[at : at + 4], "little")
        text = custom(word) or texts.get(start + at) or f".word\t{word:#010x}"
        name, _, operands = text.partition("\t")
        operands = _CSR.sub(lambda m: CSRS[m[0]], _TARGET.sub("", operands.split("#")[0]).strip())
        found.append(Instruction(start + at, word, name, re.sub(r",(?! )", ", ", operands)))
    return tuple(found)


def _objdump(elf: Elf, start: int, end: int, compiler: Compiler) -> dict[int, str]:
    """Text by address, from the objdump that came with the compiler; {} when there is none."""
    beside = compiler.path.with_name(re.sub(r"gcc(?=[^/]*$)", "objdump", compiler.path.name))
    program = str(beside) if beside.exists() else shutil.which("riscv64-unknown-elf-objdump")
    if program is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="perfdojo-snitch-") as folder:
        path = Path(folder) / "program.elf"
        path.write_bytes(elf.data)
        command = [program, "-d", "-z", f"--start-address={start}", f"--stop-address={end}", str(path)]
        finished = run(command, _LIMITS)
    lines = map(_LINE.match, finished.stdout.splitlines())
    texts = {int(m[1], 16): m[3].strip() for m in lines if m}
    return {pc: text for pc, text in texts.items() if not text.startswith((".", "0x", "unimp"))}
