"""Fits the polynomials and tables of the f64 functions of Snitch's runtime; prints them as C.

    python benchmarks/fit_snitch.py [name ...]

Each polynomial interpolates at Chebyshev nodes, which is within a bit of the best possible; its coefficients
are rounded to f64, and the largest error after that is printed. Nothing is random: the same tables come out
each time. The numbers belong into perfdojo/templates/snitch/runtime/.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import mpmath
from mpmath import mpf

Real = Callable[[mpf], mpf]

mpmath.mp.prec = 200
LN2 = mpmath.log(2)
SMALL = mpf("1e-15")
SLACK = mpf("1.0005")
"""The reduced argument leaves its interval by a little: the quotient that it comes from is rounded."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A polynomial of x on [low, high]; its error times `weight` is what the printed figure says.

    `fixed` holds the lowest coefficients where they are given.
    """

    function: Real
    low: mpf
    high: mpf
    degree: int
    weight: Real = lambda x: mpf(1)
    fixed: tuple[float, ...] = ()


def interpolated(fit: Fit) -> list[float]:
    """Return the coefficients, lowest power first, rounded to f64."""
    middle, half, given = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2, len(fit.fixed)
    n = fit.degree + 1 - given
    # No node at 0, where some functions are quotients of zeros.
    nodes = [middle + half * mpmath.cos(mpmath.pi * (i + mpf(0.5)) / n) + SMALL for i in range(n)]
    known = fit.fixed[::-1] or (0.0,)
    values = mpmath.matrix([(fit.function(x) - mpmath.polyval(known, x)) / x**given for x in nodes])
    powers = mpmath.matrix([[x**j for j in range(n)] for x in nodes])
    return [*fit.fixed, *(float(c) for c in mpmath.lu_solve(powers, values))]


def worst(fit: Fit, coefficients: list[float], points: int = 500) -> float:
    """Return the largest weighted error on a grid."""
    step = (fit.high - fit.low) / points
    grid = (fit.low + step * (i + mpf("0.37")) for i in range(points))
    return float(
        max(abs(fit.weight(x) * (fit.function(x) - mpmath.polyval(coefficients[::-1], x))) for x in grid)
    )


def _tanh(z: mpf) -> mpf:
    r = mpmath.sqrt(z)
    return (mpmath.tanh(r) - r) / r**3


def _erf_near_0(z: mpf) -> mpf:
    x = mpmath.sqrt(z)
    return mpmath.erf(x) / x - 1


def _erf_slope(middle: mpf, t: mpf) -> mpf:
    return (mpmath.erf(middle + t) - mpmath.erf(middle)) / t


def _sine(z: mpf) -> mpf:
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) - r) / r**3


def _cosine(z: mpf) -> mpf:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


QUARTER = (mpmath.pi / 4 * SLACK) ** 2
HALF_LN2 = LN2 / 2 * SLACK
ROOT_END = mpf("0.03407")
LOG_LOW, LOG_HIGH = mpf("-0.0056"), mpf("0.0079")
TANH_END = mpf("0.5625") ** 2

FITS: dict[str, Fit] = {
    "ROOT": Fit(
        lambda r: 1 / mpmath.sqrt(1 - 2 * r), -ROOT_END, ROOT_END, 3, lambda r: mpmath.sqrt(1 - 2 * r)
    ),
    "EXP": Fit(
        lambda r: (mpmath.expm1(r) - r) / r**2,
        -HALF_LN2,
        HALF_LN2,
        10,
        lambda r: r**2 / mpmath.exp(r),
        (0.5,),
    ),
    "LOG": Fit(lambda r: (mpmath.log1p(r) - r) / r**2, LOG_LOW, LOG_HIGH, 6, lambda r: r),
    "POW": Fit(lambda r: (mpmath.log1p(r) - r + r**2 / 2) / r**3, LOG_LOW, LOG_HIGH, 6, lambda r: r**2),
    "TANH_SEED": Fit(lambda w: 1 / w, mpf("0.7069"), mpf("1.6646"), 2, lambda w: w),
    "TANH": Fit(_tanh, SMALL, TANH_END, 11, lambda z: z),
    "ERF_0": Fit(_erf_near_0, SMALL, mpf("0.25"), 9),
    "SIN": Fit(_sine, SMALL, QUARTER, 6, lambda z: z),
    "COS": Fit(_cosine, SMALL, QUARTER, 5, lambda z: z**2),
}


def short(value: float) -> str:
    """Return the hexadecimal form without trailing zeros."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}"


