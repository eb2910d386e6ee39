"""Tile and vectorize: a contraction computes a tile of its result in registers."""

from __future__ import annotations

from perfdojo.compiler.recipes._contractions import contraction, cut_columns, isolate, parts, register_tile
from perfdojo.compiler.recipes._steps import cut, drop_single, order, threads
from perfdojo.compiler.schedule import History


def tile_and_vectorize(h: History, *, statement: str = "", mr: int = 0, nr: int = 0) -> None:
    """Compute mr x nr elements of a contraction at once: rows written out, columns in lanes, sums outside.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        m_o:M/mr n_o:N/nr m_i:mr@unroll n_i:nr@vector c[..] = 0
        | | k:K m_i_2:mr@unroll n_i_2:nr@vector c[..] += a[..] * b[..]

    What is left of rows and columns gets tiles of its own.

    Args:
        statement: the contraction; "": the first one.
        mr, nr: rows and columns of the tile; 0: what fits the registers of the target and leaves little over.
    Raises:
        PerfDojoError: there is no contraction.
    """
    c = isolate(h, contraction(h, statement).statement.name, start=True)
    tiles = parts(h, c, mr, nr, True)
    for (outer, inner, _), height, (rows,) in cut_columns(h, c.columns, tiles, c.rows):
        order(h, (rows, outer, inner))
        for block, (out, into) in cut(h, rows, height, outer, inner):
            order(h, (block.outer, out, block.inner, into))
            register_tile(h, block.inner, into)
    drop_single(h)
    threads(h)
