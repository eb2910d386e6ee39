"""Stencil: a few rows at once, in lanes along a row, so that neighbours are loaded once for all of them."""

from __future__ import annotations

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.recipes._steps import (
    chain,
    cut,
    drop_single,
    extent,
    order,
    threads,
    unmark,
    unroll,
    vectorize_rest,
)
from perfdojo.compiler.schedule import History

ROWS = 4
"""Rows of a block: six rows are loaded for four of a 5-point stencil, instead of twelve."""


def stencil(h: History, *, rows: int = ROWS, columns: int = 0) -> None:
    """Compute each perfect nest of two or more scopes in blocks of rows, its innermost scope in lanes.

        H W y[{0},{1}] = x[{0},{1}+1] + x[{0}+1,{1}] + x[{0}+1,{1}+2] + x[{0}+2,{1}+1]
        ->
        h_o:H/rows w:W@vector h_i:rows@unroll y[{0}*rows+{2},{1}] = ..

    Args:
        rows: of a block, written out.
        columns: of a block, which all rows then run through; 0: all of them, where the rows that a block
            needs stay in the first-level cache.
    Raises:
        PerfDojoError: there is no such nest, or an exchange of scopes is illegal.
    """
    tops = [n.name for n in h.program.body if n.name in h.program.scopes]
    nests = [nest for nest in (chain(h, top) for top in tops) if len(nest) > 1]
    if not nests:
        raise PerfDojoError("there are no two nested scopes", hint="a stencil runs over rows and columns")
    for nest in nests:
        unmark(h, nest)
        *around, height, width = nest
        order(h, (width, *around, height))
        for (out, into, _), (*outer, row) in cut(h, width, columns or extent(h, width), *around, height):
            order(h, (row, out, *outer, into))
            for (tile, one, _), (column, *rest, lanes) in cut(h, row, rows, out, *outer, into):
                blocked = [column] if column != lanes else []
                order(h, (*rest, *blocked, tile, lanes, one))
                unroll(h, [one] if tile != one else [])
                vectorize_rest(h, [lanes])
    drop_single(h)
    threads(h)
