"""Kernels on a GPU beside cuBLAS (through CuPy), PyTorch where it is installed, and the device's limits.

    python -m benchmarks.cuda [--only NAME] [--rounds 31] [--cache hot|cold]

It needs a GPU, nvcc and CuPy (the wheel cupy-cuda13x); without them it says so and exits with 3. Each row is
a kernel of the library at one set of sizes, with its shipped schedule or, without one, as planned. In each
round all contenders are timed in turn by events, in reversed order every second round; with --cache cold the
L2 cache is flushed before each. Times are medians, ratios medians over the rounds with their 95 % interval.
The limit is the larger of two times: operations at the peak of the units that do them (multiprocessors, times
operations of one in a cycle, times the highest clock), and bytes at the speed of a copy, which is measured in
the same rounds. Results are compared with CuPy's in f64, within the derived bound of sums.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import StepError, replay
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.toolchains.cuda.gpu import Launcher, architecture, find_gpu
from perfdojo.toolchains.cuda.nvcc import find_nvcc, library_for
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.statistics import median, median_interval

Call = Callable[[], object]
Timer = Callable[[Call], float]

LANES = {"80": 64, "86": 128, "87": 128, "89": 128, "90": 128}
"""FP32 multiply-adds of a multiprocessor in a cycle (CUDA C++ Programming Guide, arithmetic instructions)."""
TENSOR = {"80": 1024, "90": 2048}
"""f16 multiply-adds of its tensor cores in a cycle (NVIDIA's papers on A100, 312 TFLOP/s at 1.41 GHz with 108
multiprocessors, and on H100, 989 TFLOP/s at 1.83 GHz with 132)."""
UNIT = {"f32": 2.0**-24, "f16": 2.0**-11}


@dataclass(frozen=True, slots=True)
class Case:
    """One row; `cupy` and `torch` are what peers do, on the inputs by name; "" where there is none."""

    kernel: str
    sizes: Mapping[str, int]
    cupy: str
    torch: str
    fp: FpLevel = "reassoc"
    tensor: bool = False


CASES = (
    Case("matmul", {"M": 4096, "N": 4096, "K": 4096}, "cp.matmul(a, b, out=o)", "torch.mm(a, b, out=o)"),
    Case(
        "matmul_f16", {"M": 4096, "N": 4096, "K": 4096}, "cp.matmul(a, b, out=o)", "torch.mm(a, b, out=o)",
        "fast", True,
    ),
    Case("softmax", {"B": 4096, "N": 4096}, "", "torch.softmax(x, 1, out=o)"),
    Case("layernorm", {"B": 16384, "N": 1024}, "", "nn.layer_norm(x, x.shape[1:], g, b, 1e-5)"),
    Case("gelu", {"M": 4096, "N": 4096}, "", "nn.gelu(x, approximate='tanh')"),
    Case("add", {"M": 4096, "N": 4096}, "cp.add(x, y, out=o)", "torch.add(x, y, out=o)"),
    Case("sum_last", {"B": 8192, "N": 8192}, "cp.sum(x, axis=1, out=o)", "torch.sum(x, 1, out=o)"),
    Case(
        "attention", {"B": 256, "S": 256, "D": 64}, "", "nn.scaled_dot_product_attention(q, k, v)"
    ),
)  # fmt: skip


def made(case: Case) -> tuple[Program, EmittedSource]:
    """Return the kernel and what `perfdojoc` emits for it."""
    program = bind(read_kernel(case.kernel), case.sizes)
    verify(program)
    schedule = default_schedule(case.kernel, "cuda")
    scheduled = None
    if schedule is not None:
        try:
            setting = Setting(get_target("cuda"), case.fp)
            scheduled = Scheduled(replay(program, schedule, setting).program, "")
        except StepError as error:
            print(f"note: {case.kernel} is planned: {error}")
    return program, emit(program, "cuda", fp=case.fp, scheduled=scheduled)


def interleaved(calls: Sequence[Call], timer: Timer, rounds: int) -> list[list[float]]:
    """Return the times of calls that run in turn, the other way round every second time."""
    times: list[list[float]] = [[] for _ in calls]
    for n in range(rounds):
        order = range(len(calls)) if n % 2 == 0 else range(len(calls) - 1, -1, -1)
        for k in order:
            times[k].append(timer(calls[k]))
    return times


def limit_s(
    case: Case, emitted: EmittedSource, copy_s_byte: float, device: Mapping[str, int], cc: str
) -> float:
    """Return the least time that the device allows, in seconds."""
    done = TENSOR.get(cc, 0) if case.tensor else LANES.get(cc, 0)
    peak = 2 * done * device["MultiProcessorCount"] * device["ClockRate"] * 1e3
    return max(emitted.flops / peak if peak else 0.0, emitted.bytes * copy_s_byte)


def ratio(ours: Sequence[float], other: Sequence[float]) -> str:
    """Return how much longer the other takes, with the 95 % interval of the median."""
    found = [b / a for a, b in zip(ours, other, strict=True)]
    low, high = median_interval(found) or (min(found), max(found))
    return f"{median(found):.2f} ({low:.2f} to {high:.2f})"


class Bench:
    """The GPU, its clock, and what the contenders work on."""

    def __init__(self, cold: bool) -> None:
        self.cp: Any = importlib.import_module("cupy")
        self.cold = cold
        self.cc = architecture().removeprefix("sm_")
        self.device: Mapping[str, int] = self.cp.cuda.Device(0).attributes
        self.flushed = self.cp.zeros(2 * int(self.device["L2CacheSize"]), dtype="uint8")
        try:
            self.torch: Any = importlib.import_module("torch")
        except ImportError:
            self.torch = None

    def time(self, call: Call) -> float:
        """Return the seconds of one call."""
        if self.cold:
            self.flushed.fill(1)
        start, end = self.cp.cuda.Event(), self.cp.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        return float(self.cp.cuda.get_elapsed_time(start, end)) * 1e-3

    def peer(self, library: str, expression: str, arrays: Mapping[str, Any], out: Any) -> Call | None:
        """Return a peer's call on the same memory; None where it is not there."""
        if not expression or (library == "torch" and self.torch is None):
            return None
        code = compile(expression, f"<{library}>", "eval")
        if library == "cupy":
            names = {**arrays, "o": out, "cp": self.cp}
        else:
            names = {n: self.torch.from_dlpack(v) for n, v in arrays.items()}
            names |= {"o": self.torch.from_dlpack(out), "torch": self.torch, "nn": self.torch.nn.functional}
        return lambda: eval(code, names)

    def row(self, case: Case, rounds: int) -> str:
        """Build, check and time one kernel; return its line of the table."""
        program, emitted = made(case)
        built = library_for(emitted, find_nvcc(), find_host(), architecture())
        if isinstance(built, Failure):
            return f"| {case.kernel} | {built.text} |"
        inputs = random_inputs(program, 0, "normal")
        ours = Launcher(emitted, built.path, inputs)
        arrays = {a.name: self._typed(ours, a.name, a.dtype, a.shape) for a in emitted.arguments}
        name = next(a.name for a in emitted.arguments if a.role != "in")
        given = {n: v for n, v in arrays.items() if n != name}
        if status := ours.call():
            return f"| {case.kernel} | the launcher returns {status} |"
        if wrong := self._wrong(case, given, arrays[name]):
            return f"| {case.kernel} | {wrong} |"
        out = self.cp.empty_like(arrays[name])
        source = self.cp.empty(max(emitted.bytes // 2, 1), dtype="uint8")
        copied = self.cp.empty_like(source)
        texts = (("cupy", case.cupy), ("torch", case.torch))
        peers = [self.peer(library, text, given, out) for library, text in texts]
        calls: list[Call] = [ours.call, lambda: self.cp.copyto(copied, source), *(p for p in peers if p)]
        interleaved(calls, self.time, 3)
        times = interleaved(calls, self.time, rounds)
        least = limit_s(case, emitted, median(times[1]) / (2 * source.size), self.device, self.cc)
        rest = iter(times[2:])
        cells = [ratio(times[0], next(rest)) if p else "" for p in peers]
        spent = median(times[0])
        sizes = " x ".join(str(n) for n in case.sizes.values())
        return f"| {case.kernel} {sizes} | {spent * 1e6:.1f} | {least / spent:.0%} | {' | '.join(cells)} |"

    def _typed(self, ours: Launcher, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        kind = {"f16": "float16", "f32": "float32", "f64": "float64"}[dtype]
        return ours.memory[name].view(kind).reshape(shape)

    def _wrong(self, case: Case, given: Mapping[str, Any], found: Any) -> str:
        """Return how a product or sum misses CuPy's in f64; other kernels are checked by `perfdojoc`."""
        if case.kernel not in ("matmul", "matmul_f16", "add"):
            return ""
        cp = self.cp
        a, b = (v.astype("float64") for v in given.values())
        sums = case.kernel != "add"
        exact = cp.matmul(a, b) if sums else a + b
        size = cp.matmul(cp.abs(a), cp.abs(b)) if sums else cp.abs(exact)
        steps = a.shape[1] + 1 if sums else 1
        kind = "f16" if found.dtype == np.float16 else "f32"
        bound = size * steps * 2 * UNIT["f32"] + cp.abs(exact) * UNIT[kind] + 2.0**-24
        worst = float(cp.max(cp.abs(found.astype("float64") - exact) / bound))
        return f"wrong result, {worst:.2g} of the bound" if not worst <= 1 else ""


def main() -> int:
    """Print the table; 3 where there is no GPU, nvcc or CuPy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--only", default="", help="part of a kernel's name")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--cache", choices=("hot", "cold"), default="cold")
    given = parser.parse_args()
    try:
        why = find_gpu()
        nvcc = find_nvcc()
    except MissingTool as error:
        why = f"{error.message}; {error.hint}"
    if why:
        print(f"{why}: nothing is timed")
        return 3
    bench = Bench(given.cache == "cold")
    name = bench.cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, {nvcc.version}, {given.cache} L2 cache, {given.rounds} rounds\n")
    print("| kernel | ours, us | of the limit | CuPy / ours | PyTorch / ours |\n|---|---:|---:|---:|---:|")
    for case in CASES:
        if given.only in case.kernel:
            print(bench.row(case, given.rounds), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
