"""Operands for the arithmetic that Snitch lacks: all exponents, hard cases of rounding, special values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _special(dtype: Any) -> Array:
    kind = np.finfo(dtype)
    least, unit = kind.smallest_subnormal, kind.eps
    ends = [
        least,
        -least,
        kind.tiny,
        kind.tiny - least,
        kind.max,
        2 - unit,
        1 - unit / 2,
        1 + unit,
        4 - 2 * unit,
    ]
    return np.array([0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, np.inf, -np.inf, np.nan, np.pi, *ends], dtype)


SPECIAL = _special(np.float64)
SPECIAL_F32 = _special(np.float32)


def pairs(values: Array) -> tuple[Array, Array]:
    """Return all pairs of elements."""
    first, second = np.meshgrid(values, values)
    return first.ravel(), second.ravel()


def any_bits(rng: np.random.Generator, count: int, dtype: Any) -> Array:
    """Return floats of random bits: all exponents, subnormals, NaN."""
    integer: Any = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    return rng.integers(0, np.iinfo(integer).max, count, integer, endpoint=True).view(dtype)


def moderate(rng: np.random.Generator, count: int) -> Array:
    """Return positive f64 between 2^-40 and 2^40, all bits of the fraction random."""
    fraction = rng.integers(0, 2**52, count, np.uint64)
    bits: Array = fraction | (rng.integers(983, 1063, count, np.uint64) << np.uint64(52))
    return bits.view(np.float64)


def same(a: Array, b: Array) -> Array:
    """Tell where two arrays have the same bits, or both a NaN."""
    integer = np.int32 if a.dtype == np.float32 else np.int64
    equal: Array = (a.view(integer) == b.view(integer)) | (np.isnan(a) & np.isnan(b))
    return equal
