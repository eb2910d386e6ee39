"""Runs candidates on this machine: built by gcc side by side, checked, then timed one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from perfdojo.backends import emit
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Scheduled
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, build, measure, run
from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.results import Failure, Measurement, RunResult
from perfdojo.toolchains.roofline import Roofline, find_roofline
from perfdojo.tuning.bounds import host_bound
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.allowance import COMPILE_LIMITS, SPECIAL, allowance, is_behind
from perfdojo.tuning.runners.base import ROUNDS, Tried
from perfdojo.tuning.runners.checking import Expected, expected
from perfdojo.tuning.space import Point

BUDGET_S = 0.06
"""For the samples of one candidate; the best ones are measured again."""
FINAL_S = 0.25
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
        """Return a point as source.

        Raises:
            PerfDojoError: it cannot be emitted.
        """
        made = None if point.moves is None else Scheduled(point.program, point.text)
        p = self.problem
        return emit(p.bound, p.target, fp=p.setting.fp, threads=p.threads, scheduled=made)

    def _built(self, point: Point) -> Built | Tried:
        """Return a point as code, or why it is none."""
        try:
            source = self.source(point)
        except PerfDojoError as error:
            return Tried("refused", str(error.message))
        except (RecursionError, AssertionError, KeyError, ValueError) as error:
            return Tried("refused", f"lowering failed, a bug of perfdojo: {error!r}")
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
                return _failed(ran, best)
            if wrong := e.wrong(ran.outputs):
                return Tried("wrong-result", wrong)
            if e is self._expected[0] and is_behind(ran.seconds, best, SHORT_S):
                return Tried("ok", "", (ran.seconds,), cut=True)
        return built

    def _timed(self, built: Built, best: float | None) -> Tried:
        may, threads = allowance(self.problem, best), self.problem.threads
        m = measure(
            built, self._expected[0].inputs, BUDGET_S, threads, "hot", may.run_s, may.call_s, may.memory_bytes
        )
        return Tried("ok", "", m.samples_s) if m.outcome == "ok" else _failed(m, best)

    def least(self, program: Program) -> float:
        """Return seconds that a program cannot go below, by what this machine was measured to do."""
        if self._roofline is None:
            return 0.0
        target, threads = self.problem.setting.target, self.problem.threads
        return host_bound(program, target, self._roofline, self.host.cpu, threads)

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return samples of points that were right: medians of processes that run in turn."""
        built = [b for b in map(self._built, points) if isinstance(b, Built)]
        assert len(built) == len(points), "they were built before"
        samples: list[list[float]] = [[] for _ in points]
        may, threads = allowance(self.problem, None), self.problem.threads
        for n in range(rounds):
            order = range(len(points)) if n % 2 == 0 else range(len(points) - 1, -1, -1)
            for k in order:
                m = measure(
                    built[k], self._expected[0].inputs, FINAL_S, threads, "hot",
                    may.run_s, may.call_s, may.memory_bytes,
                )  # fmt: skip
                samples[k] += [m.median_s] if m.outcome == "ok" else []
        return [tuple(s) for s in samples]


def _failed(ran: RunResult | Measurement, best: float | None) -> Tried:
    """What did not end in the time that the best one allows was cut, whatever it would have come to."""
    return Tried(ran.outcome, ran.text, cut=ran.outcome == "timeout" and best is not None)
