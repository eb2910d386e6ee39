"""Measuring: samples, their statistics, and the same names for what goes wrong."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, build, measure
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.results import Measurement
from perfdojo.toolchains.statistics import median, median_interval, spread
from tests.toolchains.kernels import ADD, kernel, loop, ramp, vector


def built(host: Host, body: str, **more: object) -> Built:
    made = build(kernel(body, **more), host)  # type: ignore[arg-type]
    assert isinstance(made, Built), made
    return made


def test_samples_and_their_statistics(host: Host) -> None:
    made = build(ADD, host)
    assert isinstance(made, Built)
    m = measure(made, ramp(), budget_s=0.2)
    assert (m.outcome, m.threads, m.cache) == ("ok", 1, "hot")
    assert len(m.samples_s) >= 20
    assert m.min_s == min(m.samples_s) <= m.median_s == median(m.samples_s)
    assert m.median_s > 1e-9
    assert m.repeat * m.median_s > 20e-6
    assert m.interval_s == median_interval(m.samples_s)
    assert len(m.cpus) == 1
    assert m.cpus[0] in os.sched_getaffinity(0)


def test_twice_the_work_takes_about_twice_the_time(host: Host) -> None:
    body = "float x = s[0]; for (int i = 0; i < {n}; i++) x = x * 0.5f + 1; d[0] = x;"
    arguments = (vector("s", "in"), vector("d", "out"))
    times = [
        measure(built(host, body.format(n=n), arguments=arguments), ramp(), budget_s=0.3).min_s
        for n in (20_000, 40_000)
    ]
    assert 1.6 < times[1] / times[0] < 2.5


def test_cold_is_slower_than_hot(host: Host) -> None:
    n = 200_000
    arguments = (vector("s", "in", n=n), vector("d", "out", n=n))
    made = built(host, loop("d[i] = s[i] + 1;", n), arguments=arguments)
    hot, cold = (measure(made, ramp(n), budget_s=0.3, cache=c) for c in ("hot", "cold"))
    assert (cold.outcome, cold.cache, cold.repeat) == ("ok", "cold", 1)
    assert cold.min_s > hot.min_s


def test_a_call_longer_than_the_budget_is_still_measured(host: Host) -> None:
    sleep = "struct timespec t = {0, 50000000}; nanosleep(&t, 0); d[0] = s[0];"
    made = built(host, sleep, includes=("time.h",), flags=("-std=gnu11",))
    m = measure(made, ramp(), budget_s=0.05)
    assert (m.outcome, len(m.samples_s), m.repeat, m.interval_s) == ("ok", 1, 1, None)
    assert 0.05 <= m.median_s < 0.5
    assert m.notes[0].startswith("the processor was shared: the kernel ran for")


def test_inout_is_put_back_before_each_sample(host: Host) -> None:
    """The kernel, some 10 us long, counts its calls in x and gives up when they are too many for a sample."""
    arguments = (vector("x", "inout", "i64", 1),)
    body = "if (x[0]++ > 300) abort(); for (volatile int i = 0; i < 10000; i++) {}"
    m = measure(built(host, body, arguments=arguments), {"x": np.zeros(1, np.int64)}, budget_s=0.1)
    assert m.outcome == "ok", m.text
    assert m.repeat * len(m.samples_s) > 300


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("d[0] = s[0]; abort();", "crash"),
        ("d[0] = s[0]; return 1;", "out-of-memory"),
        ("d[-1] = s[0];", "memory-overwrite"),
        ("static int calls; if (calls++ > 3) d[-1] = s[0];", "memory-overwrite"),
        ("static int calls; d[0] = s[0]; if (calls++ > 3) return 1;", "out-of-memory"),
        ("static int calls; d[0] = s[0]; if (calls++ > 3) for (volatile int i = 0;; i++) {}", "timeout"),
    ],
    ids=["abort", "return", "write", "late write", "late return", "late hang"],
)
def test_what_goes_wrong_has_a_name(host: Host, body: str, outcome: str) -> None:
    m = measure(built(host, body), ramp(), budget_s=0.05, timeout_s=1.0)
    assert m.outcome == outcome
    assert m.text
    assert m.samples_s == ()


def test_what_is_not_timed_says_why(host: Host) -> None:
    m = measure(built(host, loop("d[i] = s[i];"), requires=("avx9",)), ramp())
    assert m == Measurement("not-runnable", "this CPU has no avx9: built, neither run nor timed")


def test_more_threads_than_processors_is_noted(host: Host) -> None:
    many = len(host.cpu.processors) + 1
    made = build(ADD, host)
    assert isinstance(made, Built)
    m = measure(made, ramp(), budget_s=0.02, threads=many)
    assert m.notes[0] == f"{many} threads on {many - 1} processors"


def test_measurements_wait_for_each_other(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with alone(tmp_path / "lock") as note:
            order.append(f"second{note}")

    with alone(tmp_path / "lock") as note:
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append(f"first{note}")
    thread.join()
    assert order == ["first", "second"]


def test_a_lock_that_cannot_be_had_is_noted(tmp_path: Path) -> None:
    with alone(tmp_path / "lock"), alone(tmp_path / "lock", wait_s=0.02) as note:
        assert note == "other measurements were running (waited 0.02 s)"
    with alone(tmp_path / "no folder" / "lock") as note:
        assert note.startswith("measured without a lock")


def test_the_interval_of_the_median_covers_it_in_95_of_100_cases() -> None:
    """Skewed samples; 2000 cases: three standard deviations of the count are 1.5 %."""
    rng = np.random.default_rng(1)
    for n in (8, 25, 100):
        intervals = [median_interval(rng.exponential(size=n).tolist()) for _ in range(2000)]
        covered = np.mean([i is not None and i[0] <= np.log(2) <= i[1] for i in intervals])
        assert covered > 0.935, n


def test_statistics_of_small_samples() -> None:
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0]) == 2.5
    assert spread([1.0, 2.0, 3.0]) == 0.5
    assert spread([1.0]) == 0.0
    assert median_interval([1.0] * 7) is None
    assert median_interval([float(k) for k in range(8)]) == (0.0, 7.0)
