"""The references of the peers agree with the interpreter; NumPy as a peer agrees with them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.peer import Prepared
from benchmarks.peers.references import REFERENCES, TOLERANCE, error, reference
from benchmarks.peers.systems.numpy_openblas import NumPy
from benchmarks.reference import worst_error
from benchmarks.suite import KERNELS
from perfdojo.finding import read_kernel
from tests.benchmarks.small import small, task


def test_every_kernel_has_a_reference() -> None:
    assert REFERENCES.keys() == KERNELS.keys()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_reference_is_what_the_kernel_computes(kernel: str) -> None:
    b = small(kernel)
    inputs = b.generate()
    found = {n: reference(b, inputs) for n in b.outputs}
    assert worst_error(read_kernel(kernel), b.sizes, inputs, found, "fast") <= 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_numpy_computes_the_kernel(kernel: str) -> None:
    given = task(kernel)
    before = {n: a.copy() for n, a in given.inputs.items()}
    prepared: Prepared = NumPy().prepare(given, 1)
    prepared.call()
    prepared.call()
    assert error(prepared.result(), reference(given.benchmark, before)) < TOLERANCE / 100
    assert all((given.inputs[n] == before[n]).all() for n in before)


def test_an_error_is_relative_to_the_largest_value() -> None:
    expected = np.array([1.0, -4.0], np.float32)
    assert error(expected + np.array([0.5, 0]), expected) == 0.125
    assert error(expected.reshape(2, 1), expected) == 0
    assert error(np.zeros(2), np.zeros(2)) == 0


@pytest.mark.parametrize("found", [[1.0, np.nan], [np.inf, -4.0], [1.0]])
def test_what_is_not_finite_or_not_there_is_wrong(found: list[float]) -> None:
    assert error(np.array(found), np.array([1.0, -4.0])) == np.inf
