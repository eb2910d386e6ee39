"""What measures points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perfdojo.compiler.ir import Program
from perfdojo.tuning.space import Point

ROUNDS = 5
"""In which the best ones are measured again, in turn."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a point: outcome and detail as in `Trial`; `cut`: stopped, as it was far behind."""

    outcome: str
    detail: str = ""
    samples: tuple[float, ...] = ()
    cut: bool = False


class Runner(Protocol):
    """Builds, checks and measures points of one problem."""

    @property
    def workers(self) -> int:
        """How many points it is given at a time."""

    def measure(self, points: Sequence[Point], best: float | None) -> list[Tried]:
        """Return what came of each point; `best` is the least cost so far."""

    def least(self, program: Program) -> float:
        """Return a cost that a program cannot go below; 0 where nothing is known of it."""

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return a sample a round of points that were right, taken in turn; one where costs are exact."""
