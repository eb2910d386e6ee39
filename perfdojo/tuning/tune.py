"""The search: candidates that are always there, proposals until time is up, then the best ones once more."""

from __future__ import annotations

import gc
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.schedule import Schedule, parse_schedule
from perfdojo.compiler.text.render import render
from perfdojo.tuning.ending import BEST, BETTER, end
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.pruning import Pruner
from perfdojo.tuning.records import Records
from perfdojo.tuning.runners.base import Runner, Tried
from perfdojo.tuning.searches import get_search
from perfdojo.tuning.searches.base import Search
from perfdojo.tuning.shortening import shortened
from perfdojo.tuning.space import MOST_MOVES, Point, Space
from perfdojo.tuning.trial import Trial

RELATIVES = 3
"""Other sizes, or machines, whose best schedules are tried first."""
IDLE = 2000
"""Proposals in a row that were tried before, after which the search ends: nothing new is left nearby."""
COLLECTED = 200_000
"""New objects between two searches for cycles; four plans of attention for Snitch take 3.0 s of a processor
with Python's 700, 2.6 s with these."""
ENDLESS = 10**9
"""Trials: more than any search makes."""


@dataclass
class Progress:
    """What a search has come to.

    Attributes:
        known: of the trials, those that were recorded before.
        repeated: proposals whose code was known.
        removed: proposals that were not worth measuring, by reason.
        seconds: since it began, of the last trial.
        best: least cost so far, in the problem's unit.
    """

    trials: list[Trial] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    known: int = 0
    repeated: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    best: float | None = None


@dataclass(frozen=True)
class Result:
    """What is left of it.

    Attributes:
        progress: all trials.
        finals: the best points and those to beat, with samples that were taken in turn, the cheapest first.
        winner: of these.
        baselines: costs of the code without a schedule and of the shipped schedule, by name.
    """

    progress: Progress
    finals: tuple[tuple[Point, tuple[float, ...]], ...]
    winner: Point
    baselines: dict[str, float]


