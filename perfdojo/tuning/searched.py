"""A search that is over: what pictures and reports of it are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.toolchains.statistics import median
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.trial import Trial
from perfdojo.tuning.tune import Result


@dataclass(frozen=True)
class Searched:
    """A search and what came of it.

    Attributes:
        search, seed: how schedules were proposed.
        start: the program before any move.
        shipped: the program that the schedule makes that comes with the kernel; None without one.
        steps: of the winner: `move`, and `without`, the cost where it is taken out, if that is known.
        emitted: the winner's code; None where it cannot be emitted.
        command: of the compiler, for that code.
        diagnosis: sentences on the moves there were.
    """

    problem: Problem
    result: Result
    search: str
    seed: int
    start: Program
    shipped: Program | None = None
    steps: Sequence[Mapping[str, Any]] = ()
    emitted: EmittedSource | None = None
    command: str = ""
    diagnosis: Sequence[str] = ()


@dataclass(frozen=True)
class Curve:
    """The trials of a search as points; trials are numbered from 1.

    Attributes:
        costs: number and cost of those that were right.
        cut: of those that were stopped, as they were far behind: lower bounds.
        best: number and least cost so far, where that fell, and at the last trial.
        failures: numbers of the others by outcome, the most frequent one first.
        lines: costs of what there was, by name.
    """

    count: int
    costs: tuple[tuple[int, float], ...]
    cut: tuple[tuple[int, float], ...]
    best: tuple[tuple[int, float], ...]
    failures: Mapping[str, tuple[int, ...]]
    lines: Mapping[str, float]
    unit: str

    @property
    def is_wide(self) -> bool:
        """Whether costs differ so much that only logarithms show them all."""
        shown = [c for _, c in (*self.costs, *self.cut)] + list(self.lines.values())
        return bool(shown) and min(shown) > 0 and max(shown) > 8 * min(shown)


def curve(trials: Sequence[Trial], lines: Mapping[str, float], unit: str) -> Curve:
    """Return trials as points, with the costs of what there was."""
    found: dict[bool, list[tuple[int, float]]] = {False: [], True: []}
    best: list[tuple[int, float]] = []
    failures: dict[str, list[int]] = {}
    least = float("inf")
    for n, t in enumerate(trials, 1):
        if t.cost is None:
            failures.setdefault(t.outcome, []).append(n)
            continue
        found[t.cut].append((n, t.cost))
        if not t.cut and t.cost < least:
            best.append((n, least := t.cost))
    if best and best[-1][0] < len(trials):
        best.append((len(trials), least))
    kinds = {k: tuple(v) for k, v in sorted(failures.items(), key=lambda f: -len(f[1]))}
    return Curve(len(trials), tuple(found[False]), tuple(found[True]), tuple(best), kinds, dict(lines), unit)


def verdict(result: Result) -> tuple[str, bool]:
    """Return in one sentence what a search came to, and whether anything computed what it should."""
    least = min(result.baselines.values(), default=None)
    if least is None or not result.finals:
        return "nothing computed what it should", False
    best, samples = result.finals[0]
    if result.winner.moves is not None and result.winner is best and median(samples) < least:
        return f"{least / median(samples):.2f} times as fast as what there was", True
    what = "the code as it is planned" if result.winner.moves is None else "the shipped schedule"
    return f"{what}: nothing was faster beyond noise", True
