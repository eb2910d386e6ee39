"""Build a kernel for Snitch, run it on a simulated cluster, judge what it did."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES
from perfdojo.toolchains.arrays import Array, from_memory, nans_in, to_memory, why_unfit_inputs
from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.results import Failure, Outcome, RunResult
from perfdojo.toolchains.snitch.elf import Elf, read_elf
from perfdojo.toolchains.snitch.gcc import DIVIDER, Tools, build_elf
from perfdojo.toolchains.snitch.judge import judge_area, judge_results, read_results, results_bytes
from perfdojo.toolchains.snitch.layout import ARGUMENT_BYTES, DMA_HART, Area, image, place
from perfdojo.toolchains.snitch.simulation import Fault, Simulation
from perfdojo.toolchains.snitch.simulator import MEMORY_BYTES, Job, simulate

CHECK_TIMEOUT_S = 60.0
KEEP, COMPARE = 1, 2
"""Flags of the plan in start.S."""
LEAST_CYCLES, OPERATION_CYCLES = 3_000_000, 5_000
"""Cycles after which a program is taken to run forever: some, and more for each operation and byte.
Functions in software take a few thousand cycles; an access to main memory takes eleven."""

HARNESS_CYCLES, HARNESS_BYTE_CYCLES = 50_000, 15
"""What the harness may take, and for each byte of the arguments in each call: it takes some 3,000 and 2."""

Machine = Callable[[Elf, Job, Limits], Simulation]
"""What runs a program: the built-in simulator or another one."""


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel that compiled, with its harness.

    Attributes:
        area: where its arguments lie.
        elf: the program, its inputs not yet in it.
        command, warnings: of the compiler.
        self_check: it compares its outputs itself.
    """

    emitted: EmittedSource
    tools: Tools
    area: Area
    elf: Elf
    command: str
    warnings: str
    self_check: bool = False

    @property
    def code(self) -> tuple[int, int]:
        """Where the instructions of the kernel begin and end."""
        return self.elf.symbols["perfdojo_kernel_text"], self.elf.symbols["perfdojo_kernel_end"]


def build(emitted: EmittedSource, tools: Tools, self_check: bool = False) -> Built | Failure:
    """Compile and link the kernel with its harness.

    Raises:
        PerfDojoError: its arguments must lie in the TCDM and do not fit there.
    """
    area = place(emitted)
    if not area.in_main and area.size_bytes > ARGUMENT_BYTES:
        raise PerfDojoError(
            f"{emitted.kernel} streams its arguments from the TCDM, where they need {area.size_bytes} bytes; "
            f"{ARGUMENT_BYTES} of its {TCDM_BYTES} are left for them",
            hint="choose smaller sizes with -D, or tile it for the DMA",
        )
    made = build_elf(emitted, area, tools, self_check)
    if isinstance(made, Failure):
        return made
    return Built(emitted, tools, area, read_elf(made.path), made.command, made.warnings, self_check)


def run(
    built: Built,
    inputs: Mapping[str, Array],
    machine: Machine | None = None,
    timeout_s: float = CHECK_TIMEOUT_S,
    call_cycles: int | None = None,
) -> RunResult:
    """Run the kernel on `inputs`, arrays for the `in` and `inout` arguments in dtype and shape of each.

    It is called twice, with different garbage in and around the arguments: so a write next to a buffer or to
    an input, an output element that is not written, and what only the first call gets right are found.
    Calls that take more than `call_cycles` each are cut short: a timeout.
    """
    unfit = why_unfit_inputs(built.emitted.arguments, inputs)
    if unfit:
        return RunResult("not-runnable", unfit)
    memory = input_memory(built, inputs)
    elf = program(built, memory, 2, KEEP)
    done = (machine or builtin(built.tools))(elf, check_job(built, call_cycles), limits(timeout_s))
    outcome, text = judge_end(built, done, 2)
    if outcome != "ok":
        return RunResult(outcome, text)
    first, second = done.memory[1], done.memory[2]
    outcome, text = judge_area(built.area, image(built.area, memory, 0), first, second)
    if outcome != "ok":
        return RunResult(outcome, text)
    outputs = {
        a.name: from_memory(a, first[at : at + a.bytes])
        for a, at in zip(built.area.arguments, built.area.offsets, strict=True)
        if a.role != "in"
    }
    return RunResult("ok", "", outputs, nans_in(outputs), done.seconds)


