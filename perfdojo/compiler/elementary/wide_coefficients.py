"""Numbers of the f32 functions that are evaluated in f64; polynomials lowest power first.

The polynomials are printed by `benchmarks/fit_functions.py`.
"""

from __future__ import annotations

_ = float.fromhex

# sin and cos: |x| = n pi/2 + r,  |r| <= pi/4
TWO_OVER_PI = _("0x1.45f306dc9c883p-1")
HALF_PI_HIGH = _("0x1.921fb544p+0")
"""The first 33 bits of pi/2: its products with n < 2^20 are exact."""
HALF_PI_LOW = _("0x1.0b4611a626331p-34")
"""pi/2 - HALF_PI_HIGH, rounded."""
LARGE = 2.0**20
"""From here on x is reduced with the bits of 2/pi."""
TWO_OVER_PI_WORDS = (
    0x00000000,
    0xA2F9836E,
    0x4E441529,
    0xFC2757D1,
    0xF534DDC0,
    0xDB629599,
    0x3C439041,
    0xFE5163AB,
)
"""2/pi after LEADING_ZEROS bits that are 0, 32 bits a word, the first bit in front."""
LEADING_ZEROS = 32
HALF_PI_2_62 = _("0x1.921fb54442d18p-62")
"""pi/2 * 2^-62."""
SIN = (
    _("-0x1.55555555521f7p-3"),
    _("0x1.1111110c8282fp-7"),
    _("-0x1.a019f932ea1eap-13"),
    _("0x1.71d7699722f48p-19"),
    _("-0x1.a96058ba0f489p-26"),
)
"""(sin(r) - r) / r^3 in powers of r^2, for |r| <= pi/4."""
COS = (
    _("-0x1.ffffffffe96d7p-2"),
    _("0x1.55555545b4cbap-5"),
    _("-0x1.6c16b33dae6cdp-10"),
    _("0x1.a00eb3d3775a8p-16"),
    _("-0x1.23c86e8795be3p-22"),
)
"""(cos(r) - 1) / r^2 in powers of r^2, for |r| <= pi/4."""

# pow: |x|^y = 2^(y log2 |x|)
LOG2_LEAST = 0.75
"""|x| = 2^e m with LOG2_LEAST <= m < 2 LOG2_LEAST."""
LOG2 = (
    _("0x1.71547652b8308p+1"),
    _("0x1.ec709dc388574p-1"),
    _("0x1.2776c53431ae4p-1"),
    _("0x1.a6173754987a9p-2"),
    _("0x1.48570c9b168ebp-2"),
    _("0x1.0aea105c6a56ap-2"),
    _("0x1.0127869301769p-2"),
)
"""log2((1+s)/(1-s)) / s in powers of s^2, for |s| <= 1/5, s = (m-1)/(m+1)."""
EXP2_LOW, EXP2_HIGH = -200.0, 200.0
"""2^t is 0 and inf as f32 beyond."""
EXP2 = (
    _("0x1p+0"),
    _("0x1.62e42fef89d1ep-1"),
    _("0x1.ebfbdff8ede7fp-3"),
    _("0x1.c6b08dced35b5p-5"),
    _("0x1.3b2ab5ed70418p-7"),
    _("0x1.5d874d070067bp-10"),
    _("0x1.430aa882d665ep-13"),
    _("0x1.00d8533cd4dacp-16"),
    _("0x1.61c4efb1314c7p-20"),
)
"""2^r for |r| <= 1/2."""
