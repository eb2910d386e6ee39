"""The code that talks to CuPy, against a stand-in for it: memory of the host, a clock that counts calls."""

from __future__ import annotations

import ctypes
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cuda.gpu import NO_GPU, architecture, find_gpu, measure_on_gpu, run_on_gpu
from perfdojo.toolchains.harness import Host
from tests.toolchains.cuda.kernels import vectors
from tests.toolchains.cuda.stand_in.cupy import Array, Device

TWICE = """
int calls;
int twice(const float *x, float *y, void *stream)
{
    calls++;
    for (int i = 0; i < 8; i++) y[i] = 2 * x[i];
    return stream == (void *)7 ? 0 : 3;
}
"""
EMITTED = EmittedSource("twice", "cuda", "twice", vectors("x", 8, "y", 8), ())
INPUTS = {"x": np.arange(8, dtype=np.float32)}


class Filled(Array):
    def fill(self, value: int) -> None:
        self.values.fill(value)


class WithCache(Device):
    attributes = {"L2CacheSize": 1024}  # noqa: RUF012


def stand_in(devices: int, library: Path | None = None, stream: int = 7) -> types.ModuleType:
    module: Any = types.ModuleType("cupy")
    module.flushed = 0
    calls = ctypes.c_int.in_dll(ctypes.CDLL(str(library)), "calls") if library else ctypes.c_int(0)

    class Event:
        def record(self) -> None:
            self.at = calls.value

        def synchronize(self) -> None:
            pass

    def zeros(size: int, dtype: str) -> Array:
        module.flushed += 1
        return Filled(np.zeros(size, dtype))

    module.asarray = lambda a: Array(a.copy())
    module.zeros = zeros
    module.cuda = types.SimpleNamespace(
        Device=WithCache,
        Event=Event,
        get_elapsed_time=lambda a, b: 0.01 * (b.at - a.at),
        get_current_stream=lambda: types.SimpleNamespace(ptr=stream, synchronize=lambda: None),
        runtime=types.SimpleNamespace(getDeviceCount=lambda: devices),
    )
    return module  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def library(host: Host) -> Path:
    made = build_files(
        BuildRequest("twice", "shared", (("twice.c", TWICE),)), host.compiler, host.cpu, host.places
    )
    assert isinstance(made, Artifact)
    return made.path


def test_without_cupy_or_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    monkeypatch.setitem(sys.modules, "cupy", stand_in(0))
    assert find_gpu() == NO_GPU
    assert run_on_gpu(EMITTED, library, INPUTS).text == NO_GPU
    assert measure_on_gpu(EMITTED, library, INPUTS).outcome == "not-runnable"
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert find_gpu().startswith((NO_GPU, "a GPU, but no CuPy"))


def test_a_kernel_runs(monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    monkeypatch.setitem(sys.modules, "cupy", stand_in(1, library))
    assert (find_gpu(), architecture()) == ("", "sm_90")
    result = run_on_gpu(EMITTED, library, INPUTS)
    assert result.outcome == "ok"
    np.testing.assert_array_equal(result.outputs["y"], 2 * INPUTS["x"])
    assert run_on_gpu(EMITTED, library, {}).text == "argument 'x' is missing"


def test_a_launcher_that_fails_is_a_crash(monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    monkeypatch.setitem(sys.modules, "cupy", stand_in(1, library, stream=8))
    assert run_on_gpu(EMITTED, library, INPUTS).text == "the launcher returns 3, an error of CUDA"
    assert measure_on_gpu(EMITTED, library, INPUTS).outcome == "crash"


def test_times_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    cupy: Any = stand_in(1, library)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    hot = measure_on_gpu(EMITTED, library, INPUTS)
    assert hot.outcome == "ok"
    assert hot.median_s == pytest.approx(1e-5)
    assert (hot.repeat, len(hot.samples_s), cupy.flushed) == (6, 8, 0)
    cold = measure_on_gpu(EMITTED, library, INPUTS, cache="cold")
    assert (cold.repeat, cold.cache) == (1, "cold")
    assert cupy.flushed == 9