def words(values: list[float]) -> str:
    """Return C literals, one a line."""
    return "\n".join(f"  {short(v)}," for v in values)


def polynomial(name: str) -> str:
    """Return a polynomial as C."""
    fit = FITS[name]
    c = interpolated(fit)
    return f"/* {name}: largest error {worst(fit, c):.2g} */\n{words(c)}"


def rounded_to(value: mpf, unit: mpf) -> mpf:
    """Round to a multiple of `unit`."""
    return mpmath.nint(value / unit) * unit


def logarithms(parts: int, first: mpf, scale: int, unit: mpf) -> str:
    """Return rows {c, -log c high, low}: c = n / scale is nearly the reciprocal of the middle of part j.

    The parts are of equal width on [first, 1) and on [1, 2 first), where they are twice as wide, as the first
    bits of an f64 divide it; `high` is a multiple of `unit`. Around 1, c is 1.
    """
    rows = []
    for j in range(parts):
        below = first + mpf(j) / (2 * parts) if first + mpf(j) / (2 * parts) < 1 else None
        low = below if below is not None else 1 + (first + mpf(j) / (2 * parts) - 1) * 2
        high = low + (mpf(1) / (2 * parts) if below is not None else mpf(1) / parts)
        c = 1 / ((low + high) / 2)
        c = mpf(1) if low == 1 or high == 1 else rounded_to(c, mpf(1) / scale)
        exact = -mpmath.log(c)
        rough = rounded_to(exact, unit)
        rows.append(f"  {{{short(float(c))}, {short(float(rough))}, {short(float(exact - rough))}}},")
    return "\n".join(rows)


def error_function(first: int, last: int, degree: int) -> str:
    """Return rows of erf on [i / 2, (i + 1) / 2]: value at the middle, high and low, then powers of t."""
    rows = []
    for i in range(first, last):
        middle = mpf(i) / 2 + mpf("0.25")
        value = mpmath.erf(middle)
        fit = Fit(
            partial(_erf_slope, middle),
            mpf("-0.25"),
            mpf("0.25"),
            degree - 1,
            lambda t: t,
        )
        c = interpolated(fit)
        low = float(value - mpf(float(value)))
        text = [short(v) for v in [float(value), low, *c]]
        lines = ["    " + ", ".join(text[k : k + 4]) for k in range(0, len(text), 4)]
        rows.append(
            f"  {{ /* {float(middle)}: largest error {worst(fit, c):.2g} */\n" + ",\n".join(lines) + "},"
        )
    return "\n".join(rows)


def two_over_pi(count: int) -> str:
    """Return the first `count` words of 32 bits of 2/pi behind the point."""
    mpmath.mp.prec = 32 * count + 64
    whole = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** (32 * count)))
    return "\n".join(f"  0x{whole >> 32 * (count - 1 - k) & 0xFFFFFFFF:08x}," for k in range(count))


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(polynomial, name) for name in FITS},
    "ERF": lambda: error_function(1, 12, 14),
    "LOG_ROWS": lambda: logarithms(128, mpf("0.6875"), 256, mpf(2) ** -42),
    "TWO_OVER_PI": lambda: two_over_pi(40),
}


def main(names: list[str]) -> None:
    """Print the chosen tables, all without arguments."""
    for name in names or TABLES:
        print(f"/* {name} */\n{TABLES[name]()}")


if __name__ == "__main__":
    main(sys.argv[1:])
