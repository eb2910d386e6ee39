"""Every library kernel on NEON, natively or under qemu: default and odd sizes, within the bound."""

from __future__ import annotations

import pytest

from tests.kernels.sizes import odd_sizes
from tests.kernels.test_targets import NAMES, wrong_kernels
from tests.native import can_run

pytestmark = pytest.mark.skipif(not can_run("neon"), reason="needs gcc-aarch64-linux-gnu and qemu-user")
SAMPLE = NAMES[::6]
"""Kernels of the fast suite."""


def test_kernels_agree_at_prime_sizes() -> None:
    assert not wrong_kernels([(n, list(odd_sizes(n))[1]) for n in SAMPLE], "neon", ("tamed", "special"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_at_default_and_odd_sizes(name: str) -> None:
    chosen = [(name, s) for s in ({}, *odd_sizes(name))]
    assert not wrong_kernels(chosen, "neon", ("tamed", "huge"), "-O3")
