"""Shipped schedules against this machine's limits, measured in the same run.

    python -m benchmarks.schedules [--target avx2] [--only NAME] [--rounds 51] [--slot 0.02] [--budget 6]

Each row is a kernel of the library at one set of sizes, on one core. The limit is the multiply-add peak, or
the bandwidth for the bytes that the kernel must move at that footprint with the better kind of stores; it,
the planner's code and that of the schedule run in turn, in reversed order every second round. Times are
medians of processor time; shares and ratios are medians over the rounds. For matmul NumPy stands beside
them. Results are compared with the float64 reference within the derived bound.

Compute-bound rows then run with two threads against one: the processor time of one thread over that of the
busier one of two, threads that wait taking none. Beside it the ratio of the least elapsed times, which on a
busy machine says more about the other programs.

Exits with 1 when a bar is missed or a result is wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.baseline import TIMER, best_target, built_library, interleaved, kernel_call
from benchmarks.blas import environment_is_clean, kernel_name, numpy_call, run_in_clean_environment
from benchmarks.buffers import aligned
from benchmarks.limits import Call, Limits
from benchmarks.reference import worst_error
from perfdojo.backends import emit, get_target, target_names
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.schedule import Scheduled, StepError, replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import build, find_host
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.statistics import median

BARS = {"matmul": 0.9, "gemm_f64": 0.9, "conv3x3": 0.8}
MEMORY_BAR = 0.9
THREADS_BAR = 1.8


@dataclass(frozen=True, slots=True)
class Task:
    """One row to measure; `cause` says why it misses its bar where it does."""

    name: str
    kernel: str
    sizes: dict[str, int]
    bound: Literal["compute", "memory"] = "memory"
    cause: str = ""

    @property
    def bar(self) -> float:
        """Least share of the limit."""
        return BARS.get(self.kernel, MEMORY_BAR)


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured.

    Attributes:
        limit_s, planner_s, ours_s: processor seconds of a call, medians.
        share: limit over ours; gain: planner over ours; both medians over the rounds.
        numpy_s: that of NumPy, None where it does not stand beside.
        error: worst error over its bound.
        note: "", or why the schedule was not taken.
    """

    task: Task
    limit_s: float
    planner_s: float
    ours_s: float
    share: float
    gain: float
    numpy_s: float | None
    error: float
    note: str

    @property
    def missed(self) -> bool:
        return self.share < self.task.bar


def _sizes(text: str) -> dict[str, int]:
    return {k: int(v) for k, _, v in (g.partition("=") for g in text.split())}


EXP = "exp and tanh, the same bits on every target, take longer than memory does"
PASSES = (
    "memory waits in the passes over a row that is in the cache, between reads of the next and the stores"
)
MAXIMUM = "a maximum that keeps NaN takes several instructions a vector; the same form with sums is at 95 %"
POWER = "rows a power of two apart share sets of the caches; 4112 x 4112 is at 91 %"

