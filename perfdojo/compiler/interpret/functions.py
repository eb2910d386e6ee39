"""The elementary functions on arrays, in every float type: the meaning that emitted code is tested against.

f32: the algorithms of docs/functions.md, written here a second time, on their own, from the coefficients.
f16 and bf16: the f32 function, rounded. f64: the C library's function, reached through `math`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.elementary import coefficients as c
from perfdojo.compiler.interpret import wide_functions as wide
from perfdojo.compiler.interpret.fma import fma32

Array = NDArray[Any]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_ONE = np.float32(1.0)


def exp(x: Array) -> Array:
    """Return e^x."""
    return _by_type(x, _exp32, _exp64)


def log(x: Array) -> Array:
    """Return the natural logarithm: -inf at 0, NaN below."""
    return _by_type(x, _log32, _through(math.log, lambda v: -math.inf if v == 0 else math.nan))


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent."""
    return _by_type(x, _tanh32, _through(math.tanh))


def erf(x: Array) -> Array:
    """Return the error function."""
    return _by_type(x, _erf32, _through(math.erf))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x); f64 as z / (1 + z) below 0 and 1 / (1 + z) above, z = e^-|x|."""
    return _by_type(x, _sigmoid32, _sigmoid64)


def sin(x: Array) -> Array:
    """Return the sine, NaN at infinities."""
    return _by_type(x, wide.sin32, _through(math.sin))


def cos(x: Array) -> Array:
    """Return the cosine, NaN at infinities."""
    return _by_type(x, wide.cos32, _through(math.cos))


def sqrt(x: Array) -> Array:
    """Return the square root, correctly rounded, NaN below 0."""
    return _by_type(x, np.sqrt, np.sqrt)


def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x): two operations of the type of x, each rounded."""
    root = sqrt(x)
    return _by_type(root, lambda v: np.asarray(_ONE / v), lambda v: np.asarray(1.0 / v))


def pow(x: Array, y: Array) -> Array:
    """Return x^y with the special values of C (Annex F.10.4.4), for x and y of one type."""
    x, y = np.broadcast_arrays(x, y)
    with np.errstate(all="ignore"):
        if x.dtype == np.float64:
            pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
            return np.array([_pow64(a, b) for a, b in pairs], np.float64).reshape(x.shape)
        result = wide.pow32(x.astype(np.float32), y.astype(np.float32))
        return np.asarray(result.astype(x.dtype))


def _by_type(x: Array, single: Callable[[F32], F32], double: Callable[[F64], F64]) -> Array:
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        if x.dtype == np.float64:
            return double(x)
        return np.asarray(single(x.astype(np.float32)).astype(x.dtype))


# ---------------------------------------------------------------- f64


def _through(
    function: Callable[[float], float], otherwise: Callable[[float], float] = lambda v: math.nan
) -> Callable[[F64], F64]:
    """Apply a function of `math` to each element; `otherwise` has the value where it raises."""

    def one(v: float) -> float:
        try:
            return function(v)
        except (ValueError, OverflowError):
            return otherwise(v)

    def run(x: F64) -> F64:
        values = x.ravel().tolist()
        try:
            results = list(map(function, values))
        except (ValueError, OverflowError):
            results = list(map(one, values))
        return np.array(results, np.float64).reshape(x.shape)

    return run


_exp64 = _through(math.exp, lambda v: math.inf)


def _sigmoid64(x: F64) -> F64:
    z = _exp64(-np.abs(x))
    return np.asarray(np.where(x < 0, z, 1.0) / (1.0 + z))


def _pow64(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):
        # On overflow, and for a zero to a negative or a negative number to a fractional power.
        if x < 0 and not y.is_integer():
            return math.nan
        odd = math.fmod(y, 2) in (1.0, -1.0)
        return math.copysign(math.inf, x) if odd else math.inf


# ---------------------------------------------------------------- f32


