"""`--annotate`: the code of a kernel with what each instruction cost in one call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from perfdojo.toolchains.snitch.listing import Instruction, disassemble
from perfdojo.toolchains.snitch.measure import CycleMeasurement
from perfdojo.toolchains.snitch.run import Built
from perfdojo.toolchains.snitch.simulator import LineReport

WORDS = {
    "load": "load",
    "fp": "result of the FPU",
    "muldiv": "multiplier",
    "stream_config": "stream configuration",
    "dma": "DMA",
    "write_port": "register port",
    "offload": "FP queue full",
    "lsu": "memory port",
    "fence": "fence",
    "icache": "instruction cache",
    "barrier": "barrier",
    "fp_raw": "FP operand",
    "fp_waw": "FP destination",
    "stream_empty": "stream empty",
    "stream_full": "stream full",
    "fp_lsu": "FP memory port",
    "fpu_busy": "FPU busy",
    "fp_idle": "nothing for the FPU",
    "frep_wait": "FREP of before",
}
"""What the simulator's names of causes mean."""

_HEAD = f"{'address':>8} {'core':>8} {'cycles':>8} {'FP':>9}  {'instruction':<42} waited for"


def annotate(built: Built, m: CycleMeasurement) -> str:
    """Return the listing of the kernel's code with counts, cycles and causes of waits of the last call.

    Columns: times that an integer core issued the instruction, cycles that it spent on it, times that an FP
    subsystem issued it, repetitions included.
    """
    return "\n".join(_lines(built, m)) + "\n"


def _lines(built: Built, m: CycleMeasurement) -> Iterator[str]:
    start, end = (built.elf.symbols[f"perfdojo_kernel_{s}"] for s in ("text", "end"))
    harts = f"{m.cores} harts" if m.cores > 1 else "1 hart"
    yield (
        f"{built.emitted.symbol}: {m.cycles} cycles, FPU utilisation {100 * m.utilisation:.1f} % "
        f"({m.fpu_issues} issues), {m.instructions} instructions, {harts}"
    )
    yield ""
    yield _HEAD
    ran = {line.pc: line for line in m.lines}
    code = disassemble(built.elf, start, end, built.tools.compiler)
    for name, body in _functions(built, code):
        if not any(i.pc in ran for i in body):
            continue
        yield ""
        yield f"{name}:"
        yield from (_line(i, ran.get(i.pc)) for i in body)


def _functions(built: Built, code: tuple[Instruction, ...]) -> Iterator[tuple[str, tuple[Instruction, ...]]]:
    """Functions in their order; instructions before all names are of the kernel."""
    names: dict[int, str] = {code[0].pc: built.emitted.symbol} if code else {}
    for address, name in built.elf.functions:
        if code and code[0].pc <= address <= code[-1].pc:
            names[address] = name
    starts = [*sorted(names), code[-1].pc + 4 if code else 0]
    for begin, end in pairwise(starts):
        yield names[begin], tuple(i for i in code if begin <= i.pc < end)


def _line(i: Instruction, line: LineReport | None) -> str:
    if line is None:
        return f"{i.pc:08x} {'':27}  {i}".rstrip()
    counts = " ".join(f"{n or '':>{w}}" for n, w in ((line.count, 8), (line.cycles, 8), (line.fp_count, 9)))
    waits = ", ".join(f"{WORDS.get(k, k)} {n}" for k, n in sorted(line.stalls.items(), key=lambda s: -s[1]))
    return f"{i.pc:08x} {counts}  {i!s:<42} {waits}".rstrip()
