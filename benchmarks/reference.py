"""The results of a benchmark: part of them against the float64 reference with its error bounds.

The whole reference of a large benchmark takes minutes. Outputs of different rows or images do not depend on
each other, so the sizes that count those are cut until the reference takes about a second, and the elements
that remain are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import compare, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import const_int, statements

EXECUTIONS = 10**7
"""Statement executions that the reference may take."""

INDEPENDENT = {
    "conv3x3": "NO",
    "conv1x1": "NO",
    "mean_first": "N",
    "sum_first": "N",
    "max_first": "N",
    "var_first": "N",
    "batchnorm": "NC",
    "dot": "",
    "mean_all": "",
    "sum_all": "",
    "max_all": "",
    "var_all": "",
}
"""Sizes that count independent outputs, where it is not the first size alone."""

Array = np.ndarray[Any, np.dtype[Any]]


def worst_error(
    program: Program,
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    fp: str,
    tensor: str = "",
) -> float:
    """Return the worst error of the compared elements as a fraction of its bound; inf for a NaN out of place.

    Args:
        program: the kernel, its sizes symbolic.
        inputs, outputs: arrays of the whole benchmark, of any shape; inputs as they were before.
        fp, tensor: what the implementation may do, see `perfdojo.compiler.interpret.reference`.
    """
    whole = bind(program, sizes)
    small = bind(program, _cut(program, sizes))
    given = {a.name: _part(inputs[a.name], whole, small, a.name) for a in small.arguments if a.role != "out"}
    got = {n: _part(o, whole, small, n) for n, o in outputs.items()}
    return compare(got, reference(small, given, fp, tensor)).worst_over_bound


def _cut(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of the part that is compared."""
    small = dict(sizes)
    for letter in INDEPENDENT.get(program.name, next(iter(small))):
        total = sum(
            prod(const_int(s.extent) for s in around) for around, _ in statements(bind(program, small))
        )
        small[letter] = max(1, min(small[letter], small[letter] * EXECUTIONS // total))
    return small


def _part(values: Array, whole: Program, small: Program, name: str) -> Array:
    """The first elements along each dimension whose size was cut."""
    cut = tuple(slice(const_int(e)) for e in small.buffer(name).shape)
    shape = tuple(const_int(e) for e in whole.buffer(name).shape)
    return np.array(values.reshape(shape)[cut], order="C")
