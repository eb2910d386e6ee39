"""Greedy: the best point is edited; what is better takes its place."""

from __future__ import annotations

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point


class Greedy(Search):
    """One edit of the best point so far."""

    def ask(self) -> Point:
        """Return the next point to try."""
        return self.space.edited(self.best)


SEARCH = Greedy
