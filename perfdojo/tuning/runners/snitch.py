"""Runs candidates on the simulated Snitch cluster: cycles, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.toolchains.cpu import read_cpu
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import Built, build, builtin, run
from perfdojo.tuning.limits import snitch_limit
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.allowance import CUT, SPECIAL, USUAL, is_behind
from perfdojo.tuning.runners.base import ROUNDS, Tried, ended
from perfdojo.tuning.runners.checking import Expected, expected
from perfdojo.tuning.runners.emitting import emit_point, made_or_refused
from perfdojo.tuning.space import Point

TIMEOUT_S = 20.0
COLD_CYCLES = 2_000
"""For the instruction caches of a small kernel."""


@dataclass
class SnitchRunner:
    """Measures cycles of one call, with warm instruction caches."""

    problem: Problem
    tools: Tools
    seed: int = 0
    tolerance: float | None = None

    def __post_init__(self) -> None:
        self._expected: tuple[Expected, ...] = expected(
            self.problem, self.seed, own_library=True, tolerance=self.tolerance
        )

    @property
    def workers(self) -> int:
        """Cycles do not depend on what else runs: one simulator for each processor."""
        return max(1, read_cpu().cores)

    def measure(self, points: Sequence[Point], best: float | None) -> list[Tried]:
        """Return what came of each point."""
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(lambda p: self._tried(p, best), points))

    def least(self, program: Program) -> float:
        """Return cycles that a program cannot go below."""
        target = self.problem.setting.target
        return snitch_limit(program, target, self.problem.threads or target.cores)

    def source(self, point: Point) -> EmittedSource:
        """Return a point as source; PerfDojoError when it cannot be emitted."""
        return emit_point(self.problem, point)

    def _tried(self, point: Point, best: float | None = None) -> Tried:
        built = made_or_refused(lambda p: build(self.source(p), self.tools), point)
        if isinstance(built, Tried):
            return built
        if isinstance(built, Failure):
            return Tried(built.outcome, built.text)
        return self._checked(built, best)

    def _checked(self, built: Built, best: float | None) -> Tried:
        """Check with the first inputs, then count cycles; with the others, where it is not far behind."""
        ordinary, *others = self._expected
        if came := self._wrong(built, ordinary, best, USUAL):
            return came
        few = call_cycles(best, USUAL)
        m = measure(built, ordinary.inputs, builtin(self.tools), TIMEOUT_S, few)
        if m.outcome != "ok":
            return ended(m.outcome, m.text, best)
        if is_behind(m.cycles, best):
            return Tried("ok", "", (float(m.cycles),), cut=True)
        came = next((c for e in others if (c := self._wrong(built, e, best, SPECIAL))), None)
        return came or Tried("ok", "", (float(m.cycles),))

    def _wrong(self, built: Built, e: Expected, best: float | None, slowness: float) -> Tried | None:
        """What is wrong with what it computes of some inputs, if something is."""
        ran = run(built, e.inputs, timeout_s=TIMEOUT_S, call_cycles=call_cycles(best, slowness))
        if ran.outcome != "ok":
            return ended(ran.outcome, ran.text, best)
        wrong = e.wrong(ran.outputs)
        return Tried("wrong-result", wrong) if wrong else None

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return the cycles of points: once is enough."""
        return [t.samples for t in self.measure(points, None)]


def call_cycles(best: float | None, slowness: float) -> int | None:
    """Return the cycles that a call may take."""
    return None if best is None else COLD_CYCLES + int(slowness * CUT * best)
