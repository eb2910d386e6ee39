"""Who wins a search: nobody, unless it is faster than what there was beyond noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from perfdojo.tuning.ending import BEST, LIKELY, end, is_faster
from perfdojo.tuning.runners.base import ROUNDS
from perfdojo.tuning.runners.replay import ReplayRunner
from perfdojo.tuning.space import Point
from tests.tuning.problems import problem, space

PLANNED = (1.0, 1.0, 1.0, 1.0, 1.0)
S = space()
POINTS = [S.planned, *(Point((), S.start.program, f"point {n}") for n in range(20))]


class Given(ReplayRunner):
    """Answers comparisons with given samples, by the text of a point."""

    def __init__(self, samples: Mapping[str, Sequence[float]]) -> None:
        super().__init__()
        self.samples = samples
        self.compared: list[tuple[int, int]] = []

    def compare(self, points: Sequence[Point], rounds: int = ROUNDS) -> list[tuple[float, ...]]:
        self.compared.append((len(points), rounds))
        return [tuple(self.samples[p.text][:rounds]) for p in points]


@pytest.mark.parametrize(
    ("samples", "wins"),
    [
        ((0.97, 0.97, 0.97, 0.97, 0.97), True),
        ((0.99, 0.99, 0.99, 0.99, 0.99), False),
        ((0.97, 0.97, 0.97, 0.97, 1.01), True),
        ((0.97, 0.97, 0.97, 1.01, 1.01), False),
        ((0.5, 0.5, 1.0, 1.0, 1.0), False),
    ],
)
def test_a_winner_is_two_percent_faster_and_in_four_rounds_of_five(
    samples: tuple[float, ...], wins: bool
) -> None:
    assert is_faster(samples, PLANNED) == wins
    runner = Given({"": PLANNED, POINTS[1].text: samples})
    ended = end(problem(), runner, [POINTS[1], S.planned], {"planned": S.planned})
    assert ended.winner is (POINTS[1] if wins else S.planned)
    assert ended.baselines == {"planned": 1.0}


def test_it_has_to_beat_all_that_there_was() -> None:
    runner = Given({"": PLANNED, POINTS[1].text: (0.9,) * 5, POINTS[2].text: (0.895,) * 5})
    to_beat = {"planned": S.planned, "shipped": POINTS[1]}
    ended = end(problem(), runner, [POINTS[2], POINTS[1], S.planned], to_beat)
    assert ended.winner is POINTS[1]
    assert [p for p, _ in ended.finals] == [POINTS[2], POINTS[1], S.planned]


def test_among_many_it_is_not_the_luckiest() -> None:
    # the first one was lucky when it was tried; measured again, the last of the likely ones is the best
    likely = POINTS[1 : LIKELY + 2]
    samples = {p.text: (0.9 - 0.01 * n,) * 5 for n, p in enumerate(likely)}
    runner = Given({"": PLANNED, **samples})
    ended = end(problem(), runner, [*likely, S.planned], {"planned": S.planned})
    assert ended.winner is likely[LIKELY - 1]
    assert runner.compared == [(LIKELY, 2), (BEST + 1, ROUNDS)]


def test_exact_costs_need_no_second_look() -> None:
    runner = Given({"": PLANNED, **{p.text: (0.5,) for p in POINTS[1:]}})
    end(problem(unit="cycles"), runner, [*POINTS[1:], S.planned], {"planned": S.planned})
    assert runner.compared == [(BEST + 1, ROUNDS)]


def test_what_was_wrong_is_not_measured_and_beats_nothing() -> None:
    runner = Given({POINTS[1].text: (2.0,) * 5})
    ended = end(problem(), runner, [POINTS[1]], {"planned": S.planned})
    assert (ended.winner, ended.baselines) == (POINTS[1], {})
    assert end(problem(), Given({}), [], {"planned": S.planned}).winner is S.planned
