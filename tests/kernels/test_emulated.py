"""Every library kernel on other kinds of machines, under qemu or natively: within the bound at many sizes."""

from __future__ import annotations

import pytest

from tests.kernels.sizes import odd_sizes
from tests.kernels.test_targets import NAMES, wrong_kernels
from tests.native import can_run

TARGETS = [
    pytest.param(t, marks=pytest.mark.skipif(not can_run(t), reason=f"needs compiler and emulator for {t}"))
    for t in ("neon", "rvv")
]
SAMPLE = NAMES[::8]
"""Kernels of the fast suite."""


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_agree_at_prime_sizes(target: str) -> None:
    assert not wrong_kernels([(n, list(odd_sizes(n))[1]) for n in SAMPLE], target, ("tamed", "special"))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_at_default_and_odd_sizes(name: str, target: str) -> None:
    chosen = [(name, s) for s in ({}, *odd_sizes(name))]
    assert not wrong_kernels(chosen, target, ("tamed", "huge"), "-O3")
