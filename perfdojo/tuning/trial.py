"""One measured schedule: what came of it, whatever that was."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from perfdojo.toolchains.statistics import median

OUTCOMES = (
    "ok",
    "compile-error",
    "crash",
    "timeout",
    "out-of-memory",
    "memory-overwrite",
    "wrong-result",
    "refused",
    "not-runnable",
)
"""`refused`: a limit of the target or of the language; a candidate that never became code."""


MOST_SEED = 2**63 - 1
"""What a file of records keeps."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A schedule that was tried on a problem.

    Attributes:
        schedule: its text; "" is the kernel as it is planned without one.
        outcome: one of OUTCOMES, or one that only a target knows (race, deadlock, ...).
        detail: one sentence where it is not ok.
        samples: costs of one call, in the problem's unit, in the order they were taken.
        cut: it was so much slower than the best that it was stopped: the samples are a lower bound.
        search: what proposed it.
        seed: of that search.
        at: seconds since the search began.
    """

    schedule: str
    outcome: str
    detail: str = ""
    samples: tuple[float, ...] = ()
    cut: bool = False
    search: str = ""
    seed: int = 0
    at: float = 0.0

    @property
    def cost(self) -> float | None:
        """The median of the samples; None where it has none."""
        return median(self.samples) if self.outcome == "ok" and self.samples else None

    def name_in(self, problem: str) -> str:
        """Return the name of the trial among those of all problems; `problem` is the key of its own."""
        return name_of(problem, self.schedule)


def name_of(problem: str, schedule: str) -> str:
    """Return the name of a schedule that was tried on a problem: the first digits of a hash of both."""
    return hashlib.sha256(f"{problem}\n{schedule}".encode()).hexdigest()[:12]
