"""What a candidate may use, by the best one so far and by what its problem needs."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.work import buffer_bytes
from perfdojo.toolchains.process import Limits
from perfdojo.tuning.problem import Problem

CUT = 3.0
"""Times the best from which on a candidate is cut: one call says enough, and it is checked no further."""
LEAST_CALL_S = 0.2
"""A call may take so long in any case: other processes may have the processor for a while."""
FIRST_CALL_S = 20.0
"""A call while there is no best one."""
USUAL, SPECIAL = 2.0, 40.0
"""Slowness of calls beside those that are timed: the first one while others run, and one with special values,
as processors take long for subnormal numbers."""
START_S = 2.0
"""To start a process, beside what its arguments take."""
ARGUMENTS_PER_S = 50e6
"""Bytes: they are written to files and read, copied and compared, before and behind the calls."""
LEAST_MEMORY, THREAD_MEMORY, COPIES = 1 << 30, 256 << 20, 8
"""Address space: that of a process, of a thread (its stack, its heap), of copies of all it computes with."""
COMPILE_LIMITS = Limits(
    wall_s=30.0, memory_bytes=4 << 30, output_bytes=1 << 20, file_bytes=256 << 20, processes=16
)
"""Of a compiler for one candidate: what takes longer leaves no time for a search."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one process of a candidate may use.

    Attributes:
        call_s: seconds of a call; it is cut short before it took twice as long.
        run_s: of the whole process, beside those that it is to measure for.
        memory_bytes: of address space.
    """

    call_s: float
    run_s: float
    memory_bytes: int


def allowance(problem: Problem, best: float | None, slowness: float = USUAL) -> Allowance:
    """Return what a candidate may use where the best one takes `best` seconds.

    Args:
        slowness: of the call: USUAL or SPECIAL.
    """
    call = LEAST_CALL_S + slowness * CUT * best if best else FIRST_CALL_S
    arguments = sum(map(buffer_bytes, problem.bound.arguments))
    memory = COPIES * sum(map(buffer_bytes, problem.bound.buffers))
    return Allowance(
        call,
        START_S + arguments / ARGUMENTS_PER_S + 6 * call,
        LEAST_MEMORY + problem.threads * THREAD_MEMORY + memory,
    )


def is_behind(cost: float, best: float | None, least: float = 0.0) -> bool:
    """Tell whether a cost is so far behind the best that the candidate is cut; never below `least`."""
    return best is not None and cost > max(CUT * best, least)
