"""Contractions of narrow numbers, for instructions that add the products of neighbours to each lane.

Such a contraction has its innermost reduction cut into groups, innermost of all scopes in the tile:

    k { rows { columns { U } } }   ->   k_o { rows { columns { k_i { U } } } }

Neighbours of the factor that moves with the columns are then those of its packed panel, [k_o][columns][k_i].
"""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import written
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.lowering.dots import Dot, dot_of, factor_type
from perfdojo.compiler.lowering.target import FpLevel, Target, at_least
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.plan.recipes import blocks
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, nodes
from perfdojo.compiler.walk import const_int


def dot_for(program: Program, c: Contraction, target: Target, fp: FpLevel) -> Dot | None:
    """Return the instruction that a contraction is to be done with; None when there is none for it."""

    def dtype(e: Load) -> DType:
        return program.buffer(e.buffer).dtype

    found = dot_of(c.statement, dtype)
    if found is None:
        return None
    dot, *factors = found
    if not at_least(fp, dot.level):
        return None
    lanes, k = c.lanes, c.inner[-1]
    kept = [f for f in factors if not stride(program, f, c.columns)]
    if c.extent(k) < dot.group or len(kept) != 1 or stride(program, kept[0], k) != 1:
        return None
    if c.streamed[0].buffer in written((c.own[0],)):
        return None
    cycle = target.supports(f"cycle:{dot.group}", factor_type(dtype(kept[0])), dot.group * lanes)
    return dot if cycle and target.supports(dot.op, dot.result, lanes) else None


def in_groups(program: Program, reduction: str, size: int) -> tuple[Program, str]:
    """Cut a reduction into groups, and what is left; return the name of the scope of a group."""
    program, _, inner, _ = blocks(program, reduction, size)
    return mark(program, inner, "unroll"), inner


def groups_in(program: Program, scope: str, c: Contraction, size: int) -> frozenset[str]:
    """Return the scopes of groups in the copies of the contraction's nest under a scope."""

    def one(s: Scope) -> bool:
        u = s.body[0]
        sums = isinstance(u, Statement) and u.op != "=" and u.target.buffer == c.statement.target.buffer
        return sums and len(s.body) == 1 and s.mark == "unroll" and const_int(s.extent) == size

    return frozenset(s.name for s in nodes((find(program, scope),)) if isinstance(s, Scope) and one(s))
