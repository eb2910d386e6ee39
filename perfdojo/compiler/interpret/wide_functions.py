"""The f32 functions that are evaluated in f64, without fma: sin, cos and pow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.elementary import wide_coefficients as c

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def sin32(x: F32) -> F32:
    """Return the sine of f32, rounded from f64; NaN at infinities."""
    quadrant, r = _reduce(np.abs(x))
    return np.asarray(np.where(np.signbit(x), -1.0, 1.0) * _quarter(quadrant, r)).astype(np.float32)


def cos32(x: F32) -> F32:
    """Return the cosine of f32, rounded from f64; NaN at infinities."""
    quadrant, r = _reduce(np.abs(x))
    return _quarter(quadrant + 1, r).astype(np.float32)


def pow32(x: F32, y: F32) -> F32:
    """Return x^y for f32 of one shape, rounded from f64, with the special values of C."""
    size, exponent = np.abs(x).astype(np.float64), y.astype(np.float64)
    t = np.clip(exponent * _log2(size), c.EXP2_LOW, c.EXP2_HIGH)
    result = _exp2(t)
    result = np.where(size == 1.0, 1.0, result)
    integer = np.floor(exponent) == exponent
    odd = integer & np.isfinite(exponent) & (np.floor(exponent * 0.5) != exponent * 0.5)
    result = np.where(np.signbit(x) & odd, -result, result)
    result = np.where((x < 0) & np.isfinite(x) & ~integer, np.nan, result)
    result = np.where(np.isnan(x) | np.isnan(y), np.nan, result)
    return np.asarray(np.where((x == 1) | (y == 0), 1.0, result).astype(np.float32))


def _horner(coefficients: Sequence[float], x: F64) -> F64:
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def _quarter(quadrant: I64, r: F64) -> F64:
    """Return sin(quadrant * pi/2 + r) for |r| <= pi/4."""
    z = r * r
    sine = r + r * z * _horner(c.SIN, z)
    cosine = 1.0 + z * _horner(c.COS, z)
    value = np.where(quadrant & 1, cosine, sine)
    return np.asarray(np.where(quadrant & 2, -value, value))


def _reduce(a: F32) -> tuple[I64, F64]:
    """Return n and r with a = n pi/2 + r, |r| <= pi/4 and a little, for a >= 0; n modulo 4 counts."""
    wide = a.astype(np.float64)
    n = np.rint(wide * c.TWO_OVER_PI)
    r = (wide - n * c.HALF_PI_HIGH) - n * c.HALF_PI_LOW
    large = a >= np.float32(c.LARGE)
    quadrant = np.where(large, 0.0, n).astype(np.int64)
    if large.any():
        quadrant[large], r[large] = _reduce_large(a[large])
    return quadrant, r


def _reduce_large(a: F32) -> tuple[I64, F64]:
    """The same from the bits of 2/pi, for a >= 2 (and not NaN); infinities give NaN.

    a = m 2^e with an integer m < 2^24. Bits of 2/pi whose weight times 2^e is a multiple of 4 drop out;
    96 bits from the next one on give a * 2/pi modulo 4 to 2^-62.
    """
    bits = a.view(np.uint32).astype(np.uint64)
    m = (bits & np.uint64(0x7FFFFF)) | np.uint64(0x800000)
    first = (bits >> np.uint64(23)) - np.uint64(127 + 23 + 2 - c.LEADING_ZEROS)
    word, shift = (first >> np.uint64(5)).astype(np.int64), first & np.uint64(31)
    table = np.array(c.TWO_OVER_PI_WORDS, np.uint64)
    # The word at the end of the table is 0; an infinity reads there and is replaced below.
    at = [table[np.minimum(word + k, len(table) - 1)] for k in range(4)]
    w = [
        (((at[k] << np.uint64(32)) | at[k + 1]) >> (np.uint64(32) - shift)) & np.uint64(0xFFFFFFFF)
        for k in range(3)
    ]
    turns = ((m * w[0]) << np.uint64(32)) + m * w[1] + ((m * w[2]) >> np.uint64(32))
    quadrant = (turns + np.uint64(1 << 61)) >> np.uint64(62)
    rest = (turns - (quadrant << np.uint64(62))).view(np.int64)
    r = rest.astype(np.float64) * c.HALF_PI_2_62
    return quadrant.astype(np.int64), np.where(np.isinf(a), np.nan, r)


def _log2(size: F64) -> F64:
    """Return log2 of f64 numbers that are f32 and not negative."""
    bits = size.view(np.int64)
    least = int(np.float64(c.LOG2_LEAST).view(np.int64))
    e = (bits - least) >> 52
    f = (bits - (e << 52)).view(np.float64) - 1.0
    s = f / (f + 2.0)
    value = e.astype(np.float64) + s * _horner(c.LOG2, s * s)
    value = np.where(size == 0, -np.inf, value)
    return np.asarray(np.where(size == np.inf, np.inf, value))


def _exp2(t: F64) -> F64:
    """Return 2^t for |t| < 1000; NaN stays."""
    k = np.rint(t)
    power = ((np.where(np.isnan(k), 0.0, k).astype(np.int64) + 1023) << 52).view(np.float64)
    return np.asarray(_horner(c.EXP2, t - k) * power)
