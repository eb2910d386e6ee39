"""Our code without a schedule against plain C of the same kernels, both on the same buffers, in one run.

    python -m benchmarks.baseline [--target avx2] [--rounds 51] [--slot 0.005] [--budget 5] [NAME ...]

Plain C is `benchmarks/naive.py` built with gcc -O3 -march=native -ffast-math. Both are called in turn, in
reversed order every second round, for `slot` seconds each; shown are the medians over the rounds, of
processor time and of the ratio in each round, so that other programs disturb less. The results of both are
compared with a float64 reference.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.buffers import Array, aligned
from benchmarks.naive import FLAGS, naive_sources
from benchmarks.reference import worst_error
from benchmarks.suite import Benchmark, benchmarks
from perfdojo.backends import emit, get_target, target_names
from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import build, find_host
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.roofline import Limit, find_roofline
from perfdojo.toolchains.statistics import median

KERNELS = Path(__file__).parents[1] / "perfdojo" / "kernels"
LEAST_MEAN, LEAST_EACH = 1.3, 0.9
"""The bars: geometric mean of the speed-ups, and the smallest one."""

TIMER = """#include <time.h>
double seconds(int (*kernel)(void **), void **arguments, long calls) {
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (long i = 0; i < calls; i++) kernel(arguments);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
}
"""

Call = Callable[[int], float]
"""Calls a kernel so often and returns the seconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark.

    Attributes:
        plain_s, ours_s: processor seconds of one call, medians.
        ratio: how many times faster ours is: median over the rounds, so that what slows both down for a while
            does not count.
        limit_s, bound: the machine's limit, if known, and what sets it.
        plain_error, error: worst error of each over its bound, which -ffast-math does not promise to keep.
    """

    name: str
    plain_s: float
    ours_s: float
    ratio: float
    limit_s: float | None
    bound: str
    plain_error: float
    error: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and return 1 when a bar is missed."""
    options = _options(arguments)
    host = find_host()
    target = options.target or best_target(host)
    chosen = [b for b in benchmarks() if not options.names or any(n in b.name for n in options.names)]
    os.sched_setaffinity(0, host.cpu.processors[-1:])
    print(f"{host.cpu.model}, {host.compiler.version}, target {target}, 1 thread\n")
    print(
        "| kernel | plain C, us | ours, us | ratio | limit | error / bound, plain | ours |\n"
        "|---|---:|---:|---:|---:|---:|---:|"
    )
    rows = []
    for b in chosen:
        rows.append(measured(b, target, host, options.rounds, options.slot, options.budget))
        print(table_row(rows[-1]), flush=True)
    mean = math.exp(sum(math.log(r.ratio) for r in rows) / len(rows))
    slow = [r.name for r in rows if r.ratio < LEAST_EACH]
    print(f"\ngeometric mean {mean:.2f} (bar {LEAST_MEAN}); below {LEAST_EACH}: {', '.join(slow) or 'none'}")
    wrong = [r.name for r in rows if not r.error <= 1]
    if wrong:
        print(f"wrong results: {', '.join(wrong)}")
    return int(mean < LEAST_MEAN or bool(slow) or bool(wrong))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="our code against plain C")
    parser.add_argument("names", nargs="*", help="parts of benchmark names; all without")
    parser.add_argument("--target", choices=target_names())
    parser.add_argument("--rounds", type=int, default=51)
    parser.add_argument("--slot", type=float, default=0.005, help="seconds of one slot")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds for one kernel; 3 rounds at least")
    return parser.parse_args(arguments)


def best_target(host: Host) -> str:
    """Return the widest target whose features this CPU has."""
    able = [t for t in map(get_target, target_names()) if not host.cpu.missing(t.features)]
    return max(able, key=lambda t: t.vector_bits).name


def table_row(r: Row) -> str:
    """Return one line of the table."""
    share = "" if r.limit_s is None else f"{100 * r.limit_s / r.ours_s:.0f} % {r.bound}"
    times = f"{1e6 * r.plain_s:.4g} | {1e6 * r.ours_s:.4g}"
    return f"| {r.name} | {times} | {r.ratio:.2f} | {share} | {r.plain_error:.2g} | {r.error:.2g} |"


