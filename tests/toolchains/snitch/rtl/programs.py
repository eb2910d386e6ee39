"""Programs measured on the RTL of the open-source cluster: made with the binutils alone, run, results read.

`single/` runs on one core, `cluster/` on eight and the DMA core. Each measures a region three times (first
with cold caches) and compares what it computed itself. `single.csv` and `cluster.csv` hold what the RTL gave
(Verilator model of snitch_cluster, April 2026, default configuration): cycles of the region, instructions of
the integer core in it, words compared.
"""

from __future__ import annotations

import csv
import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.snitch.elf import read_elf
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.simulation import Simulation
from perfdojo.toolchains.snitch.simulator import Job, simulate

FOLDER = Path(__file__).parent
ASSEMBLER = ("-march=rv32imafd_zicsr_zifencei", "-mabi=ilp32d")
LINKER = (
    "-melf32lriscv",
    "-static",
    "--no-relax",
    "--no-warn-rwx-segments",
    "--build-id=none",
    "-T",
    "link.ld",
)
WORDS = 512
CLUSTER_ERRORS = 2 + 3 * 9 * 3 + 3 * 16


@dataclass(frozen=True, slots=True)
class Measured:
    """What the RTL gave for a program; 0 for a repetition that it does not have."""

    name: str
    cluster: bool
    cycles: tuple[int, int, int]
    instructions: int
    words: int

    @property
    def warm(self) -> tuple[int, ...]:
        """Cycles of the repetitions with warm caches; of the only one where there are no more."""
        return tuple(c for c in self.cycles[1:] if c) or self.cycles[:1]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the simulator gave: the same, and how many words a program found wrong."""

    simulation: Simulation
    cycles: tuple[int, int, int]
    instructions: int
    words: int
    different: int


def measured(kind: str) -> tuple[Measured, ...]:
    """Return the rows of single.csv or cluster.csv."""
    with (FOLDER / f"{kind}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        Measured(
            r["program"],
            kind == "cluster",
            (int(r["cold"] or 0), int(r["warm1"] or 0), int(r["warm2"] or 0)),
            int(r.get("instructions") or 0),
            int(r["words"] or 0),
        )
        for r in rows
        if (FOLDER / kind / f"{r['program']}.S").exists()
    )


def assemble(program: Measured, out: Path, binutils: str) -> Path:
    """Make the ELF file of a program; two processes, as no preprocessor is needed."""
    source = FOLDER / ("cluster" if program.cluster else "single")
    text = (source / f"{program.name}.S").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^#include", ".include", text)
    made, elf = out / f"{program.name}.o", out / f"{program.name}.elf"
    subprocess.run(
        [f"{binutils}as", *ASSEMBLER, "-I", ".", "-o", str(made), "-"],
        input=text,
        text=True,
        check=True,
        cwd=source,
    )
    subprocess.run([f"{binutils}ld", *LINKER, "-o", str(elf), str(made)], check=True, cwd=source)
    return elf


def run(program: Measured, elf: Path, tools: Tools, statistics: bool = False) -> Seen:
    """Run a program on the simulator."""
    image = read_elf(elf)
    job = Job(
        cores=8 if program.cluster else 1,
        dma=program.cluster,
        divider=program.name.startswith("m_ds_"),
        statistics=statistics,
        hardware=True,
        max_cycles=5_000_000,
        dumps=((image.symbols["results"], 4 * WORDS),),
    )
    simulation = simulate(image, job, tools, Limits(wall_s=120.0))
    if simulation.exit_code:
        return Seen(simulation, (0, 0, 0), 0, 0, 0)
    words = struct.unpack(f"<{WORDS}I", simulation.memory[0])
    return _cluster(simulation, words) if program.cluster else _single(simulation, words)


def _single(simulation: Simulation, words: Sequence[int]) -> Seen:
    return Seen(simulation, (words[2], words[3], words[4]), words[7], words[9], words[8])


def _cluster(simulation: Simulation, words: Sequence[int]) -> Seen:
    """The region of hart 0 between its two barriers; errors and words of all nine harts."""
    first, second, third = ((words[2 + 27 * k + 2] - words[2 + 27 * k]) & 0xFFFFFFFF for k in range(3))
    different = sum(words[CLUSTER_ERRORS : CLUSTER_ERRORS + 9])
    compared = sum(words[CLUSTER_ERRORS + 9 : CLUSTER_ERRORS + 18])
    return Seen(simulation, (first, second, third), 0, compared, different)


def off(program: Measured, seen: Seen) -> int:
    """Cycles between the nearest two warm repetitions."""
    first = 1 if program.cycles[1] else 0
    compared = seen.cycles[first : first + len(program.warm)]
    return min(abs(s - m) for s in compared for m in program.warm)
