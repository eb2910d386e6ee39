"""Runs candidates on the GPU: built by nvcc side by side, checked and timed one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.toolchains.cuda.apart import Came, Job, run_apart
from perfdojo.toolchains.cuda.limits import over_limits, refusal
from perfdojo.toolchains.cuda.nvcc import library_for
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.results import Failure, Measurement
from perfdojo.toolchains.statistics import median
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.allowance import CUT, FIRST_CALL_S, USUAL
from perfdojo.tuning.runners.base import BUDGET_S, FINAL_S, ROUNDS, Tried, ended, in_turn
from perfdojo.tuning.runners.checking import Expected, expected
from perfdojo.tuning.runners.emitting import emit_point, made_or_refused
from perfdojo.tuning.space import Point

LEAST_CALL_S = 1.0
"""A call may take so long in any case: code is loaded with the first."""
SHORT_S = 1e-4
"""What takes no longer is timed in full: an event and a launch take some microseconds."""


@dataclass
class CudaRunner:
    """Measures seconds of one call, by the GPU's events."""

    problem: Problem
    host: Host
    nvcc: Compiler
    architecture: str
    seed: int = 0
    tolerance: float | None = None
    _expected: dict[str, tuple[Expected, ...]] = field(default_factory=dict)

    @property
    def workers(self) -> int:
        """One compiler for each processor."""
        return max(1, self.host.cpu.cores)

    def measure(self, points: Sequence[Point], best: float | None) -> list[Tried]:
        """Return what came of each point."""
        with ThreadPoolExecutor(self.workers) as pool:
            built = list(pool.map(self._built, points))
        return [b if isinstance(b, Tried) else self._ran(*b, best) for b in built]

    def least(self, program: Program) -> float:
        """Return 0: nothing is known of it."""
        return 0.0

    def source(self, point: Point) -> EmittedSource:
        """Return a point as source; PerfDojoError when it cannot be emitted."""
        return emit_point(self.problem, point)

    def library(self, source: EmittedSource) -> tuple[Path, str] | Failure:
        """Return the library with the launcher of a source, and what nvcc said."""
        made = library_for(source, self.nvcc, self.host, self.architecture)
        return made if isinstance(made, Failure) else (made.path, made.warnings)

    def _built(self, point: Point) -> tuple[EmittedSource, Path] | Tried:
        """Return a point as code for the GPU, or why it is none."""
        source = made_or_refused(self.source, point)
        if isinstance(source, Tried):
            return source
        made = self.library(source)
        if isinstance(made, Failure):
            over = refusal(made)
            return Tried("refused", over) if over else Tried(made.outcome, made.text)
        library, report = made
        over = over_limits(source, report, self.architecture)
        return Tried("refused", over) if over else (source, library)

    def right(self, tensor: str) -> tuple[Expected, ...]:
        """Return what is right for code that multiplies in this way."""
        if tensor not in self._expected:
            self._expected[tensor] = expected(self.problem, self.seed, True, self.tolerance, tensor)
        return self._expected[tensor]

    def _ran(self, source: EmittedSource, library: Path, best: float | None) -> Tried:
        """Check a kernel on all inputs and time it, in one process."""
        right = self.right(source.tensor)
        call = FIRST_CALL_S if best is None else LEAST_CALL_S + USUAL * CUT * best
        most = None if best is None else max(SHORT_S, CUT * best)
        with alone():
            came = run_apart(Job(source, library, tuple(e.inputs for e in right), BUDGET_S, call, most))
        return _judged(came, right, best)

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        """Return samples of points that were right: medians of processes that run in turn."""
        built = [b for b in map(self._built, points) if not isinstance(b, Tried)]
        assert len(built) == len(points), "they were built before"
        return in_turn(built, rounds, lambda b: self._measured(*b))

    def _measured(self, source: EmittedSource, library: Path) -> Measurement | None:
        inputs = self.right(source.tensor)[0].inputs
        with alone():
            return run_apart(Job(source, library, (inputs,), FINAL_S, FIRST_CALL_S)).time


def _judged(came: Came, right: Sequence[Expected], best: float | None) -> Tried:
    """Return what came of a candidate: the first thing that is wrong with it, or its times."""
    for e, ran in zip(right, came.checks, strict=False):
        if ran.outcome != "ok":
            return _failed(ran.outcome, ran.text, best)
        if wrong := e.wrong(ran.outputs):
            return Tried("wrong-result", wrong)
    assert came.time is not None, "the first check was right, so it was timed"
    if came.time.outcome != "ok":
        return _failed(came.time.outcome, came.time.text, best)
    samples = came.time.samples_s
    cut = len(came.checks) < len(right)
    return Tried("ok", "", (median(samples),) if cut else samples, cut)


def _failed(outcome: str, text: str, best: float | None) -> Tried:
    """What is over a limit of the GPU is refused."""
    return Tried("refused", text) if outcome == "launch-refused" else ended(outcome, text, best)
