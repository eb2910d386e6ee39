"""Trials that last: an SQLite file in the user's data folder, which several searches may share.

Each trial is one transaction, so what was measured is there whatever happens then. A problem is stored with
all that decides whether its trials can be compared with others.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.tuning.lines import PROBLEM, read_line
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.trial import Trial

VERSION = 1
BUSY_S = 60.0
"""A writer waits so long for others."""
ELSEWHERE = "move it away, or name another file: PERFDOJO_RECORDS=FILE"

_TABLES = """
create table if not exists problems (
  key text primary key, kernel text not null, text text not null, sizes text not null, target text not null,
  fp text not null, threads integer not null, machine text not null, unit text not null
);
create table if not exists trials (
  id integer primary key, problem text not null references problems(key), schedule text not null,
  outcome text not null, detail text not null, samples text not null, cut integer not null,
  search text not null, seed integer not null, at real not null, day text not null, version text not null,
  unique (problem, schedule)
);
create table if not exists finals (
  problem text not null references problems(key), place integer not null, schedule text not null,
  samples text not null, unique (problem, place)
);
"""
_TRIAL = "schedule, outcome, detail, samples, cut, search, seed, at"


class Records:
    """The trials in one file.

    Raises:
        PerfDojoError: the file is no such file, or another version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PerfDojoError(f"cannot make the folder {path.parent}: {error.strerror}") from None
        with self._open() as db:
            found = db.execute("pragma user_version").fetchone()[0]
            if found not in (0, VERSION):
                raise PerfDojoError(
                    f"{path} was written by another version of perfdojo",
                    hint="move it away, or export it with that version",
                )
            if found == 0 and not _tables(db) <= _our_tables():
                raise PerfDojoError(f"{path} is no file of records: something else made it", hint=ELSEWHERE)
            db.execute("pragma journal_mode = wal")
            db.executescript(_TABLES)
            db.execute(f"pragma user_version = {VERSION}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_S)) as db:
                db.execute("pragma synchronous = normal")
                with db:
                    yield db
        except sqlite3.OperationalError as error:
            raise PerfDojoError(f"records cannot be kept in {self.path}: {error}", hint=ELSEWHERE) from None
        except sqlite3.DatabaseError as error:
            raise PerfDojoError(f"{self.path} is no file of records: {error}", hint=ELSEWHERE) from None

    # ------------------------------------------------------------ writing

    def add(self, problem: Problem, trial: Trial) -> None:
        """Keep a trial; one with the same schedule takes the place of an older one that was cut."""
        row = (problem.key, problem.bound.name, problem.text, json.dumps(problem.sizes), problem.target)
        more = (problem.setting.fp, problem.threads, json.dumps(problem.machine), problem.unit)
        with self._open() as db:
            db.execute("insert or ignore into problems values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, *more))
            _insert(db, problem.key, trial, time.strftime("%Y-%m-%d"), version("perfdojo"))

    def settle(self, problem: Problem, finals: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Keep how a search ended: schedules with the samples that were taken in turn, the winner first."""
        rows = [(problem.key, n, text, json.dumps(list(s))) for n, (text, s) in enumerate(finals)]
        with self._open() as db:
            db.execute("delete from finals where problem = ?", (problem.key,))
            db.executemany("insert into finals values (?, ?, ?, ?)", rows)

    def load(self, lines: Iterable[str]) -> int:
        """Add what `dump` gave; return how many trials were new.

        Raises:
            PerfDojoError: a line is no record; nothing was added.
        """
        count = 0
        with self._open() as db:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    made = read_line(line)
                except ValueError as error:
                    raise PerfDojoError(f"line {number} is no record: {error}") from None
                key = made.problem["key"]
                values = [json.dumps(v) if isinstance(v, dict | list) else v for v in made.problem.values()]
                db.execute("insert or ignore into problems values (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
                count += _insert(db, key, made.trial, made.day, made.version)
                if made.place is not None:
                    row = (key, made.place, made.trial.schedule, json.dumps(made.final))
                    db.execute("insert or ignore into finals values (?, ?, ?, ?)", row)
        return count

    # ------------------------------------------------------------ reading

    def trials(self, problem: Problem) -> list[Trial]:
        """Return the trials of a problem in the order they were made."""
        return self.of_key(problem.key)

    def of_key(self, key: str) -> list[Trial]:
        """Return the trials of the problem with this key."""
        with self._open() as db:
            rows = db.execute(f"select {_TRIAL} from trials where problem = ? order by id", (key,))
            return [_trial(r) for r in rows]

    def best(self, problem: Problem) -> Trial | None:
        """Return the fastest trial of a problem that was right; None where there is none."""
        return self.best_of(problem.key)

    def is_settled(self, problem: Problem) -> bool:
        """Tell whether a search for a problem came to its end, where the best ones are measured in turn."""
        with self._open() as db:
            found = db.execute("select 1 from finals where problem = ? limit 1", (problem.key,))
            return found.fetchone() is not None

    def best_of(self, key: str) -> Trial | None:
        """Return the fastest trial that was right of the problem with this key; None where there is none.

        That is the winner of the last search that came to its end, with the samples it has from there: among
        hundreds of trials the fastest one is also the luckiest.
        """
        trials = self.of_key(key)
        with self._open() as db:
            row = db.execute(
                "select schedule, samples from finals where problem = ? and place = 0", (key,)
            ).fetchone()
        won = next((t for t in trials if row and t.schedule == row[0] and t.outcome == "ok"), None)
        if won is not None:
            return replace(won, samples=tuple(json.loads(row[1])), cut=False)
        found = [t for t in trials if t.cost is not None and not t.cut]
        return min(found, key=lambda t: t.cost or 0.0, default=None)

    def relatives(self, problem: Problem, most: int) -> list[Trial]:
        """Return the best schedules of a kernel on the same target at other sizes, or on other machines.

        One for each problem, the last ones first; what is fastest without a schedule teaches nothing.
        """
        with self._open() as db:
            keys = [
                r[0]
                for r in db.execute(
                    "select p.key from problems p join trials t on t.problem = p.key where p.kernel = ?"
                    " and p.target = ? and p.unit = ? and p.key != ? group by p.key order by max(t.id) desc",
                    (problem.bound.name, problem.target, problem.unit, problem.key),
                )
            ]
        found = [self.best_of(key) for key in keys[:most]]
        return [t for t in found if t is not None and t.schedule]

    def problems(self) -> list[Mapping[str, Any]]:
        """Return each problem with its number of trials, and number and day of the last one."""
        with self._open() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute(
                "select p.*, count(t.id) as trials, max(t.day) as day, max(t.id) as last from problems p"
                " join trials t on t.problem = p.key group by p.key order by p.kernel, p.target, last"
            )
            found = [dict(r) for r in rows]
        return [r | {k: json.loads(r[k]) for k in ("sizes", "machine")} for r in found]

    def dump(self) -> Iterator[str]:
        """Yield each trial with its problem as a line of JSON."""
        with self._open() as db:
            db.row_factory = sqlite3.Row
            for r in db.execute(
                "select p.*, t.*, f.place, f.samples as final from problems p"
                " join trials t on t.problem = p.key left join finals f on f.problem = p.key"
                " and f.schedule = t.schedule order by t.id"
            ):
                problem = {k: r[k] for k in PROBLEM}
                problem |= {k: json.loads(r[k]) for k in ("sizes", "machine")}
                trial = {k: r[k] for k in ("schedule", "outcome", "detail", "search", "seed", "at")}
                trial |= {"samples": json.loads(r["samples"]), "cut": bool(r["cut"])}
                whole = {"problem": problem, "trial": trial, "day": r["day"], "version": r["version"]}
                if r["place"] is not None:
                    whole["final"] = {"place": r["place"], "samples": json.loads(r["final"])}
                yield json.dumps(whole, sort_keys=True)


def _tables(db: sqlite3.Connection) -> set[str]:
    return {r[0] for r in db.execute("select sql from sqlite_master where type = 'table'")}


def _our_tables() -> set[str]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_TABLES)
        return _tables(db)


def _insert(db: sqlite3.Connection, key: str, t: Trial, day: str, made_by: str) -> int:
    values = (key, t.schedule, t.outcome, t.detail, json.dumps(t.samples), int(t.cut), t.search, t.seed, t.at)
    done = db.execute(
        f"insert into trials (problem, {_TRIAL}, day, version) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (problem, schedule) do update set outcome = excluded.outcome, detail = excluded.detail,"
        " samples = excluded.samples, cut = excluded.cut where trials.cut and not excluded.cut",
        (*values, day, made_by),
    )
    return done.rowcount


def _trial(row: tuple[Any, ...]) -> Trial:
    schedule, outcome, detail, samples, cut, search, seed, at = row
    return Trial(schedule, outcome, detail, tuple(json.loads(samples)), bool(cut), search, seed, at)
