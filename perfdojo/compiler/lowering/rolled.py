"""Short loops around many accumulators stay loops, though the compiler would write them out.

    for s = 0 to 3 { c_0 = fma(..); .. c_11 = fma(..) }   ->   for s = 0 to 3 unroll 1 { .. }

Written out, each step gives its accumulators new names, and register allocation has to find out that they are
one register each: with twelve of them gcc 12 loads operands anew for every use, at half the speed of a
convolution. `steps` says the same of steps that @unroll writes out.

So do short loops that sum a row, several vectors of a whole cache line a turn: written out, the loads of all
turns are ordered anew, and the processor no longer sees that they walk through memory. Narrower vectors come
to each line more than once, and gain from being written out.
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Const, For, Let, Set, Stmt
from perfdojo.compiler.lowering.walk import BLOCKS, Body

LONGEST = 16
"""Iterations that gcc writes out at most (its max-completely-peel-times)."""

LINE_BITS = 512

FEWEST = 4
"""Turns of a sum over a row that are worth a loop. Measured on Zen 5 with avx512, 256 rows of 512 in the
second-level cache, 8 turns: mean 3.90 us written out, 2.44 in a loop; max 4.23, 3.42; rmsnorm 4.11, 3.60."""


def rolled(body: Body, context: Context) -> Body:
    """Return the body with loops kept that sum short rows, or accumulate in half of the registers."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, BLOCKS):
            s = replace(s, body=rolled(s.body, context))
        if isinstance(s, For) and 0 < (turns := _turns(s)) <= LONGEST:
            accumulators = len(_accumulators(s.body))
            row = s.step > 1 and turns >= FEWEST and context.target.vector_bits >= LINE_BITS
            if 2 * accumulators >= context.target.registers or (row and accumulators):
                s = replace(s, unroll=1)
        out.append(s)
    return tuple(out)


def _turns(s: For) -> int:
    """How often a loop goes around, 0 where this is not known, or its unrolling is decided."""
    if s.unroll or not (isinstance(s.start, Const) and isinstance(s.stop, Const)):
        return 0
    return (int(s.stop.value) - int(s.start.value)) // s.step


def _accumulators(body: Body) -> set[str]:
    """Return the vectors that a body changes and that live longer than it."""
    changed: set[str] = set()
    own: set[str] = set()
    for s in body:
        if isinstance(s, Set) and s.var.type.lanes > 1:
            changed.add(s.var.name)
        elif isinstance(s, Let):
            own.add(s.var.name)
        elif isinstance(s, BLOCKS):
            changed |= _accumulators(s.body)
    return changed - own
