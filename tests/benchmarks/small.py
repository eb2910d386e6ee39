"""Kernels of the suite at sizes that take no time, and made-up results of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.buffers import aligned
from benchmarks.peers.measure import Cell, Row
from benchmarks.peers.peer import Task
from benchmarks.suite import KERNELS, Benchmark, at_sizes
from perfdojo.toolchains.roofline import Limit

SIZES = {letter: 3 + n for n, letter in enumerate("BCDHKMNOSW")}


def small(kernel: str) -> Benchmark:
    """Return a kernel with all extents different and small."""
    spec = KERNELS[kernel]
    letters = sorted({c for c in f"{spec.inputs} {spec.outputs}" if c in SIZES})
    return at_sizes(f"{kernel}_small", kernel, " ".join(f"{n}={SIZES[n]}" for n in letters))


def task(kernel: str) -> Task:
    """Return a small kernel with its inputs, the output not written."""
    b = small(kernel)
    (shape,) = b.outputs.values()
    inputs = {n: aligned(a) for n, a in b.generate().items()}
    return Task(b, inputs, aligned(np.full(shape, np.nan, np.float32)))


def row(kernel: str, limit_s: float, **seconds: Sequence[float] | str) -> Row:
    """Return a row; a text is a gap. Underscores stand for dashes in names of systems."""
    cells = {
        n.replace("_", "-"): Cell(gap=s) if isinstance(s, str) else Cell(list(s)) for n, s in seconds.items()
    }
    return Row(small(kernel), Limit(limit_s, "memory", ""), cells)
