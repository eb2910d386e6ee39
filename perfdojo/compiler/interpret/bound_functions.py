"""Elementary functions on pairs: the value in float64 and how far errors of the arguments move it.

Each takes arguments and their bounds and returns the value and the propagated error: 0 where the value is
NaN or infinite for certain, inf where that depends on the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Moved = tuple[Array, Array]

_ERF: Callable[..., Any] = np.frompyfunc(math.erf, 1, 1)


def sqrt(x: Array, e: Array) -> Moved:
    """Concave: the error is largest below, e / (sqrt x + sqrt(x - e))."""
    value, low = np.sqrt(x), np.sqrt(np.maximum(x - e, 0))
    return value, _where_defined(x, e, x >= e, e / (value + low))


def rsqrt(x: Array, e: Array) -> Moved:
    """1 / sqrt(x); convex and falling: the error is largest below."""
    root, low = np.sqrt(x), np.sqrt(np.maximum(x - e, 0))
    return 1 / root, _where_defined(x, e, x > e, e / (root + low) / root / low)


def log(x: Array, e: Array) -> Moved:
    """Concave: log x - log(x - e)."""
    return np.log(x), _where_defined(x, e, x > e, -np.log1p(-e / x))


def exp(x: Array, e: Array) -> Moved:
    """Convex: exp(x + e) - exp x. Certainly infinite where x - e is beyond the limit of float64."""
    value = np.exp(x)
    moved = np.where(e == 0, 0.0, _grown(value, x, e))
    return value, np.where(np.isinf(value) & (x - e > 710.0), 0.0, moved)


def _grown(value: Array, logarithm: Array, shift: Array) -> Array:
    """Return value * (exp(shift) - 1), or for large shifts exp(logarithm + shift), which is at least that."""
    total = logarithm + shift
    return np.where(shift < 1, value * np.expm1(shift), np.exp(total + np.abs(total) * 2.0**-50))


def tanh(x: Array, e: Array) -> Moved:
    """The slope 1 / cosh^2 is largest at the argument nearest 0."""
    slope = 1 / np.cosh(np.minimum(_nearest_zero(x, e), 300.0)) ** 2
    return np.tanh(x), _times(e, slope, 2.0)


def erf(x: Array, e: Array) -> Moved:
    """The slope 2/sqrt(pi) exp(-x^2) is largest at the argument nearest 0."""
    slope = 2 / math.sqrt(math.pi) * np.exp(-(np.minimum(_nearest_zero(x, e), 30.0) ** 2))
    return np.asarray(_ERF(x), np.float64), _times(e, slope, 2.0)


def sigmoid(x: Array, e: Array) -> Moved:
    """1 / (1 + exp(-x)); the slope s (1 - s) is largest at the argument nearest 0."""
    small = np.exp(-np.abs(x))
    value = np.where(np.signbit(x), small / (1 + small), 1 / (1 + small))
    near = np.exp(-_nearest_zero(x, e))
    return value, _times(e, near / (1 + near) ** 2, 1.0)


def sin(x: Array, e: Array) -> Moved:
    """The slope is at most |cos x| + e."""
    return np.sin(x), _times(e, np.minimum(np.abs(np.cos(x)) + e, 1.0), 2.0)


def cos(x: Array, e: Array) -> Moved:
    """The slope is at most |sin x| + e."""
    return np.cos(x), _times(e, np.minimum(np.abs(np.sin(x)) + e, 1.0), 2.0)


def pow(x: Array, e: Array, y: Array, ey: Array) -> Moved:
    """Positive x: the logarithm y log x moves by at most (|y| + ey) |log(1 - e/x)| + ey |log x|.

    Other x: only a whole, exact y, by the slope y x^(y-1) at the far (y >= 1) or near end.
    """
    value = np.power(x, y)
    logarithm = np.log(np.abs(x))
    shift = (np.abs(y) + ey) * -np.log1p(-e / x) + ey * np.abs(logarithm)
    moved = _grown(value, y * logarithm, shift)
    overflown = np.isinf(value) & (y * logarithm - shift > 710.0)
    moved = np.where(overflown, 0.0, moved)
    end = np.where(y >= 1, np.abs(x) + e, np.maximum(np.abs(x) - e, 0.0))
    whole = np.abs(y) * np.power(end, y - 1) * e
    whole = np.where((ey == 0) & (y == np.rint(y)), np.where(y == 0, 0.0, whole), np.inf)
    exact = (e == 0) & (ey == 0)
    odd = ~(np.isfinite(x) & np.isfinite(y))
    return value, np.where(exact, 0.0, np.where(odd, np.inf, np.where(x > e, moved, whole)))


def _where_defined(x: Array, e: Array, defined: Array, moved: Array) -> Array:
    """Return `moved` inside the domain x > 0, 0 for a certain argument outside of it, else inf."""
    certain = (e == 0) | (x + e < 0)
    return np.where(e == 0, 0.0, np.where(defined, moved, np.where(certain, 0.0, np.inf)))


def _nearest_zero(x: Array, e: Array) -> Array:
    return np.asarray(np.maximum(np.abs(x) - e, 0.0))


def _times(e: Array, slope: Array, most: float) -> Array:
    """Return e * slope, at most `most` unless nothing is known of the argument, which may be NaN."""
    return np.where(e == 0, 0.0, np.where(np.isinf(e), np.inf, np.minimum(e * slope, most)))


FUNCTIONS: dict[str, Callable[..., Moved]] = {
    f.__name__: f for f in (sqrt, rsqrt, log, exp, tanh, erf, sigmoid, sin, cos, pow)
}
