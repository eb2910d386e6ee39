"""Random: moves at random behind one of the points that it began with, or behind none."""

from __future__ import annotations

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point

MOST = 8
"""Moves of one walk."""


class RandomWalks(Search):
    """Each proposal is a walk of its own."""

    def ask(self) -> Point:
        """Return the next point to try."""
        start = self.space.start
        if self.known and self.rng.random() < 0.5:
            start = self.rng.choice(self.known)[1]
        return self.space.longer(start, self.rng.randint(1, MOST))


SEARCH = RandomWalks