def measured(b: Benchmark, target: str, host: Host, rounds: int, slot_s: float, budget_s: float) -> Row:
    """Build both, compare their results with the reference, and time them in turn."""
    symbolic = parse((KERNELS / f"{b.kernel}.ir").read_text(encoding="utf-8"), b.kernel)
    program = bind(symbolic, b.sizes)
    verify(program)
    inputs = {n: aligned(a.reshape(-1)) for n, a in b.generate().items()}
    outputs = {n: aligned(np.full(math.prod(s), np.nan, np.float32)) for n, s in b.outputs.items()}
    buffers = [{**inputs, **outputs}[a.name] for a in program.arguments]
    emitted = emit(program, target)
    made = build(emitted, host)
    if isinstance(made, Failure):
        raise SystemExit(f"{b.name}: {made.text}, see {made.folder}")
    timer = ctypes.CDLL(str(built_library("timer", (("timer.c", TIMER),), ("-O2",), host).path))
    naive = [
        built_library(f"{b.kernel}-plain", (("naive.c", s),), FLAGS, host) for s in naive_sources(program)
    ]
    spellings = [kernel_call(timer, p.path, buffers) for p in naive]
    errors = []
    calls = (
        min(spellings, key=lambda call: min(call(1) for _ in range(3))),
        kernel_call(timer, made.native, buffers),
    )
    for call, fp in zip(calls, ("fast", "reassoc"), strict=True):
        for o in outputs.values():
            o[:] = np.nan
        call(1)
        errors.append(worst_error(symbolic, b.sizes, inputs, outputs, fp))
    limit = _limit(b, host)
    with alone():
        plain, ours = interleaved(calls, rounds, slot_s, budget_s)
    ratio = median([p / o for p, o in zip(plain, ours, strict=True)])
    return Row(
        b.name,
        median(plain),
        median(ours),
        ratio,
        limit and limit.seconds,
        limit.bound if limit else "",
        *errors,
    )


def _limit(b: Benchmark, host: Host) -> Limit | None:
    """The least time on this machine by the figures of the suite; None when it cannot be measured."""
    roofline = find_roofline(host)
    if isinstance(roofline, Failure):
        return None
    size = b.read_bytes + b.write_bytes
    return roofline.limit(b.flops, size, b.read_bytes / size, size, 1, "f32")


def interleaved(
    calls: Sequence[Call], rounds: int, slot_s: float, budget_s: float = 5.0
) -> list[list[float]]:
    """Return the seconds of one call of each, one figure a round, timed in turn."""
    counts, total_s = [], 0.0
    for call in calls:
        once = max(min(call(1), call(1)), 1e-9)
        counts.append(max(1, round(slot_s / once)))
        total_s += counts[-1] * once
    samples: list[list[float]] = [[] for _ in calls]
    for n in range(max(3, min(rounds, round(budget_s / total_s)))):
        order = range(len(calls)) if n % 2 == 0 else reversed(range(len(calls)))
        for k in order:
            samples[k].append(calls[k](counts[k]) / counts[k])
    return samples


def kernel_call(timer: ctypes.CDLL, library: Path, buffers: Sequence[Array]) -> Call:
    """Return what calls the kernel of a library on buffers and tells the processor time."""
    timer.seconds.restype = ctypes.c_double
    kernel = ctypes.CDLL(str(library)).perfdojo_call
    pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
    return lambda calls: float(timer.seconds(kernel, pointers, ctypes.c_long(calls)))


def built_library(
    name: str, files: tuple[tuple[str, str], ...], flags: tuple[str, ...], host: Host
) -> Artifact:
    """Return a shared library of these files, built or out of the cache."""
    made = build_files(
        BuildRequest(name, "shared", files, flags, ("-lm",)), host.compiler, host.cpu, host.places
    )
    if isinstance(made, Failure):
        raise SystemExit(f"{name}: {made.text}, see {made.folder}")
    return made


if __name__ == "__main__":
    sys.exit(main())
