"""`perfdojo explain`: trials are found by what `perfdojo records` prints, and told whole."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from perfdojo.backends import get_target
from perfdojo.cli.tools import main
from perfdojo.compiler.bind import bind
from perfdojo.compiler.transforms import transform_names
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.records import Records
from perfdojo.tuning.space import Space
from perfdojo.tuning.trial import Trial
from tests.tuning.problems import problem

TRIALS = (
    Trial("", "ok", samples=(4e-6,), search="start"),
    Trial("schedule rows\ntile_scope k 8\nunroll k_i\nend\n", "ok", samples=(2e-6,), search="greedy", at=1.5),
    Trial("schedule rows\nunroll j\nend\n", "wrong-result", "y[0,0] is 1, not 2", search="greedy", at=2.0),
    Trial("schedule rows\nunroll i\nend\n", "ok", samples=(9e-6,), cut=True, search="greedy", at=2.5),
)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PERFDOJO_RECORDS", str(tmp_path / "records.sqlite"))
    records, p = Records(tmp_path / "records.sqlite"), problem()
    for t in TRIALS:
        records.add(p, t)
    return [t.name_in(p.key) for t in TRIALS]


def explained(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["explain", *argv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_records_print_the_names_that_explain_takes(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for way, expected in (("list", names[1:2]), ("best", names[1:2]), ("show", [names[1], *names])):
        assert main(["records", way]) == 0
        assert re.findall(r"\b[0-9a-f]{12}\b", capsys.readouterr().out) == expected
    for name in names:
        assert f"record      {name}: trial " in explained(capsys, name)
        assert f"record      {name}: trial " in explained(capsys, name[:8].upper())


def test_a_trial_is_told_step_by_step_beside_what_there_was(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = explained(capsys, names[1])
    assert "rows · c · reassoc" in out
    assert "trial 2 of 4, proposed by the search greedy, seed 0, after 1.5 s" in out
    assert "steps       tile_scope k 8   k -> k_o:5, k_i:8" in out
    assert "unroll k_i   k_i runs @unroll" in out
    assert "✓ 2.00 µs" in out
    assert "planned     4.00 µs; this is 2.00 times as fast" in out
    assert "tried       unroll: in 3 trials, at best 2.00 µs" in out
    assert "vectorize: target c has no @vector" in out


def test_a_kernel_means_its_best_trial(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(capsys, "rows") == explained(capsys, names[1])


def test_failed_cut_and_planned_trials_are_told_as_such(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "outcome   ✗ wrong-result: y[0,0] is 1, not 2" in explained(capsys, names[2])
    assert "over 9.00 µs, cut short" in explained(capsys, names[3])
    assert "none: the code as it is planned" in explained(capsys, names[0])


def test_a_step_that_is_not_legal_any_more_is_told(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = Trial("schedule rows\ntile_scope k 7\nend\n", "ok", samples=(1.0,))
    Records(tmp_path / "records.sqlite").add(problem(), stale)
    assert "tile_scope k 7   left out, it is not legal any more: 7 does not divide" in explained(
        capsys, stale.name_in(problem().key)
    )


def test_the_planner_is_a_step_too(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    p = problem(target="avx2")
    planned = Trial(Space(p, random.Random(0)).as_planned.text, "ok", samples=(1.0,))
    Records(tmp_path / "records.sqlite").add(p, planned)
    found = json.loads(explained(capsys, planned.name_in(p.key), "--json"))
    (step,) = found["steps"]
    assert step["move"].startswith("plan")
    assert "vector" in step["effect"]
    assert (found["target"], found["sizes"], found["baselines"]) == ("avx2", {}, {})


@pytest.mark.parametrize("start", [True, False])
def test_the_shipped_schedule_is_told_whatever_moves_made_its_code(
    start: bool, names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = bind(read_kernel("matmul"), {"M": 8, "N": 24, "K": 8})
    verify(bound)
    p, shipped = Problem(bound, Setting(get_target("avx2"))), default_schedule("matmul", "avx2")
    assert shipped is not None
    text = Space(p, random.Random(0)).of_schedule(shipped).text
    if start:  # the same code: a mark that comes and goes
        head, *rest = text.splitlines()
        text = "\n".join((head, "unroll k", "sequential k", *rest)) + "\n"
    records = Records(tmp_path / "records.sqlite")
    records.add(p, Trial("", "ok", samples=(3.0,), search="start"))
    records.add(p, Trial(text, "ok", samples=(6.0,), search="start"))
    found = json.loads(explained(capsys, "matmul", "--json"))
    assert found["baselines"] == {"planned": 3.0, "shipped": 6.0}


def test_moves_of_another_version_hide_nothing_else(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = Trial("schedule rows\nteleport k\nend\n", "ok", samples=(1.0,), search="start")
    Records(tmp_path / "records.sqlite").add(problem(), new)
    assert "trial 2 of 5" in explained(capsys, names[1])
    assert main(["explain", new.name_in(problem().key)]) == 1
    assert "no transformation 'teleport'" in capsys.readouterr().err


def test_json_has_all_of_it(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = json.loads(explained(capsys, names[1], "--json"))
    assert (found["record"], found["kernel"], found["cost"]) == (names[1], "rows", 2e-6)
    assert found["baselines"] == {"planned": 4e-6}
    assert [s["move"] for s in found["steps"]] == ["tile_scope k 8", "unroll k_i"]
    assert {m["name"] for m in found["moves"]} == set(transform_names())
    assert found["error"] is None


def test_unknown_and_ambiguous_words_are_told_with_what_there_is(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "row"]) == 1
    said = capsys.readouterr().err
    assert "no trial and no tuned kernel is called 'row'" in said
    assert "did you mean 'rows'?" in said
    records = Records(tmp_path / "records.sqlite")
    for n in range(40):
        records.add(
            problem(target="avx2"), Trial(f"schedule rows\nunroll k\n# {n}\nend\n", "crash", "SIGSEGV")
        )
    assert main(["explain", names[1][0]]) == 1
    said = capsys.readouterr().err
    assert f"'{names[1][0]}' begins the names of" in said
    assert re.search(r"^  [0-9a-f]{12}  rows · (c|avx2) · ", said, re.MULTILINE)
    assert main(["explain", "row", "--json"]) == 1
    assert "no trial" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["explain", "rows", "--file", str(tmp_path / "none")]) == 1
    assert "there are no records" in capsys.readouterr().err


def test_the_same_schedule_on_two_problems_has_two_names(names: list[str], tmp_path: Path) -> None:
    assert TRIALS[0].name_in(problem(target="avx2").key) != names[0]
