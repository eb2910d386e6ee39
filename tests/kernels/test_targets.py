"""Every library kernel on every target: default sizes, and odd ones (1, primes, 1000), within the bound."""

from __future__ import annotations

import pytest

from perfdojo.backends import host_targets
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.verify import verify
from tests.kernels.check import tamed_inputs
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes
from tests.native import build, case, disagreement

NAMES = tuple(sorted(texts()))
PART = 28
"""Kernels in one library, one test of the fast suite."""


def wrong_kernels(
    found: list[tuple[str, dict[str, int]]], target: str, kinds: tuple[str, ...], optimize: str = ""
) -> list[str]:
    cases = []
    for i, (name, sizes) in enumerate(found):
        bound = bind(program(name), sizes)
        verify(bound)
        cases.append((name, sizes, bound, case(f"k{i}_{name}", bound, target, "reassoc")))
    library = build([c for *_, c in cases], optimize)
    wrong = []
    for name, sizes, bound, c in cases:
        for kind in kinds:
            inputs = tamed_inputs(bound) if kind == "tamed" else random_inputs(bound, 1, kind)
            reason = disagreement(library, c, inputs, "reassoc")
            wrong += [f"{name} {sizes} on {target}, {kind} inputs: {reason}"] if reason else []
    return wrong


@pytest.mark.parametrize("target", host_targets())
@pytest.mark.parametrize("first", range(0, len(NAMES), PART))
def test_kernels_agree_at_prime_sizes(first: int, target: str) -> None:
    chosen = [(n, list(odd_sizes(n))[1]) for n in NAMES[first : first + PART]]
    assert not wrong_kernels(chosen, target, ("tamed", "special"))


@pytest.mark.slow
@pytest.mark.parametrize("target", host_targets())
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_at_default_and_odd_sizes(name: str, target: str) -> None:
    chosen = [(name, s) for s in ({}, *odd_sizes(name))]
    assert not wrong_kernels(chosen, target, ("tamed", "huge"), "-O1")
