"""Simulated annealing: edits anywhere in the schedule; worse ones are kept by chance, ever less often.

Source: Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220 (1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.space import Point, Space

HOT, COLD = 0.3, 0.01
"""Temperatures, of the logarithm of the cost: at first 30 % more is kept as often as not, nearly."""
STEPS = 300
"""Until it is cold; then it begins again at the best point, half as hot."""


class Annealing(Search):
    """A walk of edits."""

    def __init__(self, space: Space, starts: Sequence[tuple[Point, float | None]]) -> None:
        super().__init__(space, starts)
        self._now = self.best
        self._cost = self.known[0][0] if self.known else float("inf")
        self._step, self._hot = 0, HOT

    def ask(self) -> Point:
        """Return the next point to try."""
        return self.space.edited(self._now)

    def tell(self, point: Point, cost: float | None) -> None:
        """Be told what a point costs."""
        super().tell(point, cost)
        self._step += 1
        if self._step % STEPS == 0:
            self._hot /= 2
            self._now, self._cost = self.best, self.known[0][0] if self.known else float("inf")
            return
        if cost is None:
            return
        part = self._step % STEPS / STEPS
        heat = max(COLD, self._hot * (COLD / self._hot) ** part)
        worse = log(cost / self._cost) if self._cost < float("inf") else 0.0
        if worse <= 0 or self.rng.random() < exp(-worse / heat):
            self._now, self._cost = point, cost


SEARCH = Annealing
