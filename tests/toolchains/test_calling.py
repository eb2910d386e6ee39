"""A run is called straight in C: what it returns, raises, keeps alive, and lets threads do meanwhile."""

from __future__ import annotations

import copy
import gc
import sys
import sysconfig
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import perfdojo
from perfdojo import calling
from perfdojo.calling import Run
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.loading import Kernel
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import shared_library
from perfdojo.toolchains.vectorcall import HELD_WORK
from tests.toolchains.kernels import ADD, N, kernel, loop, vector

DIRECT = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
needs_direct = pytest.mark.skipif(not DIRECT, reason="runs go through ctypes here")
SWAP = kernel("int k = a[0]; d[0] = k; e[0] = k + 1;", tuple(vector(n, r, "i32", 1) for n, r in
              (("a", "in"), ("d", "out"), ("e", "out"))))  # fmt: skip
NOTHING = kernel("n[0] += 1;", (vector("n", "inout", "i32", 1),))
POOR = kernel("d[0] = s[0]; return s[0] > 0;")
NAP = "{ struct timespec t = {0, 1000000}; nanosleep(&t, 0); d[i] = s[i]; }"
SLOW = replace(kernel(loop(NAP, 200), includes=("time.h",)), flops=HELD_WORK)

Make = Callable[[EmittedSource], Kernel]


@pytest.fixture
def loaded(host: Host, tmp_path: Path) -> Make:
    def make(emitted: EmittedSource) -> Kernel:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.so"  # one that is loaded is not loaded again
        made = shared_library(emitted, path, host)
        assert isinstance(made, Path), made
        return perfdojo.load(made)

    return make


@pytest.fixture
def through_ctypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "_direct", lambda: None)


def test_a_run_returns_the_outputs(loaded: Make) -> None:
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    run = loaded(ADD).on(x, out)
    assert isinstance(run, Run)
    assert (type(run) is not Run) is DIRECT
    assert run() is out
    assert np.array_equal(out, x + 1)
    x += 1
    assert [run() is out for _ in range(1000)] == [True] * 1000
    assert np.array_equal(out, x + 1)
    assert run.arrays[0] is x
    assert run.kernel.name == "k"
    assert repr(run).startswith("Run(k(")


def test_several_outputs_are_a_tuple_and_none_is_none(loaded: Make) -> None:
    a, n = np.array([4], np.int32), np.zeros(1, np.int32)
    swap = loaded(SWAP).on(a)
    d, e = swap()  # type: ignore[misc]
    assert (int(d[0]), int(e[0])) == (4, 5)
    count = loaded(NOTHING).on(n)
    assert count() is None
    assert n[0] == 1


def test_no_arguments_are_taken(loaded: Make) -> None:
    n = np.zeros(1, np.int32)
    run: Callable[..., object] = loaded(NOTHING).on(n)
    with pytest.raises(TypeError, match="argument"):
        run(1)
    with pytest.raises(TypeError, match="argument"):
        run(x=1)
    with pytest.raises(TypeError, match="argument"):
        run(*range(3), **{"y": n})
    assert n[0] == 0
    assert [run(*(), **{}) for _ in range(2)] == [None] * 2
    assert n[0] == 2


def test_a_temporary_that_cannot_be_had_is_a_memory_error(loaded: Make) -> None:
    s = np.zeros(N, np.float32)
    run = loaded(POOR).on(s)
    run()
    s[0] = 1
    for call in (run, run.__call__):
        with pytest.raises(MemoryError, match=r"^kernel k could not allocate a temporary$"):
            call()
    s[0] = 0
    run()


def test_the_same_through_ctypes(loaded: Make, through_ctypes: None) -> None:
    x = np.arange(N, dtype=np.float32)
    run = loaded(ADD).on(x)
    assert type(run) is Run
    assert np.array_equal(run(), x + 1)  # type: ignore[arg-type]
    with pytest.raises(MemoryError, match="could not allocate"):
        loaded(POOR).on(x + 1)()


