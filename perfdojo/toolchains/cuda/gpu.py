"""Run and time a compiled kernel on a GPU, through CuPy.

Where this was written there was no GPU: the code that talks to CuPy is tested against a stand-in for the
few of its functions that are used here, not on hardware.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.toolchains.arrays import Array, from_memory, nans_in, to_memory, why_unfit_inputs
from perfdojo.toolchains.leftovers import PATTERNS
from perfdojo.toolchains.results import Measurement, Outcome, RunResult
from perfdojo.toolchains.statistics import median, median_interval, spread

NO_GPU = "no GPU here"
FEWEST, MOST = 8, 1000
"""Samples of a measurement."""
SHORTEST_SAMPLE_MS = 0.05
"""Events have a resolution of about 0.5 us (CUDA Runtime API, cudaEventElapsedTime)."""
ENOUGH = 0.01
"""Part of the median below which its confidence interval ends a measurement."""
GUARD = 4096
"""Bytes before and behind each argument that a kernel must leave alone."""
STATUS: dict[int, Outcome] = {2: "out-of-memory", 9: "launch-refused", 701: "launch-refused"}
"""What a launcher returns: cudaErrorMemoryAllocation, InvalidConfiguration, LaunchOutOfResources."""
VERSION = Path("/proc/driver/nvidia/version")

Watch = Callable[[], AbstractContextManager[object]]
"""Watches over calls: ends the process when they take too long."""


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


def facts() -> tuple[tuple[str, str], ...]:
    """Return what the speed of a kernel depends on, by name: the first GPU, its driver."""
    runtime = importlib.import_module("cupy").cuda.runtime
    name = runtime.getDeviceProperties(0)["name"]
    number = runtime.driverGetVersion()
    driver = f"CUDA {number // 1000}.{number % 1000 // 10}"
    if VERSION.exists() and (found := re.search(r"Kernel Module.*?\b(\d+(?:\.\d+)+)", VERSION.read_text())):
        driver = f"{found[1]}, {driver}"
    return (("gpu", name.decode() if isinstance(name, bytes) else str(name)), ("driver", driver))


def run_on_gpu(
    emitted: EmittedSource, library: Path, inputs: Mapping[str, Array], watch: Watch = nullcontext
) -> RunResult:
    """Run the launcher of a shared library, which nvcc built for the GPU that is here, on `inputs`.

    Outputs start as a pattern that is NaN in every float type; what is written beside them, or to an input,
    is found.
    """
    unfit = find_gpu() or why_unfit_inputs(emitted.arguments, inputs)
    if unfit:
        return RunResult("not-runnable", unfit)
    gpu = Launcher(emitted, library, inputs)
    try:
        with watch():
            status = gpu.call()
            gpu.cupy.cuda.get_current_stream().synchronize()
    except Exception as error:
        return RunResult("crash", f"the GPU reports {error}")
    if status:
        return RunResult(STATUS.get(status, "crash"), f"the launcher returns {status}, an error of CUDA")
    if overwritten := gpu.overwritten():
        return RunResult("memory-overwrite", overwritten)
    outputs = {
        a.name: from_memory(a, gpu.memory[a.name].get().tobytes())
        for a in emitted.arguments
        if a.role != "in"
    }
    return RunResult("ok", "", outputs, nans_in(outputs))


def measure_on_gpu(
    emitted: EmittedSource,
    library: Path,
    inputs: Mapping[str, Array],
    budget_s: float = 1.0,
    cache: Literal["hot", "cold"] = "hot",
    most_s: float | None = None,
    watch: Watch = nullcontext,
) -> Measurement:
    """Time the launcher by events: the median of samples, each the mean over calls in a row.

    With cache="cold" the L2 cache is flushed before each call, by writing a buffer of twice its size. When
    the second call takes longer than `most_s`, it is the only sample.
    """
    unfit = find_gpu() or why_unfit_inputs(emitted.arguments, inputs)
    if unfit:
        return Measurement("not-runnable", unfit, cache=cache)
    gpu = Launcher(emitted, library, inputs)
    with watch():
        status = gpu.call()
    if status:
        text = f"the launcher returns {status}, an error of CUDA"
        return Measurement(STATUS.get(status, "crash"), text, cache=cache)
    with watch():
        first = gpu.sample(1, cache == "cold")
    if most_s is not None and first * 1e-3 > most_s:
        return measured((first * 1e-3,), cache, 1)
    repeat = 1 if cache == "cold" else max(1, int(SHORTEST_SAMPLE_MS / max(first, 1e-6)) + 1)
    samples: list[float] = []
    spent = 0.0
    while len(samples) < FEWEST or (spent < budget_s and len(samples) < MOST):
        with watch():
            ms = gpu.sample(repeat, cache == "cold")
        spent += ms * 1e-3
        samples.append(ms * 1e-3 / repeat)
        interval = median_interval(samples)
        if interval is not None and interval[1] - interval[0] < ENOUGH * median(samples):
            break
    return measured(tuple(samples), cache, repeat)


def measured(samples: tuple[float, ...], cache: str, repeat: int) -> Measurement:
    """Return a measurement from the seconds of its samples."""
    interval = median_interval(samples)
    return Measurement(
        "ok", "", samples, median(samples), min(samples), spread(samples), interval, 1, cache, repeat
    )


class Launcher:
    """Arguments in the memory of the GPU, and the launcher."""

    def __init__(self, emitted: EmittedSource, library: Path, inputs: Mapping[str, Array]) -> None:
        self.cupy: Any = importlib.import_module("cupy")
        self.emitted = emitted
        self._given = {a.name: _with_guards(a, inputs) for a in emitted.arguments}
        self._whole = {name: self.cupy.asarray(given) for name, given in self._given.items()}
        self.memory = {a.name: self._whole[a.name][GUARD : GUARD + a.bytes] for a in emitted.arguments}
        self.launcher = getattr(ctypes.CDLL(str(library)), emitted.symbol)
        self.launcher.restype = ctypes.c_int
        self.launcher.argtypes = [ctypes.c_void_p] * (len(emitted.arguments) + 1)

    def call(self) -> int:
        """Launch on CuPy's stream; return the launcher's status."""
        pointers = [self.memory[a.name].data.ptr for a in self.emitted.arguments]
        return int(self.launcher(*pointers, self.cupy.cuda.get_current_stream().ptr))

    def overwritten(self) -> str:
        """Return what was written that must not be, one sentence, or ""."""
        for a in self.emitted.arguments:
            changed = np.flatnonzero(self._whole[a.name].get() != self._given[a.name]) - GUARD
            if a.role != "in":
                changed = changed[(changed < 0) | (changed >= a.bytes)]
            if changed.size:
                what = "is an input" if a.role == "in" else f"has {a.bytes} bytes"
                return f"{a.name} {what}, but its byte {changed[0]} was written"
        return ""

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


def _with_guards(a: Argument, inputs: Mapping[str, Array]) -> NDArray[np.uint8]:
    """The bytes of an argument before a call, guards around them; what is an output alone holds a pattern."""
    pattern = np.frombuffer(PATTERNS[0], np.uint8)
    whole = np.resize(pattern, a.bytes + 2 * GUARD)
    if a.role != "out":
        whole[GUARD : GUARD + a.bytes] = to_memory(a, inputs[a.name]).view(np.uint8)
    return whole
