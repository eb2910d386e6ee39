"""Who runs when, how a slot becomes a time, and what happens to a process that dies."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers import worker as worker_module
from benchmarks.peers.measure import Cell, Schedule, in_turn
from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported, returned
from benchmarks.peers.process import Worker
from benchmarks.peers.references import reference
from benchmarks.peers.registry import find
from benchmarks.peers.worker import attempted, calls_for, settle, slot
from benchmarks.suite import benchmarks
from tests.benchmarks.small import task


class Recorded:
    """Stands for a process; answers what it is given, and writes its turn down."""

    def __init__(self, name: str, turns: list[str], answers: list[dict[str, Any]] | None = None) -> None:
        self.name, self.turns, self.answers = name, turns, answers or []

    def run(self, slot_s: float) -> dict[str, Any]:
        self.turns.append(self.name)
        return self.answers.pop(0) if self.answers else {"ok": True, "seconds": slot_s}


def turns(rounds: int, **calls: float) -> tuple[str, dict[str, Cell]]:
    order: list[str] = []
    cells = {n: Cell() for n in calls}
    ready: Any = {n: (Recorded(n, order), s) for n, s in calls.items()}
    in_turn(ready, cells, Schedule(rounds, 0.01, 1.0))
    return "".join(order), cells


def test_the_order_is_reversed_every_second_round() -> None:
    order, cells = turns(3, a=1e-3, b=1e-3, c=1e-3)
    assert order == "abccbaabc"
    assert cells["a"].seconds == [0.01] * 3


def test_slow_systems_run_in_the_first_rounds_only() -> None:
    order, cells = turns(5, a=1e-3, b=1.0)
    assert order == "abbaabaa"
    assert len(cells["b"].seconds) == 3


def test_one_that_fails_is_a_gap_and_does_not_run_again() -> None:
    order: list[str] = []
    cells = {"a": Cell()}
    failing = Recorded("a", order, [{"ok": True, "seconds": 1.0}, {"ok": False, "why": "it ended"}])
    ready: Any = {"a": (failing, 1e-3)}
    in_turn(ready, cells, Schedule(5, 0.01, 1.0))
    assert (order, cells["a"].gap) == (["a", "a"], "it ended")


def test_a_sample_is_as_many_calls_as_take_long_enough() -> None:
    assert [calls_for(s) for s in (0.0, 1e-6, 3e-5, 1.0)] == [100_000, 100, 3, 1]


def test_a_slot_gives_the_time_of_a_call() -> None:
    asked: list[int] = []

    def seconds(calls: int) -> float:
        asked.append(calls)
        return calls * 2e-6

    prepared = Prepared(lambda: None, lambda: np.zeros(0), seconds)
    assert slot(prepared, 0.001) == pytest.approx(2e-6)
    assert asked[0] == 1
    assert set(asked[1:]) == {50}


def test_a_long_call_is_not_repeated_for_warming_up() -> None:
    asked: list[int] = []

    def seconds(calls: int) -> float:
        asked.append(calls)
        return 1.5

    assert slot(Prepared(lambda: None, lambda: np.zeros(0), seconds), 0.01) == 1.5
    assert asked == [1]


def test_memory_has_settled_when_calls_touch_no_new_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    settle(lambda: calls.append(None))
    assert len(calls) == 3
    monkeypatch.setattr(worker_module, "SETTLE_S", 0.5)
    kept: list[object] = []
    settle(lambda: kept.append(np.ones(1 << 19)))  # more than what is free from before
    assert len(kept) > 3


def test_the_last_result_is_freed_before_the_next_call() -> None:
    seen = []
    call, kept = returned(lambda: seen.append(kept[0]) or "result")  # type: ignore[func-returns-value]
    call()
    call()
    assert (seen, kept) == ([None, None], ["result"])


def test_failures_are_told_whatever_they_are() -> None:
    class Failing(Peer):
        def prepare(self, task: Task, threads: int) -> Prepared:
            raise Unsupported("no such product") if threads == 1 else MemoryError("x" * 1000)

    def ask(threads: int) -> dict[str, Any]:
        return attempted(lambda: {"made": Failing().prepare(task("add"), threads)})

    assert ask(1) == {"ok": False, "why": "no way to do it: no such product"}
    assert ask(2)["why"] == "MemoryError: " + "x" * 300


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Worker]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = Worker(find("numpy"), Path(sys.executable), 1, sorted(os.sched_getaffinity(0))[-1:])
    yield made
    made.stop()


def test_a_process_prepares_checks_runs_and_is_replaced_when_it_dies(worker: Worker, tmp_path: Path) -> None:
    b = benchmarks()[0]
    inputs = b.generate()
    for n, values in inputs.items():
        np.save(tmp_path / f"{n}.npy", values)
    expected = reference(b, inputs)
    np.save(tmp_path / "expected.npy", expected)
    assert worker.version.startswith(np.__version__)
    assert worker.prepare(b.name, tmp_path, 30.0)["ok"]
    assert 0 < worker.run(0.001)["seconds"] < math.inf
    os.kill(worker._process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker._process.pid, os.WEXITED | os.WNOWAIT)  # dead before it is asked
    assert worker.prepare(b.name, tmp_path, 30.0)["why"].startswith("its process ended")
    np.save(tmp_path / "expected.npy", expected + 1)
    assert "wrong result" in worker.prepare(b.name, tmp_path, 30.0)["why"]