def builtin(tools: Tools) -> Machine:
    """Return the simulator that perfdojo brings."""
    return lambda elf, job, bounds: simulate(elf, job, tools, bounds)


def limits(seconds: float) -> Limits:
    """Return what a simulation may use."""
    return Limits(wall_s=seconds, memory_bytes=MEMORY_BYTES, output_bytes=64 << 20, processes=1)


def input_memory(built: Built, inputs: Mapping[str, Array]) -> dict[str, bytes]:
    """Return the bytes of the arguments that the kernel reads, by name."""
    return {a.name: to_memory(a, inputs[a.name]).tobytes() for a in built.area.arguments if a.role != "out"}


def program(built: Built, memory: dict[str, bytes], repetitions: int, flags: int) -> Elf:
    """Return the program with its inputs and its plan, as every simulator of the cluster takes it."""
    images = image(built.area, memory, 0) + image(built.area, memory, 1)
    plan = struct.pack("<2I", repetitions, flags)
    return built.elf.patched({"perfdojo_images": images, "perfdojo_plan": plan})


def check_job(built: Built, call_cycles: int | None = None) -> Job:
    """Return a job that brings back the results and the area after the first two calls."""
    symbols, size = built.elf.symbols, built.area.size_bytes
    left = symbols["perfdojo_images" if built.area.in_main else "perfdojo_snapshots"]
    made = job(built, ((left, size), (left + size, size)))
    return replace(made, max_cycles=most_cycles(built, 2, call_cycles))


def job(
    built: Built, more: tuple[tuple[int, int], ...] = (), statistics: bool = False, events: bool = False
) -> Job:
    """Return a job on the smallest cluster that runs the kernel; its first dump is that of the results."""
    e = built.emitted
    results = (built.elf.symbols["perfdojo_results"], results_bytes(e))
    cores = DMA_HART if e.dma else e.cores
    divider, dumps = DIVIDER in e.requires, (results, *more)
    return Job(cores, e.dma, divider, statistics, events, max_cycles=most_cycles(built), dumps=dumps)


def most_cycles(built: Built, calls: int = 0, call_cycles: int | None = None) -> int:
    """Return after how many cycles a program has made no such calls: it runs forever, or they take longer."""
    e = built.emitted
    forever = LEAST_CYCLES + OPERATION_CYCLES * (e.flops + e.integer_ops + e.bytes)
    if call_cycles is None:
        return forever
    each = HARNESS_BYTE_CYCLES * built.area.size_bytes + call_cycles
    return min(forever, HARNESS_CYCLES + calls * each)


def judge_end(built: Built, done: Simulation, repetitions: int) -> tuple[Outcome, str]:
    """Judge how a simulation ended and what the program said of itself; ok, or what is wrong."""
    if done.fault is not None:
        return "crash", describe_fault(built, done.fault)
    if done.outcome != "ok":
        return done.outcome, done.text
    results = read_results(built.emitted, done.memory[0], repetitions)
    where = built.elf.function_at(results.trap[1]) or hex(results.trap[1]) if results.trap else ""
    outcome, text = judge_results(built.emitted, results, where)
    return outcome, f"{text} ({done.trap_reason})" if results.trap and done.trap_reason else text


def describe_fault(built: Built, fault: Fault) -> str:
    """Return the place and the reason of something undefined in one sentence."""
    where = built.elf.function_at(fault.pc)
    at = f"{where} ({fault.pc:#x})" if where else f"{fault.pc:#x}"
    text = f"hart {fault.hart} at {at}, cycle {fault.cycle}, word {fault.word:#010x}: {fault.reason}"
    start, end = built.code
    return text if start <= fault.pc < end else f"{text}; {built.emitted.symbol} had returned, or not begun"
