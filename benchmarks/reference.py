"""Are the results of a benchmark right: a part of them against the float64 reference with its error bounds.

The whole reference of a large benchmark takes minutes. Outputs of different rows or images do not depend on
each other, so the sizes that count those are cut until the reference takes about a second, and the elements
that remain are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from benchmarks.suite import KERNELS, Benchmark
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import compare, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import const_int, statements

EXECUTIONS = 10**7
"""Statement executions that the reference may take."""

INDEPENDENT = {"conv3x3": "NO", "conv1x1": "NO", "mean_first": "N", "batchnorm": "NC"}
"""Sizes that count independent outputs, where it is not the first size alone."""

Array = np.ndarray[Any, np.dtype[Any]]


def worst_error(
    b: Benchmark, program: Program, inputs: Mapping[str, Array], outputs: Mapping[str, Array], fp: str
) -> float:
    """Return the worst error of the compared elements as a fraction of its bound; inf for a NaN out of place.

    Args:
        program: the kernel, its sizes symbolic.
        inputs, outputs: flat arrays of the whole benchmark.
        fp: what the implementation may do.
    """
    sizes = _small(b, program)
    small = bind(program, sizes)
    spec = KERNELS[b.kernel]
    given = {
        a.name: _part(inputs[a.name], b.inputs[a.name], spec.inputs, a.name, b, sizes).reshape(
            _shape(small, a.name)
        )
        for a in small.arguments
        if a.role == "in"
    }
    got = {
        n: _part(o, b.outputs[n], spec.outputs, n, b, sizes).reshape(_shape(small, n))
        for n, o in outputs.items()
    }
    return compare(got, reference(small, given, fp)).worst_over_bound


def _small(b: Benchmark, program: Program) -> dict[str, int]:
    """Sizes of the part that is compared."""
    sizes = dict(b.sizes)
    for letter in INDEPENDENT.get(b.kernel, next(iter(sizes))):
        total = sum(
            prod(const_int(s.extent) for s in around) for around, _ in statements(bind(program, sizes))
        )
        sizes[letter] = max(1, min(sizes[letter], sizes[letter] * EXECUTIONS // total))
    return sizes


def _part(
    flat: Array, shape: tuple[int, ...], spec: str, name: str, b: Benchmark, sizes: Mapping[str, int]
) -> Array:
    """The first elements along each dimension whose size was cut."""
    letters = next(text.split("=")[1] for text in spec.split() if text.startswith(name + "=")).split(",")
    cut = tuple(slice(sizes[e]) if e in sizes else slice(None) for e in letters)
    return np.ascontiguousarray(flat.reshape(shape)[cut])


def _shape(program: Program, name: str) -> tuple[int, ...]:
    return tuple(const_int(e) for e in program.buffer(name).shape)
