"""`perfdojo.PerfDojo`: text, paths, names and programs go in; what comes out is checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import perfdojo
from perfdojo.compiler.text.parse import parse
from perfdojo.tuning.records import Records
from tests.tuning.problems import ROWS

SIZES = {"M": 8, "N": 24}


def test_a_kernel_goes_in_and_verified_code_comes_out(tmp_path: Path) -> None:
    dojo = perfdojo.PerfDojo("portable_c", "balanced", records=tmp_path / "r.sqlite")
    made = dojo.transform("relu", timeout=3.0, sizes=SIZES)
    assert made.unit == "s"
    assert made.cost > 0
    assert made.gain > 0.9
    assert "planned" in made.baselines
    assert made.validation is None or made.validation.equal
    assert bool(made.diagnosis) == (not made.schedule)
    names = {p.name for p in made.write(tmp_path / "out")}
    assert {"relu.c", "relu.h"} <= names
    history = dojo.get_tuning_history()
    assert len(history["cost"]) == len(made.history) == len(history["seconds"])
    right = history["cost"][np.isfinite(history["cost"])]
    assert history["best"][-1] == right.min()
    assert (np.diff(history["best"][np.isfinite(history["best"])]) <= 0).all()


@pytest.mark.parametrize("given", ["text", "path", "program"])
def test_kernels_are_given_in_several_ways(given: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.ir"
    path.write_text(ROWS)
    ir = {"text": ROWS, "path": path, "program": parse(ROWS)}[given]
    made = perfdojo.PerfDojo("c", "conservative", records=False).transform(ir, timeout=20.0)  # type: ignore[arg-type]
    assert made.emitted.kernel == "rows"
    assert made.emitted.fp == "strict"


def test_modes_say_what_may_change() -> None:
    careful = perfdojo.PerfDojo("c", "conservative", records=False).transform(ROWS, timeout=20.0)
    assert all(t.search == "start" for t in careful.history)
    with pytest.raises(perfdojo.PerfDojoError, match="no mode 'bold'"):
        perfdojo.PerfDojo("c", "bold")  # type: ignore[arg-type]
    with pytest.raises(perfdojo.PerfDojoError, match="is not timed here"):
        perfdojo.PerfDojo("nvidia_sm80", records=False).transform(ROWS, timeout=1.0)


def test_schedules_are_no_longer_than_asked() -> None:
    made = perfdojo.PerfDojo("c", "aggressive", records=False).transform(ROWS, timeout=2.0, max_steps=2)
    assert all(t.schedule.count("\n") <= 2 + 2 for t in made.history)


def test_numbers_and_names_that_cannot_be_are_refused(tmp_path: Path) -> None:
    for more in ({"seed": -1}, {"seed": 2**63}, {"search": "gready"}, {"records": tmp_path}):
        with pytest.raises(perfdojo.PerfDojoError):
            perfdojo.PerfDojo("c", **more)
    dojo = perfdojo.PerfDojo("c", records=str(tmp_path / "r.sqlite"))
    for some in ({"tolerance": -1.0}, {"tolerance": np.nan}, {"timeout": np.nan}, {"max_steps": -1}):
        with pytest.raises(perfdojo.PerfDojoError, match=next(iter(some))):
            dojo.transform(ROWS, **some)


def test_what_a_tolerance_allows_is_no_trial_without_it(tmp_path: Path) -> None:
    records = Records(tmp_path / "r.sqlite")
    dojo = perfdojo.PerfDojo("c", "conservative", records=records.path)
    dojo.transform(ROWS, timeout=1.0, tolerance=0.5)
    dojo.transform(ROWS, timeout=1.0)
    assert sorted(dict(p["machine"]).get("tolerance", "") for p in records.problems()) == ["", "0.5"]
