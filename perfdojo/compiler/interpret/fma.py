"""Fused multiply-add on arrays: a*b + c rounded once, in every float type, without the machine's own fma."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perfdojo.compiler.interpret.rounding import narrow_f64, round_to_odd, two_sum

Array = NDArray[Any]

_SPLIT = float(2**27 + 1)
_SAFE_LOW, _SAFE_HIGH, _SAFE_ADDEND = 2.0**-400, 2.0**400, 2.0**1000


def fma(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> Array:
    """Return a*b + c rounded once to the common float type (f64, f32, f16 or bf16) of the operands."""
    a, b, c = np.asarray(a), np.asarray(b), np.asarray(c)
    if a.dtype == np.float64:
        return fma64(a, b, c)
    if a.dtype == np.float32:
        return fma32(a, b, c)
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        return narrow_f64(round_to_odd(*two_sum(product, c.astype(np.float64))), a.dtype)


def fma32(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.float32]:
    """Return a*b + c rounded once to f32; operands are f32 arrays that broadcast together.

    The product of two f32 is exact in f64, so only the addition can be rounded twice. That needs a sum in f64
    on a midpoint between two f32 neighbours; those few, and sums near the subnormals, are added to odd.
    """
    with np.errstate(all="ignore"):
        product = np.multiply(a, b, dtype=np.float64)
        addend = np.asarray(c, dtype=np.float64)
        total = np.asarray(product + addend)
        result = np.asarray(total.astype(np.float32))
        risky = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
        risky |= np.abs(total) < 2.0**-125
        if risky.any():
            product, addend = np.broadcast_arrays(product, addend)
            odd = round_to_odd(*two_sum(product[risky], addend[risky]))
            result[risky] = odd.astype(np.float32)
    return result


def fma64(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """Return a*b + c rounded once to f64; operands are f64 arrays that broadcast together.

    Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
    rounding to odd", IEEE Trans. Computers 57(4), 2008, figure 3. It holds without underflow and overflow;
    elements near either are computed with fractions.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (a, b, c)))
    with np.errstate(all="ignore"):
        high, low = _two_product(a, b)
        top, top_low = two_sum(c, low)
        value, value_low = two_sum(high, top)
        result = np.asarray(value + round_to_odd(*two_sum(top_low, value_low)))
        safe = _within(a) & _within(b) & (np.abs(c) < _SAFE_ADDEND)
        if safe.all():
            return result
        exact = np.isfinite(a) & np.isfinite(b)
        plain = ~exact | (a == 0) | (b == 0)
        result[plain] = a[plain] * b[plain] + c[plain]
        only_product = ~plain & (c == 0)
        result[only_product] = a[only_product] * b[only_product]
        only_addend = ~plain & ~np.isfinite(c)
        result[only_addend] = c[only_addend]
        rest = ~(safe | plain | only_product | only_addend)
        if rest.any():
            triples = zip(a[rest].tolist(), b[rest].tolist(), c[rest].tolist(), strict=True)
            result[rest] = [_exact(*t) for t in triples]
    return result


def _within(x: Array) -> NDArray[np.bool_]:
    magnitude = np.abs(x)
    inside: NDArray[np.bool_] = (magnitude > _SAFE_LOW) & (magnitude < _SAFE_HIGH)
    return inside


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded product and its error (Veltkamp's split, Dekker's product)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _exact(a: float, b: float, c: float) -> float:
    total = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(total)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")
