"""Matmul: blocks for the caches, packed panels, a register tile, as BLIS has them."""

from __future__ import annotations

from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.recipes._contractions import (
    Columns,
    contraction,
    cut_columns,
    isolate,
    kept,
    parts,
    register_tile,
)
from perfdojo.compiler.recipes._steps import (
    Blocks,
    cut,
    drop_single,
    even,
    extent,
    order,
    threads,
    vectorize_rest,
)
from perfdojo.compiler.recipes.pack import pack
from perfdojo.compiler.schedule import History

KC, MC = 512, 96
"""Steps for which a panel of b, 32 KiB with 16 floats in each, passes through the first-level cache; rows for
which the panels of a stay in the second-level cache, 192 KiB. Blocks as in BLIS: Van Zee & van de Geijn 2015,
sec. 4. Measured on Zen 3 at 541 x 541 x 541: two blocks of 256 steps and a rest took 1.3 times as long."""


def matmul(h: History, *, statement: str = "", mr: int = 0, nr: int = 0, kc: int = KC, mc: int = MC) -> None:
    """Compute a contraction in blocks of kc steps and mc rows from packed panels, mr x nr elements at once.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        M N c[{0},{1}] = 0
        k_o:K/kc  b_t[n_o,k_i,n_i] = b                                  all panels of kc x nr
        | m_o_o:M/mc  a_t[m_o_i,k_i,m_i] = a                            panels of mr x kc
        | | n_o:N/nr m_o_i:mc/mr k_i:kc m_i:mr@unroll n_i:nr@vector c[..] += a_t[..] * b_t[..]

    Where K is less than 2 kc it is one block, and the tile starts at 0 in registers. What is left of sizes
    gets nests of its own, which use the same panels of b.

    Args:
        statement: the contraction; "": the first one.
        mr, nr: rows and columns of the register tile; 0: what fits the registers and leaves little over.
        kc, mc: steps and rows of a block; 0: all. Rows are whole register tiles.
    Raises:
        PerfDojoError: there is no contraction.
    """
    contract(h, statement, mr, nr, kc, mc)
    vectorize_rest(h)
    drop_single(h)
    threads(h)


def contract(h: History, statement: str, mr: int, nr: int, kc: int, mc: int) -> None:
    """Do what `matmul` does to one contraction, and leave all others as they are."""
    c = contraction(h, statement)
    steps = c.extent(c.inner[0])
    kc = kc if 0 < 2 * kc <= steps and len(c.inner) == 1 else steps
    c = isolate(h, c.statement.name, start=kc == steps)
    tiles = parts(h, c, mr, nr, kc == steps)
    for part in cut_columns(h, c.columns, tiles, c.rows, c.inner[0]):
        for rows, columns in _steps(h, part, kc):
            _rows(h, c, rows, columns, part.rows, mc)


def _steps(h: History, part: Columns, kc: int) -> list[tuple[str, Blocks]]:
    """Bring blocks of steps to the outside; return rows and columns of each nest."""
    (outer, inner, _), _, (rows, k) = part
    if extent(h, k) <= kc:
        order(h, (rows, outer, inner))
        return [(rows, Blocks(outer, inner))]
    order(h, (k, rows, outer, inner))
    found = []
    for block, (m, out, into) in cut(h, k, kc, rows, outer, inner):
        blocked = [block.outer] if block.outer != block.inner else []
        order(h, (*blocked, m, out, into, block.inner))
        found.append((m, Blocks(out, into)))
    return found


def _rows(h: History, c: Contraction, rows: str, columns: Blocks, mr: int, mc: int) -> None:
    """Pack the panels of b; tile the rows; pack the panels of a for each block of them."""
    outer, inner = columns.outer, columns.inner
    if extent(h, rows) > mr:
        for buffer in dict.fromkeys(load.buffer for load in c.streamed):
            pack(h, buffer=buffer, at=rows, fastest=inner)
    mc = mc if 0 < mc < extent(h, rows) else extent(h, rows)
    for tile, (out, into) in cut(h, rows, mr, outer, inner):
        if tile.outer == tile.inner:
            order(h, (out, tile.inner, into))
            register_tile(h, tile.inner, into)
            continue
        size = even(extent(h, tile.outer), max(1, mc // mr))
        for block, (out_, row, into_) in cut(h, tile.outer, size, out, tile.inner, into):
            blocked = [block.outer] if block.outer != block.inner else []
            order(h, (*blocked, out_, block.inner, row, into_))
            if out_ != into_:
                for buffer in kept(c):
                    pack(h, buffer=buffer, at=out_, fastest=row)
            register_tile(h, row, into_)
