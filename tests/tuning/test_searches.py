"""Each search finds what there is to find, without hardware; the same answers lead to the same proposals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.schedule import parse_schedule
from perfdojo.toolchains.statistics import median
from perfdojo.tuning.records import Records
from perfdojo.tuning.runners.base import Tried
from perfdojo.tuning.runners.replay import ReplayRunner
from perfdojo.tuning.searches import get_search, search_names
from perfdojo.tuning.shortening import shortened
from perfdojo.tuning.space import Point
from perfdojo.tuning.trial import Trial
from perfdojo.tuning.tune import Result, Tuner
from tests.tuning.problems import ROWS, problem, space

each_search = pytest.mark.parametrize("name", search_names())


def tuned(name: str, trials: int = 60, runner: ReplayRunner | None = None, **more: object) -> Result:
    return Tuner(problem(), runner or ReplayRunner(), name, **more).run(1e9, trials)  # type: ignore[arg-type]


@each_search
def test_a_search_improves_on_what_there_was(name: str) -> None:
    result = tuned(name)
    assert len(result.progress.trials) >= 60
    assert result.winner.moves
    assert median(result.finals[0][1]) < result.baselines["planned"]


@each_search
def test_a_search_can_be_repeated(name: str) -> None:
    first, second = ReplayRunner(), ReplayRunner()
    tuned(name, 50, first, seed=3)
    tuned(name, 50, second, seed=3)
    assert first.asked == second.asked
    other = ReplayRunner()
    tuned(name, 50, other, seed=4)
    assert other.asked != first.asked


@each_search
def test_recorded_trials_replay_to_the_same_decisions(name: str) -> None:
    first = ReplayRunner()
    done = tuned(name, 50, first, seed=1)
    again = ReplayRunner(done.progress.trials, strict=True)
    same = tuned(name, 50, again, seed=1)
    assert again.asked == first.asked
    assert same.winner.text == done.winner.text


class Flat(ReplayRunner):
    """All code is equally fast, up to a little noise."""

    def _tried(self, point: Point) -> Tried:
        return Tried("ok", "", (100.0 + len(point.text) % 3 * 0.1,))


def test_what_is_not_faster_beyond_noise_is_no_winner() -> None:
    result = tuned("guided", 40, Flat())
    assert result.winner.moves is None


def test_a_shipped_schedule_is_always_tried() -> None:
    shipped = parse_schedule("schedule rows\nunroll k\nend\n")
    runner = ReplayRunner()
    result = tuned("random", 10, runner, shipped=shipped)
    assert "shipped" in result.baselines
    assert any("unroll k" in text for text in runner.asked)


class Told(ReplayRunner):
    """Keeps the best cost that it is told with each point."""

    def measure(self, points: Sequence[Point], best: float | None) -> list[Tried]:
        self.bests = [*getattr(self, "bests", []), best]
        return super().measure(points, best)


def test_the_best_cost_so_far_is_told_from_the_first_candidates_on() -> None:
    runner = Told()
    trials = tuned("random", 30, runner).progress.trials
    costs = [t.cost for t in trials]
    for n, best in enumerate(runner.bests[: len(trials)]):
        assert best == min((c for c in costs[:n] if c is not None), default=None)


class Broken(ReplayRunner):
    """Everything but the code as it is planned goes wrong."""

    def _tried(self, point: Point) -> Tried:
        return Tried("ok", "", (1.0,)) if point.moves is None else Tried("crash", "SIGSEGV")


@each_search
def test_there_is_an_answer_when_all_else_fails(name: str) -> None:
    result = tuned(name, 30, Broken())
    assert result.winner.moves is None
    assert result.progress.outcomes["crash"] >= 29


def test_unknown_searches_are_refused() -> None:
    with pytest.raises(PerfDojoError, match="no search 'gready'") as error:
        get_search("gready")
    assert "greedy" in error.value.hint


def test_what_other_sizes_taught_is_tried_first(tmp_path: object) -> None:
    records = Records(tmp_path / "records.sqlite")  # type: ignore[operator]
    wide = problem(ROWS.replace("40", "48"))
    Tuner(wide, ReplayRunner(), "guided", records=records).run(1e9, 40)
    best = records.best(wide)
    assert best is not None
    runner = ReplayRunner()
    tuned("guided", 10, runner, records=records)
    assert best.schedule in runner.asked[:10]


def test_schedules_with_moves_of_another_version_do_not_end_a_search(tmp_path: object) -> None:
    records = Records(tmp_path / "records.sqlite")  # type: ignore[operator]
    for p in (problem(), problem(ROWS.replace("40", "48"))):
        records.add(p, Trial("schedule rows\nteleport k\nend\n", "ok", samples=(1e-9,)))
    assert len(tuned("guided", 10, records=records).progress.trials) >= 10


def test_a_search_goes_on_where_it_was(tmp_path: object) -> None:
    records = Records(tmp_path / "records.sqlite")  # type: ignore[operator]
    first = ReplayRunner()
    tuned("guided", 30, first, records=records)
    second = ReplayRunner()
    tuned("guided", 60, second, records=records)
    assert not set(first.asked[:20]) & set(second.asked[: len(second.asked) - 7])


def test_what_another_version_kept_does_not_end_a_search(tmp_path: Path) -> None:
    records = Records(tmp_path / "records.sqlite")
    for p in (problem(), problem(ROWS.replace("40", "48"))):
        records.add(p, Trial("schedule rows\nmove_of_then k 8\nend\n", "ok", samples=(1e-9,)))
    assert tuned("guided", 10, records=records).finals


def test_what_is_tried_first_ends_when_time_is_up() -> None:
    now = iter(range(10_000))
    result = Tuner(problem(), ReplayRunner(), clock=lambda: float(next(now))).run(0.5)
    tried = [t.schedule for t in result.progress.trials]
    assert "" in tried
    assert len(tried) <= 3, "the kernel as it is planned, and as it is"
    assert "planned" in result.baselines


def test_a_winner_has_no_move_that_changes_nothing() -> None:
    s = space(0, "c")
    text = "schedule rows\nparallelize i\nsequential i\nset_space s stack\ntile_scope j 8\nend\n"
    point = s.of_schedule(parse_schedule(text))
    assert len(point.moves or ()) == 4
    short = shortened(s, point)
    assert [str(m) for m in short.moves or ()] == ["tile_scope j 8"]
    assert shortened(s, s.planned) is s.planned


def test_a_shipped_schedule_that_wins_stays_as_it_was_written() -> None:
    shipped = parse_schedule("schedule rows\nparallelize i\nsequential i\nunroll k\nend\n")

    class Shipped(ReplayRunner):
        def _tried(self, point: Point) -> Tried:
            return Tried("ok", "", (1.0 if "unroll k" in point.text else 2.0,))

    result = tuned("random", 10, Shipped(), shipped=shipped)
    assert [str(m) for m in result.winner.moves or ()] == ["parallelize i", "sequential i", "unroll k"]
