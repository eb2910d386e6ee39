"""Matrix products of narrow numbers beside that of f32, one run, one core: instructions on neighbours.

    python -m benchmarks.narrow [--size 1024] [--rounds 51] [--slot 0.02] [--budget 10]

Each row is a kernel of the library on AVX-512, with an extension or without. The products run in turn, in
reversed order every second round; times are medians of processor time, ratios medians over the rounds: how
much less time than the product of f32 with its shipped schedule. Results are compared with the reference.

Exits with 1 when a bar is missed or a result is wrong, with 3 where the processor lacks an extension.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.baseline import TIMER, built_library, interleaved, kernel_call
from benchmarks.buffers import aligned
from benchmarks.limits import Call
from benchmarks.reference import worst_error
from benchmarks.schedules import scheduled
from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.verify import verify
from perfdojo.finding import read_kernel
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import build, find_host
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.statistics import median

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Product:
    """One row; `bar` is the least ratio to the first row, 0 where there is none."""

    kernel: str
    target: str
    fp: FpLevel = "reassoc"
    bar: float = 0.0


PRODUCTS = (
    Product("matmul", "avx512"),
    Product("matmul_i8", "avx512"),
    Product("matmul_i8", "avx512:vnni", bar=3.0),
    Product("matmul_bf16", "avx512", "fast"),
    Product("matmul_bf16", "avx512:bf16", "fast", bar=1.6),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and return 1 when a bar is missed or a result is wrong."""
    parser = argparse.ArgumentParser(description="products of narrow numbers beside that of f32")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=51)
    parser.add_argument("--slot", type=float, default=0.02, help="seconds of one slot")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for all; 3 rounds at least")
    o = parser.parse_args(arguments)
    host = find_host()
    timer = ctypes.CDLL(str(built_library("timer", (("timer.c", TIMER),), ("-O2",), host).path))
    made = [prepared(p, o.size, timer, host) for p in PRODUCTS]
    if missing := sorted({f for _, _, lacking, _ in made for f in lacking}):
        print(f"this processor has no {', '.join(missing)}", file=sys.stderr)
        return 3
    with alone():
        samples = interleaved([call for call, *_ in made], o.rounds, o.slot, o.budget)
    print(f"| {o.size} x {o.size} x {o.size} | level | us | matmul / it | bar | error / bound |")
    print("|---|---|---:|---:|---:|---:|")
    fine = True
    for p, (_, error, *_), times in zip(PRODUCTS, made, samples, strict=True):
        ratio = median([f32 / own for f32, own in zip(samples[0], times, strict=True)])
        fine = fine and error <= 1 and ratio >= p.bar
        bar = p.bar or ""
        name = f"{p.kernel} {p.target}"
        print(f"| {name} | {p.fp} | {1e6 * median(times):.4g} | {ratio:.2f} | {bar} | {error:.2g} |")
    return 0 if fine else 1


def prepared(
    p: Product, size: int, timer: ctypes.CDLL, host: Host
) -> tuple[Call, float, tuple[str, ...], list[Array]]:
    """Return the call, its error over its bound, the CPU features that are not here, and its buffers."""
    sizes = dict.fromkeys("MNK", size)
    symbolic = read_kernel(p.kernel)
    bound = bind(symbolic, sizes)
    verify(bound)
    shipped, _ = scheduled(bound, p.kernel, p.target.partition(":")[0])
    emitted = emit(bound, p.target, fp=p.fp, scheduled=shipped)
    inputs = random_inputs(bound, 3, "normal")
    arrays = {
        b.name: aligned(
            np.ravel(inputs[b.name]) if b.name in inputs else np.zeros(size**2, NUMPY[b.dtype.name])
        )
        for b in bound.arguments
    }
    built = build(emitted, host)
    if isinstance(built, Failure):
        raise SystemExit(f"{p.kernel}: {built.text}, see {built.folder}")
    missing = host.cpu.missing(emitted.requires)
    ordered = [arrays[b.name] for b in bound.arguments]
    if missing:
        return (lambda calls: 0.0), 0.0, missing, ordered
    call = kernel_call(timer, built.native, ordered)
    call(1)
    outputs = {b.name: arrays[b.name] for b in bound.arguments if b.role != "in"}
    return call, worst_error(symbolic, sizes, arrays, outputs, p.fp, emitted.tensor), (), ordered


if __name__ == "__main__":
    sys.exit(main())
