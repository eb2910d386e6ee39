"""A point as source: what every runner builds, and what is written when a search is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from perfdojo.backends import emit
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.schedule import Scheduled
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import Tried
from perfdojo.tuning.space import Point

T = TypeVar("T")


def emit_point(problem: Problem, point: Point) -> EmittedSource:
    """Return a point as source.

    Raises:
        PerfDojoError: it cannot be emitted.
    """
    made = None if point.moves is None else Scheduled(point.program, point.text)
    # of a Snitch cluster, `threads` are its cores
    threads, cores = (1, problem.threads) if problem.setting.target.name == "snitch" else (problem.threads, 0)
    return emit(
        problem.bound, problem.target, fp=problem.setting.fp, threads=threads, scheduled=made, cores=cores
    )


def made_or_refused(make: Callable[[Point], T], point: Point) -> T | Tried:
    """Return what is made of a point, or that it is refused: no bug of lowering ends a search."""
    try:
        return make(point)
    except PerfDojoError as error:
        return Tried("refused", str(error.message))
    except (RecursionError, AssertionError, KeyError, ValueError) as error:
        return Tried("refused", f"lowering failed, a bug of perfdojo: {error!r}")
