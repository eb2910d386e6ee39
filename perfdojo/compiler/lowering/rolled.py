"""Short loops around many accumulators stay loops, though the compiler would write them out.

    for s = 0 to 3 { c_0 = fma(..); .. c_11 = fma(..) }   ->   for s = 0 to 3 unroll 1 { .. }

Written out, each step gives its accumulators new names, and register allocation has to find out that they are
one register each: with twelve of them gcc 12 loads operands anew for every use, at half the speed of a
convolution. `steps` says the same of steps that @unroll writes out.
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Const, For, Let, Set, Stmt
from perfdojo.compiler.lowering.walk import BLOCKS, Body

LONGEST = 16
"""Iterations that gcc writes out at most (its max-completely-peel-times)."""


def rolled(body: Body, context: Context) -> Body:
    """Return the body with short loops kept where their accumulators take half of the registers or more."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, BLOCKS):
            s = replace(s, body=rolled(s.body, context))
        if isinstance(s, For) and _is_short(s) and 2 * len(_accumulators(s.body)) >= context.target.registers:
            s = replace(s, unroll=1)
        out.append(s)
    return tuple(out)


def _is_short(s: For) -> bool:
    if s.unroll or not (isinstance(s.start, Const) and isinstance(s.stop, Const)):
        return False
    return int(s.stop.value) - int(s.start.value) <= LONGEST * s.step


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
