"""Runs candidates on this machine: built by gcc side by side, checked, then timed one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, build, measure, run
from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.results import Failure, Measurement
from perfdojo.toolchains.roofline import Roofline, find_roofline
from perfdojo.tuning.limits import host_limit
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.allowance import COMPILE_LIMITS, SPECIAL, allowance, is_behind
from perfdojo.tuning.runners.base import BUDGET_S, FINAL_S, ROUNDS, Tried, ended, in_turn
from perfdojo.tuning.runners.checking import Expected, expected
from perfdojo.tuning.runners.emitting import emit_point, made_or_refused
from perfdojo.tuning.space import Point

SHORT_S = 1e-3
"""A first call that takes no longer may be slow by chance: caches are empty, threads begin."""


@dataclass
class HostRunner:
    """Measures seconds of one call."""

    problem: Problem
    host: Host
    seed: int = 0
    tolerance: float | None = None
    compile_limits: Limits = COMPILE_LIMITS

    def __post_init__(self) -> None:
        self._expected: tuple[Expected, ...] = expected(self.problem, self.seed, tolerance=self.tolerance)
        found = find_roofline(self.host)
        self._roofline = found if isinstance(found, Roofline) else None

    @property
    def workers(self) -> int:
        """One compiler for each processor."""
        return max(1, self.host.cpu.cores)

    def measure(self, points: Sequence[Point], best: float | None) -> list[Tried]:
        """Return what came of each point."""
        with ThreadPoolExecutor(self.workers) as pool:
            prepared = list(pool.map(lambda p: self._prepared(p, best), points))
        return [p if isinstance(p, Tried) else self._timed(p, best) for p in prepared]

    def source(self, point: Point) -> EmittedSource:
        """Return a point as source; PerfDojoError when it cannot be emitted."""
        return emit_point(self.problem, point)

    def _built(self, point: Point) -> Built | Tried:
        """Return a point as code, or why it is none."""
        source = made_or_refused(self.source, point)
        if isinstance(source, Tried):
            return source
        built = build(source, self.host, True, self.compile_limits)
        if isinstance(built, Failure):
            return Tried(built.outcome, built.text)
        return built if built.timed else Tried("not-runnable", built.reason)

    def _prepared(self, point: Point, best: float | None) -> Built | Tried:
        """Return a point that computes what is right.

        Where the first inputs show that it is far behind, it is asked no further: it cannot win.
        """
        built = self._built(point)
        if isinstance(built, Tried):
            return built
        may = allowance(self.problem, best)
        for e in self._expected:
            ran = run(built, e.inputs, self.problem.threads, may.run_s, may.call_s, may.memory_bytes)
            may = allowance(self.problem, best, SPECIAL)
            if ran.outcome != "ok":
                return ended(ran.outcome, ran.text, best)
            if wrong := e.wrong(ran.outputs):
                return Tried("wrong-result", wrong)
            if e is self._expected[0] and is_behind(ran.seconds, best, SHORT_S):
                return Tried("ok", "", (ran.seconds,), cut=True)
        return built

    def _timed(self, built: Built, best: float | None) -> Tried:
        m = self._measured(built, BUDGET_S, best)
        return Tried("ok", "", m.samples_s) if m.outcome == "ok" else ended(m.outcome, m.text, best)

    def _measured(self, built: Built, budget_s: float, best: float | None) -> Measurement:
        may, inputs = allowance(self.problem, best), self._expected[0].inputs
        threads = self.problem.threads
        return measure(built, inputs, budget_s, threads, "hot", may.run_s, may.call_s, may.memory_bytes)

    def least(self, program: Program) -> float:
        """Return seconds that a program cannot go below, by what this machine was measured to do."""
        if self._roofline is None:
            return 0.0
        target, threads = self.problem.setting.target, self.problem.threads
        return host_limit(program, target, self._roofline, self.host.cpu, threads)

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return samples of points that were right: medians of processes that run in turn."""
        built = [b for b in map(self._built, points) if isinstance(b, Built)]
        assert len(built) == len(points), "they were built before"
        return in_turn(built, rounds, lambda b: self._measured(b, FINAL_S, None))
