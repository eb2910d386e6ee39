"""What a search is: it proposes points and is told what they cost; everything else is done around it."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence

from perfdojo.tuning.space import Point, Space


class Search(ABC):
    """Proposes schedules.

    Args:
        space: the schedules of the problem.
        starts: points that have been tried before the search begins, with their costs; None: it failed.

    The same seed of the space and the same answers lead to the same proposals.
    """

    def __init__(self, space: Space, starts: Sequence[tuple[Point, float | None]]) -> None:
        self.space = space
        good = [
            (cost, n, p) for n, (p, cost) in enumerate(starts) if cost is not None and p.moves is not None
        ]
        self.known: list[tuple[float, Point]] = [
            (cost, p) for cost, _, p in sorted(good, key=lambda g: g[:2])
        ]
        """What was right, the cheapest first."""

    @property
    def rng(self) -> random.Random:
        """Where chance comes from."""
        return self.space.rng

    @property
    def best(self) -> Point:
        """The cheapest point; the kernel without moves where there is none."""
        return self.known[0][1] if self.known else self.space.start

    @abstractmethod
    def ask(self) -> Point:
        """Return the next point to try; one that was tried before costs nothing and is told at once."""

    def tell(self, point: Point, cost: float | None) -> None:
        """Be told what a point costs; None: it failed."""
        if cost is not None and all(point.text != p.text for _, p in self.known):
            place = next((n for n, (c, _) in enumerate(self.known) if cost < c), len(self.known))
            self.known.insert(place, (cost, point))
