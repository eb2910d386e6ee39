"""Run and time a compiled kernel on a GPU, through CuPy.

Where this was written there was no GPU: the code that talks to CuPy is tested against a stand-in for the
few of its functions that are used here, not on hardware.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numpy as np

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.arrays import Array, count_nans, from_memory, to_memory, why_unfit_inputs
from perfdojo.toolchains.results import Measurement, RunResult
from perfdojo.toolchains.statistics import median, median_interval, spread

NO_GPU = "no GPU here"
FEWEST, MOST = 8, 1000
"""Samples of a measurement."""
SHORTEST_SAMPLE_MS = 0.05
"""Events have a resolution of about 0.5 us (CUDA Runtime API, cudaEventElapsedTime)."""
ENOUGH = 0.01
"""Part of the median below which its confidence interval ends a measurement."""


def find_gpu() -> str:
    """Return why nothing runs on a GPU, or "" where CuPy finds one."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        return (
            NO_GPU if not Path("/dev/nvidiactl").exists() else "a GPU, but no CuPy (the wheel cupy-cuda13x)"
        )
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() > 0 else NO_GPU
    except Exception as error:  # CuPy's own class, which cannot be named without it
        return f"{NO_GPU} (CuPy: {error})"


def architecture() -> str:
    """Return that of the first GPU, sm_90."""
    return f"sm_{importlib.import_module('cupy').cuda.Device(0).compute_capability}"


def run_on_gpu(emitted: EmittedSource, library: Path, inputs: Mapping[str, Array]) -> RunResult:
    """Run the launcher of a shared library, which nvcc built for the GPU that is here, on `inputs`."""
    unfit = find_gpu() or why_unfit_inputs(emitted.arguments, inputs)
    if unfit:
        return RunResult("not-runnable", unfit)
    gpu = Launcher(emitted, library, inputs)
    status = gpu.call()
    try:
        gpu.cupy.cuda.get_current_stream().synchronize()
    except Exception as error:
        return RunResult("crash", f"the GPU reports {error}")
    if status:
        return RunResult("crash", f"the launcher returns {status}, an error of CUDA")
    outputs = {
        a.name: from_memory(a, gpu.memory[a.name].get().tobytes())
        for a in emitted.arguments
        if a.role != "in"
    }
    return RunResult("ok", "", outputs, {n: c for n, v in outputs.items() if (c := count_nans(v))})


def measure_on_gpu(
    emitted: EmittedSource,
    library: Path,
    inputs: Mapping[str, Array],
    budget_s: float = 1.0,
    cache: Literal["hot", "cold"] = "hot",
) -> Measurement:
    """Time the launcher by events: the median of samples, each the mean over calls in a row.

    With cache="cold" the L2 cache is flushed before each call, by writing a buffer of twice its size.
    """
    unfit = find_gpu() or why_unfit_inputs(emitted.arguments, inputs)
    if unfit:
        return Measurement("not-runnable", unfit, cache=cache)
    gpu = Launcher(emitted, library, inputs)
    if status := gpu.call():
        return Measurement("crash", f"the launcher returns {status}, an error of CUDA", cache=cache)
    first = gpu.sample(1, cache == "cold")
    repeat = 1 if cache == "cold" else max(1, int(SHORTEST_SAMPLE_MS / max(first, 1e-6)) + 1)
    samples: list[float] = []
    spent = 0.0
    while len(samples) < FEWEST or (spent < budget_s and len(samples) < MOST):
        ms = gpu.sample(repeat, cache == "cold")
        spent += ms * 1e-3
        samples.append(ms * 1e-3 / repeat)
        interval = median_interval(samples)
        if interval is not None and interval[1] - interval[0] < ENOUGH * median(samples):
            break
    return Measurement(
        "ok", "", tuple(samples), median(samples), min(samples), spread(samples), median_interval(samples),
        1, cache, repeat,
    )  # fmt: skip


class Launcher:
    """Arguments in the memory of the GPU, and the launcher."""

    def __init__(self, emitted: EmittedSource, library: Path, inputs: Mapping[str, Array]) -> None:
        self.cupy: Any = importlib.import_module("cupy")
        self.emitted = emitted
        self.memory = {
            a.name: self.cupy.asarray(
                to_memory(a, inputs[a.name]).view(np.uint8)
                if a.role != "out"
                else np.zeros(a.bytes, np.uint8)
            )
            for a in emitted.arguments
        }
        self.launcher = getattr(ctypes.CDLL(str(library)), emitted.symbol)
        self.launcher.restype = ctypes.c_int
        self.launcher.argtypes = [ctypes.c_void_p] * (len(emitted.arguments) + 1)

    def call(self) -> int:
        """Launch on CuPy's stream; return the launcher's status."""
        pointers = [self.memory[a.name].data.ptr for a in self.emitted.arguments]
        return int(self.launcher(*pointers, self.cupy.cuda.get_current_stream().ptr))

    def sample(self, repeat: int, cold: bool) -> float:
        """Return the milliseconds of `repeat` calls in a row."""
        with ExitStack() as kept:
            kept.enter_context(self.cupy.cuda.Device(0))
            if cold:
                self._flush()
            start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            start.record()
            for _ in range(repeat):
                self.call()
            end.record()
            end.synchronize()
            return float(self.cupy.cuda.get_elapsed_time(start, end))

    def _flush(self) -> None:
        """Write more than the L2 cache holds."""
        size = int(self.cupy.cuda.Device(0).attributes["L2CacheSize"])
        self.cupy.zeros(2 * size, dtype="uint8").fill(1)
