"""`--annotate`: the code of a kernel with what each instruction cost in one call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from perfdojo.toolchains.snitch.listing import Instruction, disassemble
from perfdojo.toolchains.snitch.measure import CycleMeasurement
from perfdojo.toolchains.snitch.run import Built
from perfdojo.toolchains.snitch.simulation import LineReport
from perfdojo.toolchains.snitch.words import stalls_text

_HEAD = f"{'address':>8} {'core':>8} {'cycles':>8} {'FP':>9}  {'instruction':<42} waited for"


def annotate(built: Built, m: CycleMeasurement) -> str:
    """Return the listing of the kernel's code with counts, cycles and causes of waits of the last call.

    Columns: times that an integer core issued the instruction, cycles that it spent on it, times that an FP
    subsystem issued it, repetitions included.
    """
    return "\n".join(_lines(built, m)) + "\n"


def _lines(built: Built, m: CycleMeasurement) -> Iterator[str]:
    harts = f"{m.cores} cores" if m.cores > 1 else "1 core"
    share = "" if m.utilisation is None else f", FPU utilisation {100 * m.utilisation:.1f} %"
    counts = f"{m.fpu_issues} FPU issues, {m.instructions} instructions, {harts}"
    yield f"{built.emitted.symbol}: {m.cycles} cycles{share}, {counts}"
    yield ""
    yield _HEAD
    ran = {line.pc: line for line in m.lines}
    code = disassemble(built.elf, *built.code, built.tools.compiler)
    for name, body in _functions(built, code):
        if not any(i.pc in ran for i in body):
            continue
        yield ""
        yield f"{name}:"
        last = max(k for k, i in enumerate(body) if i.pc in ran or i.word)  # words of alignment follow
        yield from (_line(i, ran.get(i.pc)) for i in body[: last + 1])


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
    return f"{i.pc:08x} {counts}  {i!s:<42} {stalls_text(line.stalls)}".rstrip()
