"""Costs that a program cannot go below: what a search needs not measure.

    host:    operations at the rate of their lanes; bytes past each cache at its speed, by footprints
    Snitch:  one operation of the FPU a cycle, and one access a cycle of what is not streamed

Rates and bandwidths are those that `perfdojoc --doctor` measures. Each figure errs on the fast side: a
function counts a few operations, plain loops as if gcc put them into lanes, caches as twice as large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from perfdojo.compiler.analysis.touches import reads
from perfdojo.compiler.analysis.traffic import traffic
from perfdojo.compiler.ir import Op, Program, Scope, Statement
from perfdojo.compiler.libraries import LIBRARY_FUNCTIONS
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.walk import const_int, iterators, statements
from perfdojo.compiler.work import operations, values_in
from perfdojo.toolchains.cpu import Cpu
from perfdojo.toolchains.roofline import Roofline

FUNCTION_OPERATIONS = 8
"""Of the shortest: exp has 11 multiply-adds and more (docs/functions.md)."""
ROOMY = 2
"""Caches count as that much larger."""
WRITTEN_OUT = ("unroll", "vector")


def host_limit(program: Program, target: Target, roofline: Roofline, cpu: Cpu, threads: int) -> float:
    """Return the least seconds of one call, everything that fits a cache being there."""
    return max(_compute_s(program, target, roofline, threads), _memory_s(program, roofline, cpu, threads))


def _compute_s(program: Program, target: Target, roofline: Roofline, threads: int) -> float:
    seconds = 0.0
    for around, s in statements(program):
        dtype = program.buffer(s.target.buffer).dtype
        peak = roofline.peak(dtype.name, threads)
        if not dtype.is_float or not peak:
            continue
        lanes = max(1, target.vector_bits // (8 * dtype.bytes))
        slow = 1 if _in_lanes(program, around, s) else lanes
        seconds += _times(around) * _work(program, s) * slow / peak
    return seconds


def _in_lanes(program: Program, around: Sequence[Scope], s: Statement) -> bool:
    """Tell whether a statement runs in lanes, or gcc may bring it there: no sum whose order counts."""
    if any(a.mark == "vector" for a in around):
        return True
    inner = next((a for a in reversed(around) if a.mark != "unroll"), None)
    if inner is None or s.op != "=":
        return inner is None
    return all(stride(program, load, inner.name) in (0, 1) for load in (*reads(s), s.target))


def _memory_s(program: Program, roofline: Roofline, cpu: Cpu, threads: int) -> float:
    arguments = [b for b in program.buffers if b.role != "tmp"]
    placed = layouts(program)
    footprint = sum(placed[b.name].bytes for b in arguments)
    read = sum(placed[b.name].bytes for b in arguments if b.role != "out")
    share, least = read / max(1, footprint), 0.0
    for n, cache in enumerate(cpu.caches):
        if footprint <= ROOMY * cache.size_bytes:
            break
        last = n + 1 == len(cpu.caches)
        place = float("inf") if last else cpu.caches[n + 1].size_bytes / 2
        moved = traffic(program, ROOMY * cache.size_bytes)
        least = max(least, moved / roofline.bandwidth(place, share, threads))
    return least


def snitch_limit(program: Program, target: Target, cores: int) -> float:
    """Return the least cycles of one call on a cluster."""
    cycles = 0.0
    for around, s in statements(program):
        dtype = program.buffer(s.target.buffer).dtype
        lanes = max(1, target.vector_bits // (8 * dtype.bytes)) if _marked(around, "vector") else 1
        work = float(_work(program, s) + 1) // 2 if dtype.is_float else 1.0
        if not (_marked(around, "stream") or _marked(around, "frep")):
            work += sum(1 for _ in reads(s))
        busy = cores if _marked(around, "core") else 1
        cycles += _times(around) * max(1.0, work) / (lanes * busy)
    return cycles


def _work(program: Program, s: Statement) -> int:
    """Return the floating-point operations of one execution; a function counts as its shortest."""
    functions = sum(isinstance(e, Op) and e.op in LIBRARY_FUNCTIONS for e in values_in(s.value))
    return operations(s, program)[0] + (FUNCTION_OPERATIONS - 1) * functions


def written_out(program: Program, target: Target) -> int:
    """Return how many operations stand in the code when scopes that are to be written out are.

    Functions count as their shortest, a statement without operations as one.
    """
    copies = ((s, _copies(program, target, around, s)) for around, s in statements(program))
    return sum(n * max(1, _work(program, s)) for s, n in copies)


def _copies(program: Program, target: Target, around: Sequence[Scope], s: Statement) -> int:
    bits = 8 * program.buffer(s.target.buffer).dtype.bytes
    lanes = max(1, target.vector_bits // bits)
    extents = [(a.mark, const_int(a.extent)) for a in around if a.mark in WRITTEN_OUT]
    return prod(-(-n // lanes) if mark == "vector" else n for mark, n in extents)


def accumulators(program: Program, target: Target) -> int:
    """Return the most vector registers that one reduction's results take, written out as they are."""
    return max(_accumulators(program, target), default=0)


def _accumulators(program: Program, target: Target) -> Iterator[int]:
    for around, s in statements(program):
        if s.op == "=":
            continue
        moved = {name for i in s.target.indices for name in iterators(i)}
        inner = [a for a in around if a.mark in WRITTEN_OUT and a.name in moved]
        yield _copies(program, target, inner, s)


def _marked(around: Sequence[Scope], mark: str) -> bool:
    return any(a.mark == mark for a in around)


def _times(around: Sequence[Scope]) -> int:
    return prod(const_int(a.extent) for a in around)
