"""What is far behind the best costs a search little, and wins nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.host import find_host, run
from perfdojo.toolchains.results import MissingTool, RunResult
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import run as simulate
from perfdojo.tuning.runners.allowance import CUT, LEAST_CALL_S, allowance, is_behind
from perfdojo.tuning.runners.base import Tried
from perfdojo.tuning.runners.snitch import SnitchRunner
from perfdojo.tuning.space import Point
from tests.tuning.hostile import Plant, Planted, with_planted
from tests.tuning.problems import problem, space

BEST = 1e-3


def tried(code: str, monkeypatch: pytest.MonkeyPatch, best: float | None = BEST) -> tuple[Tried, int, float]:
    """Return what came of a candidate with some code, in how many checks, and its seconds."""
    checks: list[str] = []

    def counted(*arguments: Any) -> RunResult:
        checks.append("")
        return run(*arguments)

    monkeypatch.setattr("perfdojo.tuning.runners.host.run", counted)
    s = space()
    runner = Planted(problem(), find_host(), plant=Plant(code, "ok"))
    runner._built(s.start)
    begun = time.monotonic()
    (came,) = runner.measure([s.start], best)
    return came, len(checks), time.monotonic() - begun


def test_a_slow_one_is_cut_behind_its_first_check(monkeypatch: pytest.MonkeyPatch) -> None:
    came, checks, _ = tried("usleep(50000);", monkeypatch)
    assert (came.outcome, came.cut, checks) == ("ok", True, 1)
    assert 0.05 <= came.samples[0] < LEAST_CALL_S


@pytest.mark.parametrize("code", ["sleep(1);", "for (volatile int k = 0; ; k++) ;"])
def test_one_a_thousand_times_as_slow_is_cut_short(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    came, checks, seconds = tried(code, monkeypatch)
    assert (came.outcome, came.cut, came.samples, checks) == ("timeout", True, (), 1)
    assert came.detail == "a call took longer than 0.206 s"
    assert seconds < 1.5


def test_a_good_one_is_not_cut_and_the_first_one_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    came, checks, _ = tried("usleep(1000);", monkeypatch, 0.05)
    assert (came.outcome, came.cut, checks) == ("ok", False, 2)
    came, checks, _ = tried("usleep(300000);", monkeypatch, None)
    assert (came.outcome, came.cut, checks) == ("ok", False, 2)


def test_limits_come_from_the_best_one_and_from_the_problem() -> None:
    p = problem()
    assert allowance(p, 1.0).call_s == LEAST_CALL_S + 2 * CUT
    assert allowance(p, 1e-6).call_s < allowance(p, 1.0).call_s < allowance(p, None).call_s
    large = problem(
        "kernel large\nin x: f32[8192, 8192]\nout y: f32[8192, 8192]\n\n"
        "i:8192 j:8192 y[{0},{1}] = x[{0},{1}]\n"
    )
    assert allowance(large, 1e-6).run_s > 10 + allowance(p, 1e-6).run_s
    assert allowance(large, 1e-6).memory_bytes > 2 * (8192 * 8192 * 8)
    assert is_behind(0.01, BEST)
    assert not is_behind(0.01, None)
    assert not is_behind(0.01, BEST, 0.02)


@dataclass
class PlantedSnitch(SnitchRunner):
    """Puts some C at the beginning of each candidate."""

    code: str = ""

    def source(self, point: Point) -> EmittedSource:
        return with_planted(super().source(point), "", self.code)


@pytest.mark.parametrize(
    ("code", "outcome", "cut", "checks"),
    [
        ("", "ok", False, 2),
        ("for (volatile int k = 0; k < 100; k++) ;", "ok", False, 2),
        ("for (volatile int k = 0; k < 1000; k++) ;", "ok", True, 1),
        ("for (volatile int k = 0; k < 1000000; k++) ;", "timeout", True, 1),
        ("for (volatile int k = 0; ; k++) ;", "timeout", True, 1),
    ],
)
def test_simulated_cycles_are_cut_short(
    code: str, outcome: str, cut: bool, checks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        tools = find_tools()
    except MissingTool as error:
        pytest.skip(str(error))
    asked: list[int | None] = []

    def counted(*arguments: Any, **more: Any) -> RunResult:
        asked.append(more["call_cycles"])
        return simulate(*arguments, **more)

    monkeypatch.setattr("perfdojo.tuning.runners.snitch.run", counted)
    p = problem(target="snitch", unit="cycles")
    s = space(target="snitch")
    (good,) = SnitchRunner(p, tools).measure([s.start], None)
    assert asked == [None, None]
    begun = time.monotonic()
    (came,) = PlantedSnitch(p, tools, code=code).measure([s.start], good.samples[0])
    assert (came.outcome, came.cut, len(asked) - 2) == (outcome, cut, checks), came
    assert time.monotonic() - begun < 5
    if outcome == "timeout":
        assert came.detail.startswith("it was still running after ")
        assert int(came.detail.split()[-2]) < 200_000


def test_what_the_memory_of_a_cluster_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: object) -> None:
        raise PerfDojoError("they need more", hint="choose smaller sizes")

    monkeypatch.setattr("perfdojo.tuning.runners.snitch.build", too_large)
    (came,) = SnitchRunner(problem(target="snitch"), None).measure([space(target="snitch").start], None)  # type: ignore[arg-type]
    assert (came.outcome, came.detail) == ("refused", "they need more")
