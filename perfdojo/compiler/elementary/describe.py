"""The f32 functions that vector code computes in its lanes, as routines of primitive operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from perfdojo.compiler.elementary import coefficients as c
from perfdojo.compiler.elementary.builder import Builder
from perfdojo.compiler.elementary.routine import Routine

_SIGN = -(2**31)
_LOG_LEAST = 0x3F400000
"""Bits of LOG_LEAST."""
_LARGEST = (2.0 - 2.0**-23) * 2.0**127


def describe(name: str) -> Routine:
    """Return the routine of one of `VECTOR_FUNCTIONS`; KeyError for another name."""
    return _describe(name)


@cache
def _describe(name: str) -> Routine:
    return _ROUTINES[name]()


def _power_of_two(b: Builder, x: str, factor: float, shift: float, comment: str) -> tuple[str, str]:
    """Append k = round(x * factor) and s = 2^(k + shift - BIAS); return their names."""
    magic = c.ROUND + shift
    t = b("t", "fma", x, factor, magic, comment="k in the low bits")
    k = b("k", "sub", t, magic, comment=comment)
    bits = b("t_bits", "bitcast_f32_i32", t)
    s_bits = b("s_bits", "shl_i32", bits, 23)
    return k, b("s", "bitcast_i32_f32", s_bits)


def _clamp(b: Builder, x: str, low: float, high: float) -> str:
    below = b("x_below", "min_raw", high, x, comment="NaN stays")
    return b("x_in", "max_raw", low, below)


def _exp() -> Routine:
    b = Builder("exp", "exp(x) = 2^k 2^k e^r, k = round(x / (2 log 2)), |r| <= log 2", "x")
    x = _clamp(b, "x", c.EXP_LOW, c.EXP_HIGH)
    k, s = _power_of_two(b, x, c.LOG2_E / 2, c.BIAS, "round(x / (2 log 2))")
    high = b("r_high", "fnma", k, 2 * c.LN_2, x, comment="exact")
    r = b("r", "fnma", k, 2 * c.LN_2_REST, high)
    p = b.horner("p", c.EXP, r, "e^r")
    b("y", "mul", b("half", "mul", p, s, comment="exact"), s, comment="the only rounding of a subnormal")
    return b.routine()


def _sigmoid() -> Routine:
    b = Builder("sigmoid", "1 / (1 + exp(-x)) = u / (u + 2^64), u = 2^64 exp(x) = 2^(64+k) e^r", "x")
    x = _clamp(b, "x", c.SIGMOID_LOW, c.SIGMOID_HIGH)
    k, s = _power_of_two(b, x, c.LOG2_E, c.SIGMOID_SCALE + c.BIAS, "round(x / log 2)")
    high = b("r_high", "fnma", k, c.LN_2, x, comment="exact")
    r = b("r", "fnma", k, c.LN_2_REST, high)
    u = b("u", "mul", b.horner("p", c.SIGMOID, r, "e^r"), s, comment="exact")
    b("y", "div", u, b("v", "add", u, 2.0**c.SIGMOID_SCALE))
    return b.routine()


def _tanh() -> Routine:
    formula = "tanh(x) = (T (s+1) + (s-1)) / ((s+1) + T (s-1)), s = 2^k = e^(2x-2r), T = tanh r"
    b = Builder("tanh", formula, "x")
    x = _clamp(b, "x", -c.TANH_LIMIT, c.TANH_LIMIT)
    k, s = _power_of_two(b, x, 2 * c.LOG2_E, c.BIAS, "round(2x / log 2)")
    r = b("r", "fnma", k, c.LN_2 / 2, x, comment="|r| <= log(2) / 4")
    z = b("z", "mul", r, r)
    q = b.horner("q", c.TANH, z)
    w = b("w", "fma", z, q, 0.0, comment="+0 for r = -0, where a product would be -0")
    tanh_r = b("tanh_r", "fma", r, w, r)
    plus = b("s_plus", "add", s, 1.0)
    minus = b("s_minus", "sub", 1.0, s, comment="1 - s, so that tanh(-0) = -0")
    above = b("above", "fms", tanh_r, plus, minus)
    below = b("below", "fnma", tanh_r, minus, plus)
    b("y", "div", above, below)
    return b.routine()


def _log() -> Routine:
    b = Builder("log", "log(x) = e log 2 + f + f^2 q(f), x = 2^e (1+f), 0.75 <= 1+f < 1.5", "x")
    small = b("small", "lt", "x", c.SMALLEST_NORMAL)
    scaled = b("x_scaled", "mul", "x", 2.0**c.LOG_SUBNORMAL_SCALE)
    a = b("a", "select", small, scaled, "x", comment="a normal number, if x > 0")
    offset = b("e_offset", "select", small, -c.LOG_SUBNORMAL_SCALE, 0.0)
    bits = b("a_bits", "bitcast_f32_i32", a)
    above = b("above", "sub_i32", bits, _LOG_LEAST, comment="bits of 0.75")
    e_bits = b("e_bits", "and_i32", above, -(2**23), comment="2^23 e")
    m = b("m", "bitcast_i32_f32", b("m_bits", "sub_i32", bits, e_bits))
    e = b("e", "fma", b("e_scaled", "cvt_i32_f32", e_bits), 2.0**-23, offset)
    f = b("f", "sub", m, 1.0, comment="exact")
    z = b("z", "mul", f, f)
    log_m = b("log_m", "fma", z, b.even_odd("q", c.LOG, f, z), f)
    y = b("y_finite", "fma", e, c.LN_2, log_m)
    far = b("x_far", "sub", "x", _LARGEST, comment="not above 0, but for inf and NaN")
    kept = b("y_not_negative", "max_raw", y, far, comment="log(inf) = inf; NaN stays")
    zero = b("zero", "eq", "x", 0.0)
    special = b("special", "select", zero, float("-inf"), float("nan"))
    positive = b("positive", "gt", "x", 0.0)
    b("y", "select", positive, kept, special)
    return b.routine()


def _erf() -> Routine:
    b = Builder("erf", "erf(x) = 1 - e^y for x >= 0, y = log(erfc(x)) = x (h(x) - 2/sqrt(pi)); odd", "x")
    absolute = b("x_abs", "abs", "x")
    a = b("a", "min_raw", c.ERF_LIMIT, absolute, comment="NaN stays")
    h = b.even_odd("h", c.ERF, a, b("a2", "mul", a, a))
    ha = b("ha", "mul", h, a)
    y = b("log_erfc", "fnma", a, c.ERF_SLOPE, ha)
    k, s = _power_of_two(b, y, c.LOG2_E, c.BIAS, "round(log_erfc / log 2)")
    r = b("r", "fnma", k, c.LN_2, y)
    z = b("z", "mul", r, r)
    v = b("v", "fma", z, b.horner("q", c.EXPM1, r), r, comment="e^r - 1")
    minus = b("s_minus", "sub", 1.0, s)
    e = b("e", "fnma", s, v, minus, comment="1 - 2^k e^r")
    sign = b("sign", "and_i32", b("x_bits", "bitcast_f32_i32", "x"), _SIGN)
    b("y", "bitcast_i32_f32", b("y_bits", "or_i32", b("e_as_bits", "bitcast_f32_i32", e), sign))
    return b.routine()


_ROUTINES: dict[str, Callable[[], Routine]] = {
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "erf": _erf,
    "sigmoid": _sigmoid,
}

VECTOR_FUNCTIONS: tuple[str, ...] = tuple(_ROUTINES)
"""Functions with a routine."""
