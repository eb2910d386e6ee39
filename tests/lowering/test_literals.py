"""Literals round as NumPy rounds a double to the type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, I8, DType
from perfdojo.compiler.lowering.literals import rounded

TYPES: list[tuple[DType, Any]] = [(F32, np.float32), (F16, np.float16), (BF16, ml_dtypes.bfloat16)]


@pytest.mark.parametrize(("dtype", "numpy"), TYPES)
@given(x=st.one_of(st.floats(allow_nan=False), st.floats(-1e5, 1e5), st.floats(-1e-4, 1e-4)))
def test_rounding_to_nearest_even(dtype: DType, numpy: Any, x: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        # ml_dtypes rounds a double by way of f32; through longdouble-free f32 only when that is exact
        if dtype == BF16 and float(np.float32(x)) != x:
            x = float(np.float32(x))
        expected = float(numpy(x))
    found = rounded(x, dtype)
    assert (found, np.signbit(found)) == (expected, np.signbit(expected))


def test_a_literal_between_two_bf16_rounds_once() -> None:
    # just above the middle of 1 and its successor; by way of f32 it would be a tie, and go to 1
    assert rounded(1 + 2**-8 + 2**-40, BF16) == 1 + 2**-7
    assert rounded(1 + 2**-8, BF16) == 1


def test_integers_and_bools_stay() -> None:
    assert rounded(-128, I8) == -128
    assert rounded(True, BOOL) is True