TASKS = (
    *(Task(f"sgemm_{n}", "matmul", _sizes(f"M={n} N={n} K={n}"), "compute") for n in (512, 1024, 2048)),
    Task("dgemm_1024", "gemm_f64", _sizes("M=1024 N=1024 K=1024"), "compute"),
    Task("conv3x3_1x64x56x56_64", "conv3x3", _sizes("N=1 C=64 H=56 W=56 O=64"), "compute"),
    Task("add_3072x4096", "add", _sizes("M=3072 N=4096")),
    Task("relu_4096x4096", "relu", _sizes("M=4096 N=4096")),
    Task("gelu_4096x4096", "gelu", _sizes("M=4096 N=4096"), cause=EXP),
    Task("softmax_4096x4096", "softmax", _sizes("B=4096 N=4096"), cause=EXP),
    Task("layernorm_16384x1024", "layernorm", _sizes("B=16384 N=1024"), cause=PASSES),
    Task("rmsnorm_4096x4096", "rmsnorm", _sizes("B=4096 N=4096"), cause=PASSES),
    Task("mean_last_8192x8192", "mean_last", _sizes("B=8192 N=8192")),
    Task("mean_first_8192x8192", "mean_first", _sizes("B=8192 N=8192")),
    Task("max_last_4096x4096", "max_last", _sizes("B=4096 N=4096"), cause=MAXIMUM),
    Task("transpose_4096x4096", "transpose", _sizes("M=4096 N=4096"), cause=POWER),
    Task("transpose_4000x4000", "transpose", _sizes("M=4000 N=4000")),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and return 1 when a bar is missed or a result is wrong."""
    o = _options(arguments)
    if not environment_is_clean():
        return run_in_clean_environment(
            "benchmarks.schedules", sys.argv[1:] if arguments is None else arguments
        )
    host = find_host()
    target = o.target or best_target(host)
    chosen = [t for t in TASKS if not o.only or any(n in t.name for n in o.only)]
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, host.cpu.processors[-1:])
    print(f"{host.cpu.model}, {host.compiler.version}, target {target}, load {os.getloadavg()[0]:.0f}")
    print(f"NumPy {np.__version__}, {kernel_name() or 'OpenBLAS as it chooses its kernels'}, 1 thread\n")
    print(
        "| kernel | limit, us | planner, us | schedule, us | share of limit | planner / schedule | NumPy, us "
        "| error / bound |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    limits = Limits(host)
    rows = []
    for task in chosen:
        rows.append(measured(task, target, host, limits, o))
        print(table_row(rows[-1]), flush=True)
    os.sched_setaffinity(0, processors)
    slow = (
        [] if o.one_thread else [t.name for t in chosen if t.bound == "compute" and _slow(t, target, host, o)]
    )
    return _summary(rows, slow)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="shipped schedules against this machine's limits")
    parser.add_argument("--only", action="append", metavar="NAME", help="rows whose name has NAME in it")
    parser.add_argument("--target", choices=target_names())
    parser.add_argument("--rounds", type=int, default=51)
    parser.add_argument("--slot", type=float, default=0.02, help="seconds of one slot")
    parser.add_argument("--budget", type=float, default=6.0, help="seconds for one row; 3 rounds at least")
    parser.add_argument("--one-thread", action="store_true", help="leave the rows with two threads out")
    return parser.parse_args(arguments)


def table_row(r: Row) -> str:
    """Return one line of the table."""
    numpy = "" if r.numpy_s is None else f"{1e6 * r.numpy_s:.4g}"
    times = " | ".join(f"{1e6 * s:.4g}" for s in (r.limit_s, r.planner_s, r.ours_s))
    share = f"{100 * r.share:.0f} %" + (" (planner)" if r.note else "")
    return f"| {r.task.name} | {times} | {share} | {r.gain:.2f} | {numpy} | {r.error:.2g} |"


def _summary(rows: Sequence[Row], slow: Sequence[str]) -> int:
    print()
    for r in rows:
        if r.missed:
            why = r.task.cause or "no cause known"
            print(f"missed: {r.task.name} is at {100 * r.share:.0f} %, bar {100 * r.task.bar:.0f} %: {why}")
    for r in rows:
        if r.note:
            print(f"{r.task.name}: {r.note}")
    wrong = [r.task.name for r in rows if not r.error <= 1]
    print(f"wrong results: {', '.join(wrong) or 'none'}")
    return int(any(r.missed for r in rows) or bool(wrong) or bool(slow))


# ---------------------------------------------------------------- one thread


def scheduled(bound: Program, kernel: str, target: str) -> tuple[Scheduled | None, str]:
    """Return what the shipped schedule makes of a kernel; None, and why, where the planner takes over."""
    schedule = default_schedule(kernel, target)
    if schedule is None:
        return None, f"no schedule {kernel}.{target}.sched, planned"
    try:
        program = replay(bound, schedule, Setting(get_target(target))).program
    except StepError as error:
        return None, f"planned, as {kernel}.{target}.sched does not fit: {error.message}"
    return Scheduled(program, ""), ""


def buffers(bound: Program) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Return arrays for the arguments, inputs normally distributed, the same in every run."""
    random = np.random.default_rng(3)
    found = {}
    for b in bound.arguments:
        shape = tuple(const_int(e) for e in b.shape)
        values = random.standard_normal(shape, np.float32) if b.role != "out" else np.full(shape, np.nan)
        found[b.name] = aligned(np.asarray(values, NUMPY[b.dtype.name]).reshape(-1))
    return found


def measured(task: Task, target: str, host: Host, limits: Limits, o: argparse.Namespace) -> Row:
    """Build both, compare results with the reference, time them in turn with the limit."""
    symbolic = read_kernel(task.kernel)
    bound = bind(symbolic, task.sizes)
    verify(bound)
    plain = emit(bound, target)
    made, note = scheduled(bound, task.kernel, target)
    arrays = buffers(bound)
    before = {b.name: arrays[b.name].copy() for b in bound.arguments if b.role == "inout"}
    timer = ctypes.CDLL(str(built_library("timer", (("timer.c", TIMER),), ("-O2",), host).path))
    ordered = [arrays[b.name] for b in bound.arguments]
    calls = [_call(plain, timer, host, ordered)]
    calls.append(_call(emit(bound, target, scheduled=made), timer, host, ordered) if made else calls[0])
    calls[1](1)
    outputs = {b.name: arrays[b.name] for b in bound.arguments if b.role != "in"}
    error = worst_error(symbolic, task.sizes, {**arrays, **before}, outputs, "reassoc")
    dtype = bound.arguments[-1].dtype.name
    beside = numpy_call(task.kernel, bound, arrays)
    calls += [beside] if beside else []
    best = (
        [limits.compute(plain.flops, dtype)]
        if task.bound == "compute"
        else limits.memory(plain.bytes, plain.read_share)
    )
    with alone():
        samples = interleaved([*calls, *(call for call, _ in best)], o.rounds, o.slot, o.budget)
    planner, ours = samples[:2]
    limit = min(
        ([t * times for t in s] for s, (_, times) in zip(samples[len(calls) :], best, strict=True)),
        key=median,
    )
    return Row(
        task,
        median(limit),
        median(planner),
        median(ours),
        median([a / b for a, b in zip(limit, ours, strict=True)]),
        median([a / b for a, b in zip(planner, ours, strict=True)]),
        median(samples[2]) if beside else None,
        error,
        note,
    )


def _call(
    emitted: EmittedSource, timer: ctypes.CDLL, host: Host, ordered: Sequence[np.ndarray[Any, np.dtype[Any]]]
) -> Call:
    made = build(emitted, host)
    if isinstance(made, Failure):
        raise SystemExit(f"{emitted.kernel}: {made.text}, see {made.folder}")
    return kernel_call(timer, made.native, ordered)


# ---------------------------------------------------------------- two threads


def _slow(task: Task, target: str, host: Host, o: argparse.Namespace) -> bool:
    """Measure two threads against one, print it, and tell whether the bar is missed."""
    if host.cpu.cores < 2:
        print(f"{task.name}: one core, no second thread")
        return False
    bound = bind(read_kernel(task.kernel), task.sizes)
    verify(bound)
    made, _ = scheduled(bound, task.kernel, target)
    arrays = buffers(bound)
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays.values()))
    kernels = []
    for threads in (1, 2):
        found = build(emit(bound, target, threads=threads, scheduled=made), host)
        if isinstance(found, Failure):
            raise SystemExit(f"{task.name}: {found.text}, see {found.folder}")
        kernels.append(ctypes.CDLL(str(found.native)).perfdojo_call)

    def spent(kernel: Any) -> tuple[float, float]:
        before, start = _processor_times(), time.perf_counter()
        kernel(pointers)
        seconds, after = time.perf_counter() - start, _processor_times()
        return max(t - before.get(n, 0.0) for n, t in after.items()), seconds

    samples: list[list[tuple[float, float]]] = [[], []]
    with alone():
        end = time.monotonic() + o.budget
        while time.monotonic() < end or len(samples[0]) < 3:
            for kernel, into in zip(kernels, samples, strict=True):
                into.append(spent(kernel))
    (busy, _), (busy_two, _) = (map(median, zip(*s, strict=True)) for s in samples)
    one, two = (min(elapsed for _, elapsed in s) for s in samples)
    print(
        f"{task.name}: two threads {busy / busy_two:.2f} x of one (bar {THREADS_BAR}); "
        f"at best elapsed {one / two:.2f} x, {len(samples[0])} rounds"
    )
    return not math.isfinite(busy / busy_two) or busy / busy_two < THREADS_BAR


def _processor_times() -> dict[str, float]:
    """Seconds of processor time of each thread of this process."""
    tasks = Path("/proc/self/task").iterdir()
    return {t.name: int((t / "schedstat").read_text().split()[0]) * 1e-9 for t in tasks}


if __name__ == "__main__":
    sys.exit(main())
