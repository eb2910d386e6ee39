"""Contractions of narrow numbers, for instructions that add the products of neighbours to each lane.

Such a contraction has its innermost reduction cut into groups, innermost of all scopes in the tile:

    k { rows { columns { U } } }   ->   k_o { rows { columns { k_i { U } } } }

Neighbours of the factor that moves with the columns are then those of its packed panel, [k_o][columns][k_i].
The other factor is copied to rows of neighbours before, where they lie apart and there are columns enough.
"""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads, written
from perfdojo.compiler.dtypes import U8, DType
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.lowering.dots import Dot, dot_of, factor_type
from perfdojo.compiler.lowering.target import FpLevel, Target, at_least
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.plan.recipes import blocks
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.stage_packed import stage_packed
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, nodes, path
from perfdojo.compiler.walk import const_int, iterators

LEAST_ROWS = {4: 3, 2: 8}
"""Rows from which on packing pays, by the products of a group. Measured on Zen 5, 1024 columns and steps."""

LEAST_COLUMNS = 64
"""Columns from which on it pays to copy the other factor; each of its elements is then used that often."""


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
    if c.extent(k) < dot.group or c.extent(c.rows) < LEAST_ROWS[dot.group] or len(kept) != 1:
        return None
    copied = [*c.streamed, *(() if stride(program, kept[0], k) == 1 else kept)]
    if len(copied) > 1 and c.extent(c.columns) < LEAST_COLUMNS:
        return None
    if not written((c.own[0],)).isdisjoint(f.buffer for f in copied):
        return None
    cycle = target.supports(f"cycle:{dot.group}", factor_type(dtype(kept[0])), dot.group * lanes)
    return dot if cycle and target.supports(dot.op, dot.result, lanes) else None


def further_sums(dot: Dot, target: Target, lanes: int) -> int:
    """Return the sums beside those of its rows that a tile has on a target, see `lowering/biased.py`."""
    return dot.more if target.supports("biased", U8, dot.group * lanes) else 0


def rows_of_neighbours(program: Program, c: Contraction) -> Program:
    """Copy the factor that does not move with the columns to rows of neighbours, where it is in none."""
    kept = next(f for f in reads(c.statement) if not stride(program, f, c.columns))
    if stride(program, kept, c.inner[-1]) == 1:
        return program
    used: set[str] = set().union(*(iterators(i) for i in kept.indices))
    around = path(program, c.columns)[:-1]
    order = [s for s in (c.rows, *c.inner) if s in used]
    return stage_packed(program, around, c.columns, kept, order)[0]


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
