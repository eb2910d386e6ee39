"""What `strict` compares: bits, but for which NaN a NaN is."""

from __future__ import annotations

import numpy as np

from perfdojo.compiler.interpret import first_difference


def test_the_first_element_with_other_bits_is_named() -> None:
    a = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    b = a.copy()
    b[1, 0] = np.nextafter(np.float32(3.0), np.float32(4.0))
    assert first_difference({"y": a}, {"y": a.copy()}) == ""
    assert first_difference({"y": a}, {"y": b}).startswith("y[1, 0] is 3.0, expected 3.0000002")


def test_zeros_of_different_sign_differ_and_any_nan_is_a_nan() -> None:
    zero = np.array([0.0], np.float64)
    assert first_difference({"y": zero}, {"y": -zero})
    nan = np.array([np.nan], np.float16)
    assert first_difference({"y": nan}, {"y": -nan}) == ""
    assert first_difference({"y": nan}, {"y": np.array([1.0], np.float16)})


def test_integers_and_rank_zero() -> None:
    assert first_difference({"n": np.array(3)}, {"n": np.array(4)}) == "n[] is 3, expected 4 bit for bit"
