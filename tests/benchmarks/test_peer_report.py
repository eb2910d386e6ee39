"""Ratios, the table and its figures, the JSON that the picture is drawn from, out of made-up results."""

from __future__ import annotations

import json
import math

import pytest

from benchmarks.peers.__main__ import main
from benchmarks.peers.measure import Row
from benchmarks.peers.plot import bars
from benchmarks.peers.report import Run, as_json, gaps, geometric_mean, head, line, markdown, summary
from tests.benchmarks.small import row

FAST = row(
    "add", 1e-6, scheduled=[2e-6] * 9, default=[4e-6] * 9, plain_c=[4e-6] * 9, torch=[8e-6] * 9, jax="no way"
)
SLOW = row(
    "gelu",
    9e-6,
    scheduled=[1e-5] * 9,
    default=[1e-5] * 9,
    plain_c=[1e-5] * 9,
    torch=[9e-6] * 9,
    jax=[5e-6] * 3,
)
NAMES = ("scheduled", "default", "plain-c", "torch", "jax")
RUN = Run("a machine", 1, dict.fromkeys(NAMES, "1.0"), {"mkl": "mkl is not installed"}, [FAST, SLOW])


def test_a_ratio_is_the_median_of_the_rounds_that_both_ran() -> None:
    found = row("add", 1.0, scheduled=[1.0, 2.0, 4.0, 1.0], torch=[2.0, 6.0, 4.0]).ratio("torch", "scheduled")
    assert found
    assert (found.value, found.interval) == (2.0, None)
    steady = FAST.ratio("torch", "scheduled")
    assert steady
    assert steady.interval == pytest.approx((4.0, 4.0))


def test_there_is_no_ratio_to_a_gap() -> None:
    assert FAST.ratio("jax", "scheduled") is None
    assert FAST.ratio("mkl", "scheduled") is None
    assert FAST.share("jax") is None


def test_the_fastest_has_the_least_time_and_gaps_do_not_count() -> None:
    assert (FAST.fastest(["torch", "jax"]), SLOW.fastest(["torch", "jax"])) == ("torch", "jax")
    assert FAST.fastest(["jax"]) is None


def test_a_wrong_result_is_known_as_one() -> None:
    assert row("add", 1.0, scheduled="ArithmeticError: wrong result, error 1").wrong("scheduled")
    assert not FAST.wrong("scheduled")
    assert not FAST.wrong("mkl")


def test_a_line_has_a_cell_for_each_column() -> None:
    assert line(RUN, FAST) == ("| add_small | 1 memory | 2 | 4 | 4 | 8 |  | PyTorch | 4.00 (4.00 to 4.00) |")
    assert {text.count("|") for text in (*head(RUN).split("\n"), line(RUN, FAST), line(RUN, SLOW))} == {10}


def test_the_figures_are_over_the_best_peer_of_each_kernel() -> None:
    found = summary(RUN)
    assert found[0] == (
        "ours, scheduled, over the best peer of each kernel: geometric mean 1.41, "
        "smallest 0.50 in gelu_small; faster on 1 of 2"
    )
    assert "ours, scheduled: 1 of 2 kernels at 85% of the limit or more" in found
    assert "over JAX, 1 kernel: ours, scheduled, geometric mean 0.50, smallest 0.50" in found


def test_gaps_say_why() -> None:
    assert gaps(RUN) == ["MKL did not run: mkl is not installed", "JAX, add_small: no way"]


def test_a_run_without_peers_has_a_page() -> None:
    alone = Run("a machine", 1, {"scheduled": "1.0"}, {}, [row("add", 1e-6, scheduled=[2e-6])])
    assert "| add_small | 1 memory | 2 |  |  |" in markdown(alone)


def test_json_is_json_and_holds_what_is_drawn() -> None:
    found = json.loads(json.dumps(as_json(RUN)))
    assert [k["best_peer"] for k in found["kernels"]] == ["torch", "jax"]
    drawn = bars(found)
    assert drawn["jax"] == [None, pytest.approx(5 / 9)]
    assert drawn["best"] == [pytest.approx(8), pytest.approx(5 / 9)]
    assert "numpy" not in drawn


def test_the_geometric_mean_of_nothing_is_no_number() -> None:
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert math.isnan(geometric_mean([]))


def test_names_that_are_not_there_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "nothing"]) == 2
    with pytest.raises(SystemExit):
        main(["--peers", "torch,nothing"])
    assert "no peer is called nothing" in capsys.readouterr().err


def test_a_row_is_what_its_cells_say() -> None:
    assert isinstance(FAST, Row)
    assert FAST.share("scheduled") == pytest.approx(0.5)
