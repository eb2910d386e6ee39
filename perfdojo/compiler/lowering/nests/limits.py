"""What Snitch's data movers, its FPU loop and its registers can hold, and the latencies of its FPU.

Figures are those of the snitch_cluster RTL (commit 2fa3848) in its default configuration; latencies were
measured on its Verilator model, from the issue of an instruction to the issue of one that needs its result.
"""

from __future__ import annotations

MOVERS = 3
"""Data movers, bound to ft0, ft1 and ft2."""
LOOPS = 4
"""Loops of the address generator of a data mover."""
MAX_BOUND = 1 << 17
"""Iterations of each of them: their registers have 17 bits."""
MAX_REPEAT = 16
"""Times that a mover delivers each element it reads."""
WORD_BYTES = 8
"""Streams carry 64-bit words; the low three bits of addresses and strides are ignored."""
TCDM_BYTES = 128 << 10
"""Streams address the tightly coupled memory only."""
MAX_PASSES = 1 << 16
"""Passes of an FPU loop: 16 bits of its register count."""
MAX_INSTRUCTIONS = 32
"""Entries of the buffer from which the FPU repeats."""
FREP_LEVELS = 2
"""FPU loops inside each other."""
REGISTERS = (3, 4, 5, 6, 7, *range(10, 18), *range(28, 32), 8, 9, *range(18, 28))
"""FP registers besides those of streams; the last twelve are saved by a function that uses them."""
SAVED = frozenset((8, 9, *range(18, 28)))
"""FP registers that a function has to keep for its caller (fs0 to fs11)."""
MAX_ELEMENTS = 1 << 22
"""Addresses of a stream that are enumerated at most, to find its pattern."""

ARITHMETIC = 4
"""Latency of additions, multiplications, multiply-adds and sums over lanes."""
LOAD = 3
"""Latency of loads, and of instructions that put scalars into lanes."""
SIMPLE = 2
"""Latency of copies, signs, minima and maxima."""


def latency(op: str) -> int:
    """Return the cycles from the issue of an operation of `nest.Compute` to that of one that needs it."""
    op = op.split(":")[0]
    if op in ("copy", "neg", "abs", "minnum", "maxnum"):
        return SIMPLE
    if op in ("load", "splat", "pack"):
        return LOAD
    return ARITHMETIC
