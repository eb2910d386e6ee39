"""Records: nothing that was committed is lost, whoever writes beside, and whatever ends a writer."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.tuning.records import Records
from perfdojo.tuning.trial import Trial
from tests.tuning.problems import ROWS, problem

WRITER = """
import sys
from pathlib import Path
from perfdojo.tuning.records import Records
from perfdojo.tuning.trial import Trial
from tests.tuning.problems import problem
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
records, p = Records(Path(path)), problem()
for n in range(count):
    records.add(p, Trial(f"{name} {n}", "ok", samples=(float(n),)))
    print(n, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_trials_come_back(tmp_path: Path) -> None:
    records, p = Records(tmp_path / "r.sqlite"), problem()
    trials = [
        Trial("a", "ok", samples=(3.0, 1.0, 2.0), search="greedy", seed=7, at=1.5),
        Trial("b", "wrong-result", "y[0] is 1, not 2"),
        Trial("c", "ok", samples=(9.0,), cut=True),
    ]
    for t in trials:
        records.add(p, t)
    assert Records(tmp_path / "r.sqlite").trials(p) == trials
    assert records.best(p) == trials[0]
    assert records.best(problem(target="avx2")) is None
    (row,) = records.problems()
    assert (row["kernel"], row["trials"]) == ("rows", 3)


def test_the_winner_of_a_search_is_the_best(tmp_path: Path) -> None:
    records, p = Records(tmp_path / "r.sqlite"), problem()
    for t in (
        Trial("", "ok", samples=(5.0,)),
        Trial("lucky", "ok", samples=(1.0,)),
        Trial("b", "ok", samples=(3.0,)),
    ):
        records.add(p, t)
    assert not records.is_settled(p)
    records.settle(p, [("b", (3.5, 3.6, 3.4)), ("lucky", (4.0,))])
    assert records.is_settled(p)
    best = records.best(p)
    assert best is not None
    assert (best.schedule, best.cost) == ("b", 3.5)
    other = Records(tmp_path / "other.sqlite")
    other.load(records.dump())
    assert other.best(p) == best
    records.settle(p, [("lucky", (0.9,))])
    assert (records.best(p) or best).schedule == "lucky"


def test_the_best_of_other_sizes_is_known(tmp_path: Path) -> None:
    records, p = Records(tmp_path / "r.sqlite"), problem()
    wide = problem(ROWS.replace("40", "48"))
    for t in (Trial("a", "ok", samples=(3.0,)), Trial("b", "ok", samples=(2.0,)), Trial("c", "crash")):
        records.add(wide, t)
    records.add(problem(ROWS, "avx2"), Trial("d", "ok", samples=(1.0,)))
    records.add(p, Trial("e", "ok", samples=(1.0,)))
    assert [t.schedule for t in records.relatives(p, 3)] == ["b"]
    assert records.relatives(p, 0) == []


def test_a_schedule_has_one_trial(tmp_path: Path) -> None:
    records, p = Records(tmp_path / "r.sqlite"), problem()
    records.add(p, Trial("a", "ok", samples=(5.0,), cut=True))
    records.add(p, Trial("a", "ok", samples=(4.0,)))
    records.add(p, Trial("a", "ok", samples=(3.0,)))
    (kept,) = records.trials(p)
    assert (kept.samples, kept.cut) == ((4.0,), False)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_eight_writers_lose_nothing(tmp_path: Path, count: int) -> None:
    path = tmp_path / "r.sqlite"
    writers = [writer(path, f"w{k}", count) for k in range(8)]
    for w in writers:
        w.communicate()
        assert w.returncode == 0
    assert len(Records(path).trials(problem())) == 8 * count


@pytest.mark.parametrize("rounds", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_a_killed_writer_loses_nothing_that_it_said(tmp_path: Path, rounds: int) -> None:
    path = tmp_path / "r.sqlite"
    for k in range(rounds):
        w = writer(path, f"round{k}", 100_000)
        assert w.stdout is not None
        w.stdout.readline()
        time.sleep(0.003 * (k % 20))
        os.kill(w.pid, signal.SIGKILL)
        said = sum(1 for _ in w.stdout) + 1
        w.wait()
        kept = [t for t in Records(path).trials(problem()) if t.schedule.startswith(f"round{k} ")]
        assert len(kept) in (said, said + 1)
    with sqlite3.connect(path) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)


def test_lines_for_people_and_git(tmp_path: Path) -> None:
    records, p = Records(tmp_path / "r.sqlite"), problem()
    records.add(p, Trial("a", "ok", samples=(3.0,)))
    records.add(p, Trial("b", "crash", "SIGSEGV"))
    lines = list(records.dump())
    assert json.loads(lines[0])["problem"]["kernel"] == "rows"
    other = Records(tmp_path / "other.sqlite")
    assert other.load(lines) == 2
    assert other.load(lines) == 0
    assert list(other.dump()) == lines
    with pytest.raises(PerfDojoError, match="line 2 is no record"):
        other.load([lines[0], "{}"])


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0 but broken"])
def test_files_that_are_none_are_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.sqlite"
    path.write_bytes(content)
    with pytest.raises(PerfDojoError, match="is no file of records"):
        Records(path)
    assert path.read_bytes() == content


def test_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")
    with pytest.raises(PerfDojoError, match="another version"):
        Records(path)


@pytest.mark.parametrize("table", ["mine (x integer)", "trials (x integer)"])
def test_databases_of_others_are_left_alone(tmp_path: Path, table: str) -> None:
    path = tmp_path / "r.sqlite"
    with sqlite3.connect(path) as db:
        db.execute(f"create table {table}")
    before = path.read_bytes()
    with pytest.raises(PerfDojoError, match="is no file of records: something else made it"):
        Records(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PerfDojoError, match="cannot make the folder"):
        Records(tmp_path / "file" / "r.sqlite")
    with pytest.raises(PerfDojoError, match="records cannot be kept"):
        Records(tmp_path)


def test_a_file_that_stays_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfdojo.tuning.records.BUSY_S", 0.01)
    records = Records(tmp_path / "r.sqlite")
    with sqlite3.connect(records.path) as db:
        db.execute("begin immediate")
        with pytest.raises(PerfDojoError, match=r"records cannot be kept in .*locked"):
            records.add(problem(), Trial("a", "ok", samples=(3.0,)))
