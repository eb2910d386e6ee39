"""Direct convolution: a padded input, packed weights, a register tile of channels and pixels."""

from __future__ import annotations

from perfdojo.compiler.linear import linear
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.recipes._contractions import (
    contraction,
    cut_columns,
    isolate,
    kept,
    parts,
    register_tile,
)
from perfdojo.compiler.recipes._steps import (
    cut,
    drop_single,
    extent,
    made,
    order,
    peeled,
    threads,
    vectorize_rest,
)
from perfdojo.compiler.recipes.pack import pack
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import const_int, loads


def direct_convolution(h: History, *, statement: str = "", mr: int = 0, nr: int = 0) -> None:
    """Compute mr channels x nr pixels of a row at once; no pixel is tested, no patch is copied.

        O H W C 3 3 y[{0},{1},{2}] += (inside ? x[{3},{1}+{4}-1,{2}+{5}-1] : 0) * w[{0},{3},{4},{5}]
        ->
        x_t = x with its border
        w_t[o_o,c,i,j,o_i] = w
        H o_o:O/mr w_o:W/nr o_i:mr@unroll w_i:nr@vector y[..] = 0
        | | | c:C i:3@unroll j:3@unroll o_i_2:mr@unroll w_i_2:nr@vector y[..] += x_t[..] * w_t[..]

    What is left of channels and pixels gets tiles of its own.

    Args:
        statement: the convolution; "": the first contraction.
        mr, nr: channels and pixels of a tile; 0: what fits the registers and leaves little over.
    Raises:
        PerfDojoError: there is no contraction.
    """
    c = isolate(h, contraction(h, statement).statement.name, start=True)
    _pad(h, c)
    c = contraction(h, c.statement.name)
    tiles = parts(h, c, mr, nr, True)
    own = (c.rows, c.columns, *c.inner)
    others = [s.name for s in c.around if not s.mark and s.name not in own]
    order(h, (c.rows, *others, c.columns))
    for (out, row, _), (*around, columns) in cut(h, c.rows, tiles[0].rows, *others, c.columns):
        order(h, (*around, out, row, columns))
        if around and extent(h, row) > 1:
            for buffer in kept(c):
                pack(h, buffer=buffer, at=around[0], fastest=row)
        order(h, (*around, columns, out, row))
        for (outer, inner, _), _, (o, i) in cut_columns(h, columns, tiles, out, row):
            order(h, (o, outer, i, inner))
            register_tile(h, i, inner)
    vectorize_rest(h)
    drop_single(h)
    threads(h)


def _pad(h: History, c: Contraction) -> None:
    """Copy operands with their borders; borders are filled apart, so that no element is tested."""
    first = next(s.name for s in c.around if not s.mark)
    for buffer in dict.fromkeys(load.buffer for load in c.streamed):
        if h.why_not(f"create_temporary {buffer} at {first} border") is None:
            _fill(h, buffer, made(h, f"create_temporary {buffer} at {first} border"))


def _fill(h: History, buffer: str, scopes: list[str]) -> None:
    """Cut the border off each scope of the copy, and leave out the tests that are then decided."""
    copy = next(p.node for p in h.program.statements.values() if p.around and p.around[-1].name == scopes[-1])
    load = next(x for x in loads(copy.value) if x.buffer == buffer)
    nest = list(scopes)
    for index, size in zip(load.indices, h.program.buffer(buffer).shape, strict=True):
        form = linear(index)
        terms = form.terms if form is not None else ()
        if form is None or len(terms) != 1 or terms[0][1] != 1:
            continue
        n = scopes.index(terms[0][0])
        low, high = -form.const, const_int(size) - form.const
        if 0 < low < extent(h, nest[n]):
            nest[n:] = peeled(h, nest[n], low)
            high -= low
        if 0 < high < extent(h, nest[n]):
            peeled(h, nest[n], high)
    filled = copy.target.buffer
    for name in [n for n, p in h.program.statements.items() if p.node.target.buffer == filled]:
        h.attempt(f"simplify_conditions {name}")
