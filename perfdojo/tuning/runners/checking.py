"""Whether a candidate computes what the kernel means: against the reference, which is computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
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


def expected(problem: Problem, seed: int, own_library: bool = False) -> tuple[Expected, ...]:
    """Return what candidates of a problem are checked with."""
    found = []
    for kind in KINDS:
        inputs = random_inputs(problem.bound, seed, kind)
        if bits_are_fixed(problem.bound, problem.setting.fp, own_library):
            found.append(Expected(inputs, interpret(problem.bound, inputs), None))
        else:
            found.append(Expected(inputs, None, reference(problem.bound, inputs, problem.setting.fp)))
    return tuple(found)
