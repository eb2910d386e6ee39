"""Guided, the default: what recipes make is refined, numbers first; then moves are added that mostly help."""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point, Space

FEW = 6
"""Points that are refined, the best most often."""
STUCK = 40
"""Proposals without a better point after which edits come in twos and threes."""


class Guided(Search):
    """Local edits of the best few points, larger ones where small ones do not help any more."""

    def __init__(self, space: Space, starts: Sequence[tuple[Point, float | None]]) -> None:
        super().__init__(space, starts)
        self._idle = 0

    def ask(self) -> Point:
        """Return the next point to try."""
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


SEARCH = Guided
