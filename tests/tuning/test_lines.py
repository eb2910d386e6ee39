"""Lines of JSON that are no records are refused, whatever is wrong with them, and nothing is added."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.tuning.lines import read_line
from perfdojo.tuning.records import Records
from perfdojo.tuning.trial import Trial
from tests.tuning.problems import problem

WRONG: dict[str, tuple[Any, ...]] = {
    "problem.sizes": (1, "x", [], {"N": "x"}, {"N": math.inf}, None),
    "problem.machine": (1, "x", [[1]], [["cpu", 1]], {}),
    "problem.threads": ("x", 1.5, True, -1, 10**400),
    "problem.fp": ("none", 1, None),
    "problem.key": ("0" * 64, 1, None),
    "problem.text": ("kernel other", None),
    "problem.unit": ("cycles", 1),
    "trial.schedule": (None, 1, "\ud800"),
    "trial.samples": ("x", None, [math.nan], [math.inf], [-1.0], [0.0], ["1"], [True], [10**400], 1),
    "trial.cut": (1, math.inf, "x"),
    "trial.seed": ("x", 1.5, 10**400),
    "trial.at": ("x", math.inf, -1, 10**400, None),
    "trial.more": (1,),
    "final": (1, [], {}, {"place": 10**30, "samples": [1.0]}, {"place": 0, "samples": []}),
    "day": (1, None),
}


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> str:
    records = Records(tmp_path_factory.mktemp("records") / "r.sqlite")
    records.add(problem(), Trial("schedule rows\nend\n", "ok", samples=(3.0, 4.0), search="greedy", at=1.5))
    (made,) = records.dump()
    return made


def test_a_line_says_what_was_written(line: str) -> None:
    read = read_line(line)
    assert read.trial == Trial("schedule rows\nend\n", "ok", samples=(3.0, 4.0), search="greedy", at=1.5)
    assert (read.problem["key"], read.place) == (problem().key, None)


@pytest.mark.parametrize("where", WRONG)
def test_values_that_cannot_be_are_refused(line: str, where: str, tmp_path: Path) -> None:
    records = Records(tmp_path / "r.sqlite")
    for value in WRONG[where]:
        found = json.loads(line)
        *parts, last = where.split(".")
        (found[parts[0]] if parts else found)[last] = value
        with pytest.raises(PerfDojoError, match="line 2 is no record: "):
            records.load([line, json.dumps(found)])
    assert records.problems() == []


@pytest.mark.parametrize("text", ["1", "null", "[]", "x", "{", "{}", "[" * 100_000, "9" * 5000, "\0"])
def test_what_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(PerfDojoError, match="line 1 is no record: "):
        Records(tmp_path / "r.sqlite").load([text])
