"""The comparison of a kernel with its NumPy reference, within the bound that is derived for its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from perfdojo.compiler.interpret import compare, interpret, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int
from tests.kernels.references import call

TAMED: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("adam", "t"): lambda t: t % 50 + 1,
    ("adam", "v"): np.abs,
    ("batchnorm", "var"): np.abs,
    ("matmul_i8", "scale"): lambda s: s * 0.1,
    ("quantize_i8", "scale"): lambda s: np.abs(s) * 0.05 + 0.01,
}
"""Inputs that a kernel wants in a range: no roots of negative numbers, steps and scales that matter."""


def assert_computes(bound: Program, function: Callable[..., Any]) -> None:
    """Interpreter and NumPy differ by no more than the bound of the kernel for these inputs."""
    verify(bound)
    inputs = tamed_inputs(bound)
    got, bounded = interpret(bound, inputs), reference(bound, inputs, "strict")
    for name, value in expected(bound, inputs, function).items():
        assert got[name].shape == value.shape
        verdict = compare({name: got[name]}, {name: replace(bounded[name], value=value)})
        assert verdict.passed, f"{bound.name}: {verdict.message}"
        assert verdict.undecided_count == 0


def tamed_inputs(bound: Program) -> dict[str, Any]:
    """Return random inputs that the kernel was made for."""
    found = random_inputs(bound, 0, "normal")
    for (kernel, buffer), tame in TAMED.items():
        if kernel == bound.name:
            found[buffer] = np.asarray(tame(found[buffer])).astype(found[buffer].dtype)
    return found


def expected(bound: Program, inputs: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the NumPy reference makes of the inputs, by output; in longdouble for kernels in f64."""
    double = any(b.dtype.name == "f64" for b in bound.arguments)
    exact = np.longdouble if double else np.float64
    literal = np.longdouble if double else lambda v: np.float64(np.float32(v))
    wide = {n: a.astype(exact if bound.buffer(n).dtype.is_float else np.int64) for n, a in inputs.items()}
    sizes = {s.name: const_int(s.value) for s in bound.sizes}
    outputs = [b.name for b in bound.arguments if b.role != "in"]
    return dict(zip(outputs, map(np.asarray, call(function, wide, sizes, literal)), strict=True))
