"""Numbers of the f32 functions, each exactly an f32; polynomials lowest power first.

The polynomials are printed by `benchmarks/fit_functions.py`, which says how they were fitted; the other
constants are roundings of the values that their comments give.
"""

from __future__ import annotations

_ = float.fromhex

LOG2_E = _("0x1.715476p+0")
LN_2 = _("0x1.62e43p-1")
LN_2_REST = _("-0x1.05c61p-29")
"""log(2) - LN_2, rounded: LN_2 + LN_2_REST is log(2) to 2^-55."""

ROUND = 1.5 * 2.0**23
"""Adding this to |y| < 2^22 leaves y, rounded to an integer, in the low bits of the sum."""
BIAS = 127.0
"""Exponent of 1.0 as f32 stores it: the integer k + BIAS, shifted left by 23, is the f32 2^k."""

# exp(x) = 2^k 2^k e^r,  k = round(x / (2 log 2)),  |r| <= log 2
EXP_LOW, EXP_HIGH = -104.0, 89.0
"""exp is 0 and inf beyond: log(2^-150) = -103.97, log(2^128) = 88.72."""
EXP = (
    _("0x1p+0"),
    _("0x1p+0"),
    _("0x1.00001ap-1"),
    _("0x1.55558p-3"),
    _("0x1.55445cp-5"),
    _("0x1.10fde2p-7"),
    _("0x1.72c168p-10"),
    _("0x1.aa0ad6p-13"),
)
"""e^r for |r| <= log 2."""

# sigmoid(x) = u / (u + 2^64),  u = 2^(64+k) e^r,  k = round(x / log 2),  |r| <= log(2) / 2
SIGMOID_LOW, SIGMOID_HIGH = -104.0, 30.0
"""sigmoid is 0 and 1 beyond; so far 2^(64+k) is a normal f32."""
SIGMOID_SCALE = 64.0
SIGMOID = (
    _("0x1p+0"),
    _("0x1p+0"),
    _("0x1.fffffcp-2"),
    _("0x1.555492p-3"),
    _("0x1.5558bp-5"),
    _("0x1.12398ep-7"),
    _("0x1.6a4d5ep-10"),
)
"""e^r for |r| <= log(2) / 2."""

# tanh(x) = (T (s+1) + (s-1)) / ((s+1) + T (s-1)),  s = 2^k = e^(2x - 2r),  T = tanh r,  |r| <= log(2) / 4
TANH_LIMIT = 9.125
"""tanh is 1 beyond: 1 - tanh(9.02) = 2^-25."""
TANH = (
    _("-0x1.554faap-2"),
    _("0x1.0c686ep-3"),
)
"""(tanh(r) - r) / r^3 in powers of r^2, for |r| <= log(2) / 4."""

# log(x) = e log 2 + f + f^2 q(f),  x = 2^e (1+f),  0.75 <= 1+f < 1.5
LOG_LEAST = 0.75
LOG_SUBNORMAL_SCALE = 23.0
SMALLEST_NORMAL = 2.0**-126
LOG = (
    _("-0x1.00001p-1"),
    _("0x1.5555e4p-2"),
    _("-0x1.ffe076p-3"),
    _("0x1.9924ccp-3"),
    _("-0x1.5865ep-3"),
    _("0x1.32985p-3"),
    _("-0x1.ee95fap-4"),
    _("0x1.bd479ep-5"),
)
"""(log(1+f) - f) / f^2 for -0.25 <= f <= 0.5."""

# erf(x) = 1 - e^y for x >= 0,  y = log(erfc x) = x (h(x) - 2/sqrt(pi))
ERF_LIMIT = 3.9375
"""erf is 1 beyond: erfc(3.92) = 2^-25."""
ERF_SLOPE = _("0x1.20dd76p+0")
"""2 / sqrt(pi)."""
ERF = (
    _("0x1.e90a5ap-27"),
    _("-0x1.45f294p-1"),
    _("-0x1.a521e2p-4"),
    _("0x1.3ca18cp-6"),
    _("-0x1.be6af6p-13"),
    _("-0x1.4672p-10"),
    _("0x1.8cacp-12"),
    _("-0x1.51f984p-15"),
)
"""log(erfc x) / x + ERF_SLOPE for 0 <= x <= ERF_LIMIT."""
EXPM1 = (
    _("0x1.fffffep-2"),
    _("0x1.5554b4p-3"),
    _("0x1.5556f2p-5"),
    _("0x1.12254ap-7"),
    _("0x1.6b9c68p-10"),
)
"""(e^r - 1 - r) / r^2 for |r| <= log(2) / 2."""
