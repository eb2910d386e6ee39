"""How long a kernel takes on the simulated cluster, and where the cycles go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from perfdojo.toolchains.arrays import Array, why_unfit_inputs
from perfdojo.toolchains.results import Outcome
from perfdojo.toolchains.snitch.judge import Call, read_results
from perfdojo.toolchains.snitch.run import (
    CHECK_TIMEOUT_S,
    Built,
    Machine,
    builtin,
    input_memory,
    job,
    judge_end,
    limits,
    most_cycles,
    program,
)
from perfdojo.toolchains.snitch.simulation import LineReport, Simulation

_ARITHMETIC = (0x43, 0x47, 0x4B, 0x4F, 0x53)
"""Major opcodes of what the FPU computes: fmadd, fmsub, fnmsub, fnmadd, and all others on scalars."""
_PACKED, _PACKED_F7 = 0x33, 0x40


@dataclass(frozen=True, slots=True)
class CycleMeasurement:
    """Cycles of one kernel. Unit of all times is the clock cycle.

    Attributes:
        text: one sentence on why there are no figures, "" when outcome is ok.
        cycles: of the last call, with warm instruction caches; from the read of mcycle before the call to the
            one behind it, the wait for the FPU (and for all harts, where several call it) included.
        calls: of all calls, the first one with cold instruction caches.
        cores: that called it together, the DMA's not counted.
        fpu_issues: instructions that the FPUs computed in the last call, repetitions included; None when the
            simulator tells nothing but cycles.
        instructions: that left the integer cores in the last call.
        stalls: cycles in which instructions of the kernel waited in the last call, by cause.
        lines: the same by address, in the order of the code.
        window: mcycle before and behind the last call.
        unit: of cycles.
    """

    outcome: Outcome
    text: str = ""
    cycles: int = 0
    calls: tuple[int, ...] = ()
    cores: int = 1
    fpu_issues: int | None = None
    instructions: int = 0
    stalls: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineReport, ...] = ()
    window: tuple[int, int] = (0, 0)
    unit: str = "cycles"

    @property
    def utilisation(self) -> float | None:
        """Part of the cycles in which an FPU was given something to compute; None if that is unknown."""
        if self.fpu_issues is None or not self.cycles:
            return None
        return self.fpu_issues / (self.cycles * self.cores)


def measure(
    built: Built,
    inputs: Mapping[str, Array],
    machine: Machine | None = None,
    timeout_s: float = CHECK_TIMEOUT_S,
    call_cycles: int | None = None,
) -> CycleMeasurement:
    """Call the kernel three times on `inputs` and report the last call.

    What happened in it is the difference to a run with one call less: a simulation is the same each time.
    Of another `machine` than the built-in simulator, only the cycles are known.
    Calls that take more than `call_cycles` each are cut short: a timeout.
    Kernels that change an argument in main memory are called twice, as there is no third copy of it.
    """
    unfit = why_unfit_inputs(built.emitted.arguments, inputs)
    if unfit:
        return CycleMeasurement("not-runnable", unfit)
    memory = input_memory(built, inputs)
    calls = 2 if built.area.in_main and any(a.role == "inout" for a in built.area.arguments) else 3
    run = machine or builtin(built.tools)
    runs = []
    for n in (calls,) if machine else (calls, calls - 1):
        asked = replace(job(built, statistics=machine is None), max_cycles=most_cycles(built, n, call_cycles))
        done = run(program(built, memory, n, 0), asked, limits(timeout_s))
        outcome, text = judge_end(built, done, n)
        if outcome != "ok":
            return CycleMeasurement(outcome, text)
        runs.append(done)
    found = _cycles(built, read_results(built.emitted, runs[0].memory[0], calls).calls)
    return found if machine else _with_causes(built, found, *runs)


def _cycles(built: Built, calls: tuple[Call, ...]) -> CycleMeasurement:
    return CycleMeasurement(
        "ok",
        "",
        calls[-1].cycles,
        tuple(c.cycles for c in calls),
        built.emitted.cores,
        window=(calls[-1].begin, calls[-1].end),
    )


def _with_causes(
    built: Built, found: CycleMeasurement, whole: Simulation, part: Simulation
) -> CycleMeasurement:
    start, end = built.code
    before = {line.pc: line for line in part.lines}
    lines = tuple(_less(line, before.get(line.pc)) for line in whole.lines if start <= line.pc < end)
    lines = tuple(line for line in lines if line.count or line.fp_count or line.cycles or line.stalls)
    stalls: Counter[str] = Counter()
    for line in lines:
        stalls.update(line.stalls)
    return replace(
        found,
        fpu_issues=sum(line.fp_count for line in lines if computes(word_at(built, line.pc))),
        instructions=sum(line.count for line in lines),
        stalls=dict(stalls.most_common()),
        lines=lines,
    )


def word_at(built: Built, pc: int) -> int:
    """Return the instruction at an address of the program."""
    return int.from_bytes(built.elf.read(pc, 4), "little")


def computes(word: int) -> bool:
    """Whether an instruction is one for the FPU: no load, no store, no control of streams or loops."""
    opcode = word & 127
    return opcode in _ARITHMETIC or (opcode == _PACKED and word >> 25 >= _PACKED_F7)


def _less(line: LineReport, before: LineReport | None) -> LineReport:
    if before is None:
        return line
    stalls = {k: n for k, v in line.stalls.items() if (n := v - before.stalls.get(k, 0))}
    return LineReport(
        line.pc,
        line.count - before.count,
        line.fp_count - before.fp_count,
        line.cycles - before.cycles,
        stalls,
    )