@dataclass
class Tuner:
    """One search.

    Args:
        shipped: the schedule that comes with the kernel, if there is one.
        records: where trials are kept and found; None: nowhere.
        tell: is called behind each trial.
        patience: trials in a row that bring nothing, after which it ends.
        most_moves: of a schedule.
    """

    problem: Problem
    runner: Runner
    search: str = "guided"
    seed: int = 0
    shipped: Schedule | None = None
    records: Records | None = None
    tell: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    patience: int = ENDLESS
    most_moves: int = MOST_MOVES

    @property
    def space(self) -> Space:
        """The schedules of the problem, once the search has begun."""
        return self._space

    def run(self, seconds: float, trials: int = ENDLESS) -> Result:
        """Search for so long, or for so many trials, and return what came of it."""
        with _rare_collections():
            return self._run(seconds, trials)

    def _run(self, seconds: float, trials: int) -> Result:
        search_class = get_search(self.search)
        self._start = self.clock()
        self._space = Space(self.problem, random.Random(self.seed), self.most_moves)
        self._progress = Progress()
        self._pruner = Pruner(self.problem, self.runner)
        kept = self.records.trials(self.problem) if self.records else []
        self._kept = {t.schedule: t for t in kept}
        self._seen: dict[str, float | None] = {}
        self._points: dict[str, Point] = {}
        self._texts: dict[str, str] = {}
        search = search_class(self._space, self._started(seconds))
        self._idle = vain = 0
        while self._time() < seconds and len(self._progress.trials) < trials and self._idle < IDLE:
            if vain >= self.patience:
                break
            before = self._progress.best
            asked = self._asked(search, seconds)
            for point, cost in zip(asked, self._try(asked, self.search), strict=True):
                search.tell(point, cost)
            gained = self._progress.best is not None and (
                before is None or self._progress.best < BETTER * before
            )
            vain = 0 if gained else vain + len(asked)
        return self._finished()

    def _started(self, seconds: float) -> list[tuple[Point, float | None]]:
        """Measure what is always there, and as much as there is time for of what else is tried first."""
        always, more = self._starts()
        tried: list[tuple[Point, float | None]] = []
        for group, limit in ((always, float("inf")), (more, seconds)):
            for k in range(0, len(group), self.runner.workers):
                if self._time() < limit:
                    batch = group[k : k + self.runner.workers]
                    tried += zip(batch, self._try(batch, "start"), strict=True)
        return tried

    def _asked(self, search: Search, seconds: float) -> list[Point]:
        """Return proposals that are new and worth measuring, as many as the runner takes at a time."""
        asked: list[Point] = []
        while len(asked) < self.runner.workers and self._idle < IDLE and self._time() < seconds:
            point = search.ask()
            code = _code(point)
            self._idle += 1
            if code in self._seen:
                search.tell(point, self._seen[code])
                self._progress.repeated += 1
            elif reason := self._pruner.why_not(point, self._progress.best):
                self._progress.removed[reason] += 1
                self._seen[code] = None
                search.tell(point, None)
            elif all(code != _code(p) for p in asked):
                self._idle = 0
                asked.append(point)
        return asked

    def _time(self) -> float:
        return self.clock() - self._start

    def _starts(self) -> tuple[list[Point], list[Point]]:
        """Return what is tried in any case, no schedule and the shipped one, and what else is tried first."""
        space = self._space
        always = [space.planned, space.as_planned, space.start]
        always += [space.of_schedule(self.shipped)] if self.shipped else []
        found: list[Point] = []
        earlier = sorted((t for t in self._kept.values() if t.cost is not None), key=lambda t: t.cost or 0.0)
        relatives = self.records.relatives(self.problem, RELATIVES) if self.records else []
        for t in (*earlier[:BEST], *relatives):
            if t.schedule:
                with suppress(PerfDojoError):  # another version made it, which knew other moves
                    found.append(space.of_schedule(parse_schedule(t.schedule, "record")))
        more = {p.text: p for p in (*found, *space.recipes())}
        for p in always:
            more.pop(p.text, None)
        return always, list(more.values())

    def _try(self, points: Sequence[Point], search: str) -> list[float | None]:
        """Return what points cost, measured or known; None where they failed."""
        codes = {p.text: _code(p) for p in points}
        first = {code: text for text, code in reversed(codes.items())}
        new = [p for p in points if p.text not in self._kept and first[codes[p.text]] == p.text]
        new = [p for p in new if codes[p.text] not in self._seen]
        measured = self.runner.measure(new, self._progress.best) if new else []
        done = dict(zip([p.text for p in new], measured, strict=True))
        costs = []
        for p in points:
            if (code := codes[p.text]) in self._seen:
                costs.append(self._seen[code])  # the same code by other moves
                continue
            self._progress.known += p.text in self._kept
            trial = self._kept.get(p.text) or self._trial(p, done[p.text], search)
            self._points[p.text] = p
            self._texts[code] = p.text
            self._progress.trials.append(trial)
            self._progress.outcomes[trial.outcome] += 1
            self._seen[code] = trial.cost
            if trial.cost is not None:
                self._pruner.learn(p, trial.cost)
                self._progress.best = min(trial.cost, self._progress.best or trial.cost)
            self._progress.seconds = self._time()
            self.tell(self._progress)
            costs.append(trial.cost)
        return costs

    def _trial(self, point: Point, tried: Tried, search: str) -> Trial:
        trial = Trial(
            point.text, tried.outcome, tried.detail, tried.samples, tried.cut, search, self.seed, self._time()
        )
        if self.records is not None:
            self.records.add(self.problem, trial)
        return trial

    def _finished(self) -> Result:
        """Measure the best ones and those to beat again, in turn."""
        found = [t for t in self._progress.trials if t.cost is not None and not t.cut]
        right = [self._points[t.schedule] for t in sorted(found, key=lambda t: t.cost or 0.0)]
        to_beat = {"planned": self._space.planned}
        if self.shipped:  # which may be the same code
            to_beat["shipped"] = self._points[self._texts[_code(self._space.of_schedule(self.shipped))]]
        ended = end(self.problem, self.runner, right, to_beat)
        winner = ended.winner
        if all(winner is not p for p in to_beat.values()):  # what ships stays as it was written
            winner = shortened(self._space, winner)
        finals = tuple((winner if p is ended.winner else p, s) for p, s in ended.finals)
        if self.records is not None and finals:
            samples = sorted(((p.text, s) for p, s in finals), key=lambda e: e[0] != winner.text)
            if winner is not ended.winner and winner.text not in self._kept:
                shorter = Trial(winner.text, "ok", "", samples[0][1], search=self.search, seed=self.seed)
                self.records.add(self.problem, replace(shorter, at=self._time()))
            self.records.settle(self.problem, samples)
        return Result(self._progress, finals, winner, ended.baselines)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for cycles less often: programs have none, and a search keeps thousands of them."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], COLLECTED), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _code(point: Point) -> str:
    """Return what decides on the code of a point: the program that is lowered."""
    return render(point.program)
