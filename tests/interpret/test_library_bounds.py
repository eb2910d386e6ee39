"""On every kernel of the library the bound accepts what a level allows and rejects a small mistake."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import KINDS, compare, interpret, random_inputs, reference
from perfdojo.compiler.interpret.plan import plan
from perfdojo.compiler.interpret.tree import loops
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import statements
from tests.interpret import variants
from tests.kernels.check import TAMED
from tests.kernels.library import program, texts
from tests.kernels.sizes import SIZES

NAMES = sorted(texts())
HARD = ("normal", "cancel", "denormal", "huge", "equal", "special")

HARMLESS = {
    ("online_softmax", "m_2: x"): "any running maximum scales alike",
    ("var_all", "s: x"): "the error of the mean enters squared",
}
"""Neighbours whose reading changes the result by less than its rounding, and why."""


@cache
def small(name: str) -> Program:
    """Return a kernel at small odd sizes."""
    return bind(program(name), dict(SIZES[name].prime) if name in SIZES else {})


def inputs_of(name: str, seed: int, kind: str) -> dict[str, NDArray[Any]]:
    found = random_inputs(small(name), seed, kind)
    for (kernel, buffer), tame in TAMED.items():
        if kernel == name and kind == "positive":
            found[buffer] = np.asarray(tame(found[buffer])).astype(found[buffer].dtype)
    return found


def differ(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> bool:
    return any(a[name].tobytes() != b[name].tobytes() for name in a)


def test_the_library_has_thirty_kernels() -> None:
    assert len(NAMES) >= 30


def assert_accepts(name: str, seed: int, kind: str, patch: pytest.MonkeyPatch) -> None:
    bound, inputs = small(name), inputs_of(name, seed, kind)
    strict, fused = interpret(bound, inputs), variants.fused(bound)
    backwards = variants.reversed_sums(fused)
    results = {
        "strict": [strict],
        "contract": [strict, interpret(fused, inputs)],
        "reassoc": [interpret(backwards, inputs), variants.pairwise(bound, inputs, patch)],
        "fast": [interpret(variants.reciprocals(backwards), inputs)],
    }
    for fp, allowed in results.items():
        expected = reference(bound, inputs, fp)
        for result in allowed:
            verdict = compare(result, expected)
            assert verdict.passed, (kind, fp, verdict.message)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_level_allows_is_within_the_bound(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_accepts(name, 0, HARD[NAMES.index(name) % len(HARD)], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_hard_inputs_are_within_the_bound(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1, 6):
        assert_accepts(name, seed, kind, monkeypatch)


@pytest.mark.parametrize("name", NAMES)
def test_a_dropped_term_or_a_neighbour_is_outside_the_bound(name: str) -> None:
    bound, inputs = small(name), inputs_of(name, 1, "positive")
    right, expected = interpret(bound, inputs), reference(bound, inputs, "reassoc")
    assert compare(right, expected).undecided_count == 0
    for label, wrong in variants.dropped_terms(bound):
        assert not compare(interpret(wrong, inputs), expected).passed, label
    for label, wrong in variants.neighbours_read(bound):
        result = interpret(wrong, inputs)
        # A neighbour that is no maximum changes nothing.
        if differ(result, right) and (name, label) not in HARMLESS:
            assert not compare(result, expected).passed, label


def test_mistakes_were_made_in_most_kernels() -> None:
    dropped = [n for n in NAMES if next(variants.dropped_terms(small(n)), None)]
    moved = [n for n in NAMES if next(variants.neighbours_read(small(n)), None)]
    assert len(dropped) >= 30
    assert len(moved) >= 60


def elementwise(bound: Program) -> bool:
    """Tell whether every element of the results is computed on its own, from inputs."""
    carried = any(not loop.axis and loop.extent > 1 for loop in loops(plan(bound).body))
    return not carried and all(s.op == "=" for _, s in statements(bound))


ELEMENTWISE = [n for n in NAMES if elementwise(small(n))]


def test_the_library_has_elementwise_kernels() -> None:
    assert len(ELEMENTWISE) >= 15


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_element_off_by_64_ulp_is_outside_the_bound(name: str) -> None:
    bound, inputs = small(name), inputs_of(name, 2, "positive")
    right, expected = interpret(bound, inputs), reference(bound, inputs, "fast")
    for buffer, array in right.items():
        if array.dtype.kind in "iub":
            continue
        place = np.unravel_index(int(np.argmax(np.abs(array.astype(np.float64)))), array.shape)
        for ulps in (64, -64):
            moved = variants.off_by_ulps(array, tuple(int(i) for i in place), ulps)
            verdict = compare({**right, buffer: moved}, expected)
            assert not verdict.passed
            assert verdict.worst_buffer == buffer
            assert verdict.worst_index == place
