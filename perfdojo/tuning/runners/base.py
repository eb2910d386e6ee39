"""What measures points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from perfdojo.compiler.ir import Program
from perfdojo.toolchains.results import Measurement
from perfdojo.tuning.space import Point

ROUNDS = 5
"""In which the best ones are measured again, in turn."""
BUDGET_S, FINAL_S = 0.06, 0.25
"""For the samples of a candidate, and of one of the best in a round."""

T = TypeVar("T")


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


def ended(outcome: str, text: str, best: float | None) -> Tried:
    """Return what came of a point that failed; one that took longer than the best allows it to was cut."""
    return Tried(outcome, text, cut=outcome == "timeout" and best is not None)


def in_turn(
    built: Sequence[T], rounds: int, measure: Callable[[T], Measurement | None]
) -> list[tuple[float, ...]]:
    """Return medians of measurements in rounds, every second one backwards: what drifts meets all alike."""
    samples: list[list[float]] = [[] for _ in built]
    for n in range(rounds):
        for k in range(len(built)) if n % 2 == 0 else reversed(range(len(built))):
            m = measure(built[k])
            samples[k] += [m.median_s] if m is not None and m.outcome == "ok" else []
    return [tuple(s) for s in samples]
