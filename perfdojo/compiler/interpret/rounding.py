"""Roundings that NumPy does not do in one step: sums to odd, and f64 or i64 to the narrow float types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BF16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum of two f64 arrays and its exact error (Knuth); exact without overflow."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def round_to_odd(total: Array, error: Array) -> Array:
    """Return total + error rounded to odd: the neighbour with an odd last bit unless the sum is exact.

    `total` is the sum rounded to nearest and `error` the rest, |error| <= ulp(total) / 2. A value rounded to
    odd with at least two bits to spare can be rounded again without harm.
    Source: S. Boldo, G. Melquiond, IEEE Trans. Computers 57(4), 2008.
    """
    bits = np.array(total, dtype=np.float64).view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((bits & 1) == 0)
    # One step away from zero adds 1 to the bits of either sign. An even total of 0 has no error.
    away = (error > 0) == (total > 0)
    bits += np.where(inexact, np.where(away, 1, -1), 0)
    return bits.view(np.float64)


def narrow_f64(x: Array, dtype: np.dtype[Any]) -> Array:
    """Round f64 once to `dtype`, any float type; to bf16 by way of f32, where ml_dtypes would round twice."""
    if dtype != BF16:
        return np.asarray(x.astype(dtype))
    return np.asarray(_f32_to_odd(x).astype(dtype))


def int_to_float(x: Array, dtype: np.dtype[Any]) -> Array:
    """Round an integer or bool array once to `dtype`, any float type.

    f16 needs no care: what f32 cannot hold is beyond the range of f16.
    """
    if dtype != BF16:
        return np.asarray(x.astype(dtype))
    if x.dtype.itemsize < 4:
        return np.asarray(x.astype(np.float32).astype(dtype))
    wide = x.astype(np.int64)
    # 53 bits, the last one sticky: exact in f64, and odd wherever bits were lost.
    short = (wide >> 11) | ((wide & 0x7FF) != 0)
    small = np.abs(wide >> 52) <= 1
    exact = np.where(small, wide, short).astype(np.float64)
    return narrow_f64(np.where(small, exact, exact * 2048.0), dtype)


def _f32_to_odd(x: Array) -> NDArray[np.float32]:
    nearest = np.array(x, dtype=np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.int32)
    inexact = (back != x) & np.isfinite(nearest) & ((bits & 1) == 0)
    beyond_zero = (nearest == 0) & inexact
    away = np.abs(x) > np.abs(back)
    bits += np.where(inexact, np.where(away | beyond_zero, 1, -1), 0).astype(np.int32)
    return bits.view(np.float32)
