"""Evolution: schedules are crossed and edited; the fittest of a population go on."""

from __future__ import annotations

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point

POPULATION = 24
TOURNAMENT = 3
CROSSED = 0.4
"""Part of the children that have two parents."""


class Evolution(Search):
    """Parents are the best of a few drawn from the population."""

    def ask(self) -> Point:
        """Return the next point to try."""
        child = self._parent()
        if self.rng.random() < CROSSED:
            child = self.space.crossed(child, self._parent())
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            child = self.space.edited(child)
        return child

    def _parent(self) -> Point:
        alive = self.known[:POPULATION]
        if not alive:
            return self.space.start
        drawn = min(self.rng.randrange(len(alive)) for _ in range(TOURNAMENT))
        return alive[drawn][1]


SEARCH = Evolution
