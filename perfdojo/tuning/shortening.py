"""A schedule without the moves that change nothing of its code: searches leave such moves behind."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.emitting import emit_point, made_or_refused
from perfdojo.tuning.space import Point, Space


def shortened(space: Space, point: Point) -> Point:
    """Return a point with the same code and no move that could be left out of it.

        reorder m n        tile_scope n 8
        tile_scope n 8  ->
        reorder n_i m

    Moves are left out one at a time, from the last one on, and with it those that are not legal without it.
    """
    if not point.moves:
        return point
    code = _code(space.problem, point)
    n = len(point.moves)
    while n:
        n -= 1
        moves = point.moves or ()
        without = space.made((*moves[:n], *moves[n + 1 :]))
        if _code(space.problem, without) == code:
            point = without
            n = min(n, len(point.moves or ()))
    return point


def _code(problem: Problem, point: Point) -> object:
    """Return the source of a point, but for the comment that has its schedule."""
    made = made_or_refused(lambda p: emit_point(problem, p), replace(point, text=""))
    return getattr(made, "files", made)
