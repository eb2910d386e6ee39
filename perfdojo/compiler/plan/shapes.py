"""Which register tile: rows x vectors that fit the registers and leave little over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

MAX_ROWS, MAX_VECTORS = 14, 6
WINDOW_VECTORS, WINDOW_TILE = 2, 16
"""Vectors of a tile whose columns slide over a window, more only where the tile would have fewer registers:
their loads begin at any element, cross lines, and gcc may load anew for each use. Measured on Zen 5, 3 x 3
windows, 16 rows and 224 columns: tiles of 2 x 8 take half the time of 6 x 4."""

LATENCY = 8
"""Independent accumulators that keep two fused multiply-add pipes of latency 4 busy."""


PART_COST = 0.01
"""Part of the whole that one more part has to save: it is one more nest to read, and to start."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the columns: `count` blocks of `size` iterations and the rows of their tile.

    Attributes:
        again: columns that the part before has computed and this one repeats, to be a whole vector.
    """

    count: int
    size: int
    rows: int
    again: int = 0


@cache
def partition(
    rows: int,
    columns: int,
    lanes: int,
    registers: int,
    masked: bool,
    repeat: bool,
    more: int = 0,
    window: bool = False,
    most_rows: int = 0,
    most_vectors: int = 0,
) -> tuple[Part, ...]:
    """Return the blocks that cover `columns`, widest first, cheapest in the model of `step`.

    Args:
        rows, columns: extents of the two scopes.
        lanes: elements of a vector.
        registers: vector registers; a tile takes rows * vectors + vectors + 1 and leaves one to the compiler,
            which loads the columns again for each row when there is none.
        masked: a part of a vector costs as much as a whole one; else its elements go one by one.
        repeat: columns may be computed twice.
        more: rows that a tile has beside its own, with a constant instead of what is broadcast.
        window: the columns slide over a window.
        most_rows, most_vectors: of a tile; 0: as they are measured to be good.
    """
    options = []
    most = max(WINDOW_VECTORS, min(MAX_VECTORS, -(-WINDOW_TILE // rows))) if window else MAX_VECTORS
    most = most_vectors or most
    for vectors in range(1, most + 1):
        whole = vectors * lanes
        if vectors > 1 and whole >= columns + (lanes if masked else 1):
            break
        options.append(
            _cover(rows, columns, min(whole, columns), lanes, registers, masked, repeat, more, most_rows)
        )
    return min((o for o in options if o is not None), key=lambda o: o[0])[1]


_Cover = tuple[float, tuple[Part, ...]]


def _cover(
    rows: int,
    columns: int,
    size: int,
    lanes: int,
    registers: int,
    masked: bool,
    repeat: bool,
    more: int,
    most_rows: int,
) -> _Cover | None:
    """Blocks of `size`, then what is left over: in one masked part, or whole vectors and a rest."""
    count, left = divmod(columns, size)
    parts = [(count, size, 0)]
    rest = 0 if masked else left % lanes
    rounded = left + lanes - rest
    if rest and repeat and columns >= rounded:
        parts.append((1, rounded, rounded - left))
    else:
        parts += [(1, n, 0) for n in (left - rest, rest) if n]
    cost, out = 0.0, []
    for number, width, again in parts:
        vectors = -(-width // lanes) if masked or width >= lanes else width
        tiles = [
            (number * _column_cost(rows, r, vectors, more), r)
            for r in range(1, min(rows, most_rows or MAX_ROWS) + 1)
            if (r + more) * vectors + vectors + 1 + more < registers or (width < lanes and r == 1)
        ]
        if not tiles:
            return None
        best, chosen = min(tiles)
        cost += best
        out.append(Part(number, width, chosen, again))
    return cost * (1 + PART_COST * (len(out) - 1)), tuple(out)


def _column_cost(rows: int, tile: int, vectors: int, more: int) -> float:
    """Cycles to go over all rows once, for one step of the reduction."""
    whole, left = divmod(rows, tile)
    return whole * step(tile + more, vectors) + (step(left + more, vectors) if left else 0.0)


def step(rows: int, vectors: int) -> float:
    """Cycles of one step of the reduction in a tile: two multiply-adds and two loads a cycle, or latency.

    The last terms keep tiles of equal cost apart: fewer loads and fewer tiles are better.
    """
    products, loads = rows * vectors, rows + vectors
    return max(products / 2, loads / 2, LATENCY / 2) + 0.02 * loads + 0.25
