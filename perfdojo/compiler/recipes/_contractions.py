"""Contractions get a nest of their own, and register tiles in it: what the recipes for them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Statement
from perfdojo.compiler.plan.contraction import Contraction, find_contraction
from perfdojo.compiler.plan.shapes import Part, partition
from perfdojo.compiler.recipes._steps import (
    Blocks,
    blocks,
    chain,
    cut,
    drop_single,
    extent,
    inside,
    lanes_or_unroll,
    order,
    peeled,
    sink,
    unmark,
    unroll,
)
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import loads

MAX_WRITTEN_OUT = 9
"""Steps of the innermost reduction scopes that are written out: a 3 x 3 filter."""


class Columns(NamedTuple):
    """Columns that have one register tile.

    Attributes:
        blocks: their scopes.
        rows: of the tile.
        below: the copies that these columns hold of other scopes.
    """

    blocks: Blocks
    rows: int
    below: list[str]


def contractions(h: History) -> list[str]:
    """Return the names of all statements that are contractions."""
    return [n for n in h.program.statements if find_contraction(h.program, n, h.setting.target)]


def contraction(h: History, statement: str = "") -> Contraction:
    """Return how a statement, the first that is one, is a contraction.

    Raises:
        PerfDojoError: none is.
    """
    names = [statement] if statement else contractions(h)
    if statement and statement not in h.program.statements:
        raise PerfDojoError(f"there is no statement {statement}")
    found = find_contraction(h.program, names[0], h.setting.target) if names else None
    if found is None:
        what = f"statement {statement} is" if statement else "there is"
        hint = "one sums products of operands that move along different scopes, as a matmul does"
        raise PerfDojoError(f"{what} no contraction", hint=hint)
    return found


def isolate(h: History, name: str, start: bool) -> Contraction:
    """Give a contraction scopes of its own, in the order others, columns, rows, reductions.

    Args:
        start: statements right before the reductions, which start it, may stay.
    """
    c = contraction(h, name)
    drop_single(h, [s.name for s in c.around if s.name not in (c.rows, c.columns, *c.inner)])
    while True:
        c = contraction(h, name)
        children = (*c.own[1:], c.statement)
        crowded = next(
            (
                (scope, scope.body.index(child))
                for scope, child in zip(c.own, children, strict=True)
                if len(scope.body) > 1 and not (start and _is_start(c, scope.name))
            ),
            None,
        )
        if crowded is None:
            break
        scope, at = crowded
        cut = at if at else at + 1
        h.apply(f"fission_scope {scope.name} at {scope.body[cut].name}")
    unmark(h, [s.name for s in c.own])
    others = [s for s in c.outer if s not in (c.columns, c.rows)]
    order(h, [*others, c.columns, c.rows, *(() if _starts(h, c) else c.inner)])
    return contraction(h, name)


def _is_start(c: Contraction, scope: str) -> bool:
    names = [s.name for s in c.own]
    if names != [*c.outer, *c.inner] or scope != c.outer[-1]:
        return False
    body = c.own[len(c.outer) - 1].body
    return all(isinstance(n, Statement) for n in body[:-1]) and body[-1].name == c.inner[0]


def _starts(h: History, c: Contraction) -> bool:
    return len(h.program.scopes[chain(h, c.own[0].name)[-1]].node.body) > 1


def parts(h: History, c: Contraction, mr: int, nr: int, repeat: bool) -> tuple[Part, ...]:
    """Return the register tiles that cover the columns; mr, nr: rows and columns of a tile, 0: chosen.

    Args:
        repeat: columns may be computed twice, so that the last ones fill a vector.
    """
    target, rows, columns = h.setting.target, c.extent(c.rows), c.extent(c.columns)
    registers = target.registers or 16
    if not nr:
        found = partition(rows, columns, c.lanes, registers, target.masked_memory, repeat)
        return tuple(replace(p, rows=mr or max(2, p.rows)) for p in found)
    size = min(nr, columns)
    count, left = divmod(columns, size)
    fitting = max(1, (registers - 2) * c.lanes // size - 1)
    first = Part(count, size, mr or min(rows, fitting))
    return (first, Part(1, left, mr or first.rows)) if left else (first,)


def kept(c: Contraction) -> list[str]:
    """Return the buffers that the rows, and not the columns, move along."""
    streamed = {load.buffer for load in c.streamed}
    return list(dict.fromkeys(x.buffer for x in loads(c.statement.value) if x.buffer not in streamed))


def cut_columns(h: History, columns: str, tiles: Sequence[Part], *below: str) -> list[Columns]:
    """Cut the columns, the outermost scope of the tile, into parts, and each part into blocks."""
    found: list[Columns] = []
    rest, names = columns, list(below)
    for part, after in zip_longest(tiles, tiles[1:]):
        if after is None or not after.again:
            (whole, now), *left = cut(h, rest, part.size, *names)
            if left:
                rest, names = left[0][0].inner, left[0][1]
        else:
            here, now, old = rest, names, inside(h, rest)
            rest, *new = peeled(h, here, part.count * part.size, after.again)
            names = [dict(zip(old, new, strict=True))[s] for s in now]
            whole = blocks(h, here, part.size)
        found.append(Columns(whole, part.rows, now))
    return found


def register_tile(h: History, rows: str, columns: str) -> None:
    """rows { columns { start k { U } } }  ->  rows { columns { start } } k { rows { columns { U } } }

    The reductions k stay around the tile, and short ones are written out as the rows are.
    """
    small, steps = [], 1
    for name in reversed(inside(h, columns)):
        steps *= extent(h, name)
        if steps > MAX_WRITTEN_OUT:
            break
        small.append(name)
    lanes_or_unroll(h, sink(h, columns))
    unroll(h, sink(h, rows))
    unroll(h, small)