def _polynomial(coefficients: Sequence[float], x: F32) -> F32:
    """Horner's rule in f32 with fma; coefficients from the lowest power."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = fma32(value, x, np.float32(coefficient))
    return value


def _even_odd(coefficients: Sequence[float], x: F32, square: F32) -> F32:
    """The even part at x^2 plus x times the odd part, each by Horner's rule."""
    return fma32(_polynomial(coefficients[1::2], square), x, _polynomial(coefficients[0::2], square))


def _nearest_power(x: F32, factor: float, bias: float) -> tuple[F32, F32]:
    """Return k = round(x * factor), rounded once, and the f32 whose exponent field is k + bias."""
    shift = np.float32(c.ROUND + bias)
    shifted = fma32(x, np.float32(factor), shift)
    field = shifted.view(np.uint32) << np.uint32(23)
    return shifted - shift, field.view(np.float32)


def _clip(x: F32, low: float, high: float) -> F32:
    """Clamp; a NaN stays."""
    return np.asarray(np.clip(x, np.float32(low), np.float32(high)))


def _minus_multiple(x: F32, k: F32, step: float) -> F32:
    return fma32(-k, np.float32(step), x)


def _exp32(x: F32) -> F32:
    x = _clip(x, c.EXP_LOW, c.EXP_HIGH)
    k, power = _nearest_power(x, c.LOG2_E / 2, c.BIAS)
    r = _minus_multiple(_minus_multiple(x, k, 2 * c.LN_2), k, 2 * c.LN_2_REST)
    return _polynomial(c.EXP, r) * power * power


def _sigmoid32(x: F32) -> F32:
    x = _clip(x, c.SIGMOID_LOW, c.SIGMOID_HIGH)
    k, power = _nearest_power(x, c.LOG2_E, c.SIGMOID_SCALE + c.BIAS)
    r = _minus_multiple(_minus_multiple(x, k, c.LN_2), k, c.LN_2_REST)
    scaled = _polynomial(c.SIGMOID, r) * power
    return np.asarray(scaled / (scaled + np.float32(2.0**c.SIGMOID_SCALE)))


def _tanh32(x: F32) -> F32:
    x = _clip(x, -c.TANH_LIMIT, c.TANH_LIMIT)
    k, s = _nearest_power(x, 2 * c.LOG2_E, c.BIAS)
    r = _minus_multiple(x, k, c.LN_2 / 2)
    square = r * r
    # Adding +0 keeps tanh(-0) = -0: the product alone is -0 there.
    relative = fma32(square, _polynomial(c.TANH, square), np.float32(0.0))
    t = fma32(r, relative, r)
    less = _ONE - s
    return np.asarray(fma32(t, s + _ONE, -less) / fma32(-t, less, s + _ONE))


def _log32(x: F32) -> F32:
    subnormal = x < np.float32(c.SMALLEST_NORMAL)
    normal = np.where(subnormal, x * np.float32(2.0**c.LOG_SUBNORMAL_SCALE), x)
    least = int(np.float32(c.LOG_LEAST).view(np.int32))
    exponent = (normal.view(np.int32) - np.int32(least)) >> np.int32(23)
    f = (normal.view(np.int32) - (exponent << np.int32(23))).view(np.float32) - _ONE
    e = exponent.astype(np.float32) - np.where(subnormal, np.float32(c.LOG_SUBNORMAL_SCALE), np.float32(0.0))
    square = f * f
    log_m = fma32(square, _even_odd(c.LOG, f, square), f)
    result = fma32(e, np.float32(c.LN_2), log_m)
    result = np.where(x == np.inf, x, result)
    result = np.where(x == 0, np.float32(-np.inf), result)
    return np.asarray(np.where(x >= 0, result, np.float32(np.nan)))


def _erf32(x: F32) -> F32:
    a = np.minimum(np.abs(x), np.float32(c.ERF_LIMIT))
    log_erfc = _minus_multiple(_even_odd(c.ERF, a, a * a) * a, a, c.ERF_SLOPE)
    k, s = _nearest_power(log_erfc, c.LOG2_E, c.BIAS)
    r = _minus_multiple(log_erfc, k, c.LN_2)
    less_one = fma32(r * r, _polynomial(c.EXPM1, r), r)
    return np.asarray(np.copysign(fma32(-s, less_one, _ONE - s), x))
