"""Runs candidates on the simulated Snitch cluster: cycles, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from perfdojo.backends import emit
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Scheduled
from perfdojo.toolchains.cpu import read_cpu
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import build, run
from perfdojo.tuning.bounds import snitch_bound
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import ROUNDS, Tried
from perfdojo.tuning.runners.checking import Expected, expected
from perfdojo.tuning.space import Point

TIMEOUT_S = 20.0


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
            return list(pool.map(self._tried, points))

    def least(self, program: Program) -> float:
        """Return cycles that a program cannot go below."""
        target = self.problem.setting.target
        return snitch_bound(program, target, self.problem.threads or target.cores)

    def _tried(self, point: Point) -> Tried:
        made = None if point.moves is None else Scheduled(point.program, point.text)
        p = self.problem
        try:
            source = emit(p.bound, p.target, fp=p.setting.fp, scheduled=made, cores=p.threads)
            built = build(source, self.tools)
        except PerfDojoError as error:
            return Tried("refused", str(error.message))
        except (RecursionError, AssertionError, KeyError, ValueError) as error:
            return Tried("refused", f"lowering failed, a bug of perfdojo: {error!r}")
        if isinstance(built, Failure):
            return Tried(built.outcome, built.text)
        for e in self._expected:
            ran = run(built, e.inputs, timeout_s=TIMEOUT_S)
            if ran.outcome != "ok":
                return Tried(ran.outcome, ran.text)
            if wrong := e.wrong(ran.outputs):
                return Tried("wrong-result", wrong)
        m = measure(built, self._expected[0].inputs, timeout_s=TIMEOUT_S)
        return Tried("ok", "", (float(m.cycles),)) if m.outcome == "ok" else Tried(m.outcome, m.text)

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return the cycles of points: once is enough."""
        return [t.samples for t in self.measure(points, None)]