def test_a_library_without_the_function_goes_through_ctypes(
    loaded: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perfdojo.toolchains.host.vectorcall_file", lambda emitted: ("none.c", "\n"))
    x = np.arange(N, dtype=np.float32)
    run = loaded(ADD).on(x)
    assert type(run) is Run
    assert np.array_equal(run(), x + 1)  # type: ignore[arg-type]


def test_a_copy_runs_too(loaded: Make) -> None:
    n = np.zeros(1, np.int32)
    run = loaded(NOTHING).on(n)
    copy.copy(run)()
    assert n[0] == 1
    with pytest.raises(AttributeError):
        run.arrays = ()  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        run.other = 1  # type: ignore[attr-defined]


def test_references_are_neither_lost_nor_kept(loaded: Make) -> None:
    kernel, x, out = loaded(ADD), np.zeros(N, np.float32), np.zeros(N, np.float32)
    run = kernel.on(x, out)
    before = [sys.getrefcount(v) for v in (out, x, run, None)]
    for _ in range(10_000):
        run()
    after = [sys.getrefcount(v) for v in (out, x, run, None)]
    assert all(abs(a - b) < 100 for a, b in zip(before, after, strict=True))
    swap = loaded(NOTHING).on(np.zeros(1, np.int32))
    before = [sys.getrefcount(None)]
    for _ in range(10_000):
        swap()
    assert abs(sys.getrefcount(None) - before[0]) < 100


def test_a_run_keeps_its_arrays_and_goes_with_them(loaded: Make) -> None:
    kernel, x = loaded(ADD), np.ones(N, np.float32)
    gone = weakref.ref(x)
    result = (run := kernel.on(x))()
    del x
    gc.collect()
    assert gone() is not None
    assert np.array_equal(run(), np.full(N, 2, np.float32))  # type: ignore[arg-type]
    kinds = sys.getrefcount(type(run))
    del run
    gc.collect()
    assert gone() is None
    assert isinstance(result, np.ndarray)
    assert result[0] == 2
    for _ in range(1000):
        kernel.on(np.ones(N, np.float32))()
    gc.collect()
    assert abs(sys.getrefcount(type(kernel.on(result.copy()))) - kinds) < 3


def test_a_cycle_through_a_run_is_collected(loaded: Make) -> None:
    class Holder(np.ndarray):
        run: Run

    x = np.ones(N, np.float32).view(Holder)
    x.run = loaded(ADD).on(x)
    gone = weakref.ref(x)
    x.run()
    del x
    gc.collect()
    assert gone() is None


@needs_direct
def test_a_long_kernel_lets_other_threads_run(loaded: Make) -> None:
    slow = loaded(SLOW).on(np.ones(N, np.float32))
    thread = threading.Thread(target=slow)
    steps, begin = 0, time.perf_counter()
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
        steps += 1
    assert time.perf_counter() - begin > 0.19
    assert steps > 10


@pytest.mark.parametrize("work", [0, HELD_WORK])
def test_threads_may_call_one_run(loaded: Make, work: int) -> None:
    x, out = np.ones(N, np.float32), np.zeros(N, np.float32)
    run = loaded(replace(ADD, flops=work)).on(x, out)
    same: list[bool] = []

    def call() -> None:
        same.append(all(run() is out for _ in range(5000)))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert same == [True] * 4


@needs_direct
def test_a_call_costs_less_than_one_through_ctypes(loaded: Make) -> None:
    """By a wide margin: 16 ns where ctypes takes 200."""

    def best(call: Callable[[], object]) -> float:
        times = []
        for _ in range(50):
            begin = time.perf_counter()
            for _ in range(200):
                call()
            times.append(time.perf_counter() - begin)
        return min(times)

    run = loaded(NOTHING).on(np.zeros(1, np.int32))
    assert best(run) < best(run.__call__) / 2
