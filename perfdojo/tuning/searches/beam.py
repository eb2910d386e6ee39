"""Beam: the few best points are made longer in turn, each several times, and the best of all go on."""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point, Space

WIDTH = 4
EACH = 8
"""Points that each one of the beam is tried to be made into before the next round."""


class Beam(Search):
    """Rounds of WIDTH x EACH proposals."""

    def __init__(self, space: Space, starts: Sequence[tuple[Point, float | None]]) -> None:
        super().__init__(space, starts)
        self._round: list[Point] = []

    def ask(self) -> Point:
        """Return the next point to try."""
        if not self._round:
            beam = [p for _, p in self.known[:WIDTH]] or [self.space.start]
            self._round = [p for p in beam for _ in range(EACH)]
        return self.space.longer(self._round.pop(), self.rng.choice((1, 1, 2)))


SEARCH = Beam
