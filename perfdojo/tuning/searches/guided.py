"""Guided, the default: the planner's numbers, single moves before it, then edits of the best few points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from perfdojo.compiler.plan.knobs import known_knobs
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.plan import Plan
from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point, Space

FEW = 6
"""Points that are refined, the best most often."""
STUCK = 40
"""Proposals without a better point after which edits come in twos and threes."""
TILES = ((6, 1), (8, 1), (12, 1), (4, 2), (6, 2), (8, 2), (3, 3), (4, 3), (6, 3), (2, 4), (4, 4), (6, 4))
"""Rows and vectors of register tiles that are tried."""
COUNTS = (1, 2, 3, 4, 6, 8)
"""Vectors or rows of one pass that are tried, and results side by side."""
BEHIND = ("prefetch", "nontemporal", "unroll", "split_reduction", "swap_siblings", "hoist", "tile_scope")
"""Moves that are tried behind the planner."""
STRUCTURE = ("join_scopes", "fission_scope", "inline", "reorder", "hoist", "reuse_dims", "tile_scope")
EACH = 6
"""Moves of a kind that are tried, before the planner or behind it."""


class Guided(Search):
    """Systematic proposals; then local edits, larger ones where small ones do not help any more."""

    def __init__(self, space: Space, starts: Sequence[tuple[Point, float | None]]) -> None:
        super().__init__(space, starts)
        self._idle = 0
        self._first: Iterator[Point] = iter(())
        if space.as_planned.moves:
            self._first = self._systematic(space.as_planned.moves[-1])

    def _systematic(self, plan: Transform) -> Iterator[Point]:
        """Yield points around the code as it is planned."""
        assert isinstance(plan, Plan)
        for numbered in _numbered(plan, known_knobs(self.space.problem.setting.target)):
            yield self.space.made((numbered,))
        for _, point in self.known[:]:
            if point.moves and not any(isinstance(m, Plan) for m in point.moves):
                yield self.space.made((*point.moves, plan))
        for kind in STRUCTURE:
            for move in self.space.some(self.space.start, kind, EACH):
                yield self.space.made((move, plan))
        for kind in BEHIND:
            for move in self.space.some(self.space.as_planned, kind, EACH):
                yield self.space.made((plan, move))

    def ask(self) -> Point:
        """Return the next point to try."""
        first = next(self._first, None)
        if first is not None:
            return first
        alive = self.known[:FEW]
        if not alive:
            return self.space.longer(self.space.start, 2)
        at = min(self.rng.randrange(len(alive)), self.rng.randrange(len(alive)))
        point = alive[at][1]
        edits = 1 if self._idle < STUCK else self.rng.choice((1, 2, 2, 3))
        for _ in range(edits):
            point = self.space.edited(point)
        return point

    def tell(self, point: Point, cost: float | None) -> None:
        """Be told what a point costs."""
        best = self.known[0][0] if self.known else float("inf")
        super().tell(point, cost)
        self._idle = 0 if cost is not None and cost < best else self._idle + 1


def _numbered(plan: Plan, known: tuple[str, ...]) -> Iterator[Plan]:
    """Yield the planner with numbers that are tried, of those that it has."""
    if "passes" in known:
        yield from (replace(plan, passes=n) for n in COUNTS)
    if "vectors" in known:
        yield from (replace(plan, rows=rows, vectors=vectors) for rows, vectors in TILES)
    elif "rows" in known:
        yield from (replace(plan, rows=n) for n in COUNTS)
    if "sums" in known:
        yield from (replace(plan, sums=n) for n in COUNTS)


SEARCH = Guided
