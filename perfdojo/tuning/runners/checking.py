"""Whether a candidate computes what the kernel means: against the reference, which is computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.interpret import (
    Bounded,
    compare,
    first_difference,
    interpret,
    random_inputs,
    reference,
)
from perfdojo.compiler.libraries import bits_are_fixed
from perfdojo.tuning.problem import Problem

KINDS = ("normal", "special")
"""Ordinary values, then NaN, infinities, zeros of both signs, subnormals and extremes."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Inputs of one kind, and what is right for them: bits, or values with bounds."""

    inputs: Mapping[str, Any]
    bits: Mapping[str, Any] | None
    bounds: Any

    def wrong(self, outputs: Mapping[str, Any]) -> str:
        """Return how outputs are wrong, "" when they are right."""
        if self.bits is not None:
            return first_difference(outputs, self.bits)
        verdict = compare(outputs, self.bounds)
        return "" if verdict.passed else verdict.message


def expected(
    problem: Problem,
    seed: int,
    own_library: bool = False,
    tolerance: float | None = None,
    tensor: str | None = None,
) -> tuple[Expected, ...]:
    """Return what candidates of a problem are checked with.

    Args:
        tolerance: errors up to this part of the largest magnitude of an output are fine as well.
        tensor: what multiplies and adds in one (`EmittedSource`); None: what the target has.
    """
    found = []
    if tensor is None:
        tensor = "pairs" if problem.setting.target.supports("dot:bf16", F32, 16) else ""
    for kind in KINDS:
        inputs = random_inputs(problem.bound, seed, kind)
        if tolerance is None and bits_are_fixed(problem.bound, problem.setting.fp, own_library):
            found.append(Expected(inputs, interpret(problem.bound, inputs), None))
        else:
            bounds = reference(problem.bound, inputs, problem.setting.fp, tensor)
            found.append(Expected(inputs, None, {n: _wider(b, tolerance) for n, b in bounds.items()}))
    return tuple(found)


def _wider(b: Bounded, tolerance: float | None) -> Bounded:
    if tolerance is None or b.value.dtype.kind != "f" or not b.value.size:
        return b
    sizes = np.abs(b.value[np.isfinite(b.value)])
    allowed = tolerance * float(sizes.max(initial=0.0))
    return replace(b, bound=np.where(np.isfinite(b.value), np.maximum(b.bound, allowed), b.bound))
