"""Fits the polynomials of the f32 functions; prints the tables of compiler/elementary/*coefficients.py.

    python benchmarks/fit_functions.py [name ...]

Each fit minimises the largest weighted error over a Chebyshev grid by Lawson's iteration (weighted least
squares whose weights grow where the error is large), rounds one coefficient after the other, the rest being
fitted again each time, and at last moves f32 coefficients by units of their last place as long as that lowers
the largest error. Nothing is random: the same tables come out each time.
Source of the iteration: C. L. Lawson, "Contributions to the theory of linear least maximum approximation",
thesis, UCLA, 1961.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

import mpmath
import numpy as np
from mpmath import mpf
from numpy.typing import NDArray

Real = Callable[[mpf], mpf]
Vector = NDArray[np.float64]

mpmath.mp.prec = 120
EXP_GOAL = mpf("1.5")
LN2 = mpmath.log(2)
SLACK = mpf("1.0005")
"""The reduced argument leaves its interval by a little: the quotient that it comes from is rounded."""


@dataclass(frozen=True)
class Fit:
    """A polynomial sum c_j x^j, j = 0 .. degree, with error weight * (function - polynomial) on [low, high].

    `fixed` holds coefficients that are given; the others are rounded to `bits` bits (24: f32, 53: f64).
    The weight turns the error into ULP of the result or a relative error; only the ratio of weights counts.
    """

    function: Real
    weight: Real
    low: mpf
    high: mpf
    degree: int
    fixed: tuple[float, ...] = ()
    bits: int = 24


def ulp(value: mpf) -> mpf:
    """Return the distance of f32 neighbours at `value`, were the exponent unbounded."""
    return mpf(2) ** (mpmath.floor(mpmath.log(abs(value), 2)) - 23)


def f32(value: mpf) -> mpf:
    """Round to f32."""
    return mpf(float(np.float32(float(value))))


TANH_END = (LN2 / 4 * SLACK) ** 2


def _tanh(z: mpf) -> mpf:
    r = mpmath.sqrt(z)
    return (mpmath.tanh(r) - r) / r**3


def _tanh_weight(z: mpf) -> mpf:
    # Near the end the result comes out of two rounded sums and a division; near 0 the sums are exact.
    return z ** mpf(1.5) / ulp(mpmath.tanh(mpmath.sqrt(z))) * (1 + z / TANH_END)


def _log_weight(f: mpf) -> mpf:
    # The nearest result that f can lead to: exponent 0, -1 or 1.
    y = mpmath.log1p(f)
    return f**2 / min(ulp(y), ulp(y - LN2), ulp(y + LN2))


def _exp_weight(r: mpf) -> mpf:
    # Of 1.5 ULP, what the roundings of r and of the last three fma can use is not free for the polynomial.
    p = mpmath.exp(r)
    inner = mpmath.expm1(r) / r
    innermost = (inner - 1) / r
    rounding = (ulp(r) * p + abs(r) * ulp(inner) + r**2 * ulp(innermost) + ulp(p)) / 2
    return 1 / (EXP_GOAL * ulp(p) - rounding)


def _sine(z: mpf) -> mpf:
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) - r) / r**3


def _cosine(z: mpf) -> mpf:
    return (mpmath.cos(mpmath.sqrt(z)) - 1) / z


def _log2(z: mpf) -> mpf:
    s = mpmath.sqrt(z)
    return 2 * mpmath.atanh(s) / (s * LN2)


QUARTER_PI = mpmath.pi / 4 * SLACK
TWO_OVER_ROOT_PI = 2 / mpmath.sqrt(mpmath.pi)

FITS: dict[str, Fit] = {
    "EXP": Fit(mpmath.exp, _exp_weight, -LN2 * SLACK, LN2 * SLACK, 7, (1.0, 1.0)),
    "SIGMOID": Fit(mpmath.exp, lambda r: mpmath.exp(-r), -LN2 / 2 * SLACK, LN2 / 2 * SLACK, 6, (1.0, 1.0)),
    "TANH": Fit(_tanh, _tanh_weight, mpf("1e-12"), TANH_END, 1),
    "LOG": Fit(lambda f: (mpmath.log1p(f) - f) / f**2, _log_weight, mpf(-0.25), mpf(0.5), 7),
    "ERF": Fit(
        lambda x: (mpmath.log(mpmath.erfc(x)) + x * f32(TWO_OVER_ROOT_PI)) / x,
        lambda x: x * mpmath.erfc(x) / ulp(mpmath.erf(x)),
        mpf("1e-6"),
        mpf("3.93"),
        7,
    ),
    "SIN": Fit(
        _sine, lambda z: z ** mpf(1.5) / mpmath.sin(mpmath.sqrt(z)), mpf("1e-12"), QUARTER_PI**2, 4, bits=53
    ),
    "COS": Fit(_cosine, lambda z: z / mpmath.cos(mpmath.sqrt(z)), mpf("1e-12"), QUARTER_PI**2, 4, bits=53),
    "LOG2": Fit(_log2, lambda z: 1 / _log2(z), mpf("1e-12"), mpf("0.0401"), 6, bits=53),
    "EXP2": Fit(lambda r: mpf(2) ** r, lambda r: mpf(2) ** -r, mpf(-0.5), mpf(0.5), 8, (1.0,), bits=53),
    "EXPM1": Fit(
        lambda r: (mpmath.expm1(r) - r) / r**2,
        lambda r: r**2 / abs(mpmath.expm1(r)),
        -LN2 / 2 * SLACK,
        LN2 / 2 * SLACK,
        4,
    ),
}


def lawson(target: Vector, basis: Vector, steps: int = 300) -> tuple[float, Vector]:
    """Return min over c of max |target - basis c|, and c. Shapes: (points,), (points, unknowns)."""
    share = np.full(len(target), 1.0 / len(target))
    best = (np.inf, np.zeros(basis.shape[1]))
    for _ in range(steps):
        root = np.sqrt(share)
        c = np.linalg.lstsq(basis * root[:, None], target * root, rcond=None)[0]
        error = np.abs(target - basis @ c)
        if error.max() < best[0]:
            best = (float(error.max()), c)
        share = share * error / error.max() + 1e-30
        share /= share.sum()
    return best


class Grid:
    """A fit on its points: weighted values, weighted powers."""

    def __init__(self, fit: Fit, points: int = 400) -> None:
        middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
        xs = [middle - half * mpmath.cos(mpmath.pi * (i + mpf(0.5)) / points) for i in range(points)]
        self._rows = [(fit.weight(x), fit.function(x), x) for x in xs]
        self._scale = float(max(abs(fit.low), abs(fit.high)))
        self._weights = np.array([float(w) for w, _, _ in self._rows])
        self._unit = np.array([float(x) / self._scale for x in xs])

    def error(self, coefficients: list[float]) -> Vector:
        """Return the weighted error of a polynomial at each point."""
        return np.array(
            [float(w * (f - mpmath.polyval(coefficients[::-1], x))) for w, f, x in self._rows], np.float64
        )

    def best(self, known: list[float], degree: int) -> tuple[float, list[float]]:
        """Return the least largest error, and the coefficients after the `known` ones that reach it."""
        powers = range(len(known), degree + 1)
        basis = np.stack([self._weights * self._unit**p for p in powers], axis=1)
        total = [0.0] * len(powers)
        # A second time for what the first solution, in f64, left.
        for _ in range(2):
            least, c = lawson(self.error([*known, *total]), basis)
            total = [t + float(v / self._scale**p) for t, v, p in zip(total, c, powers, strict=True)]
        return least, total

    def column(self, power: int) -> Vector:
        """Return how much the weighted polynomial grows with coefficient `power`."""
        return np.asarray(self._weights * (self._unit * self._scale) ** power)


def solve(fit: Fit) -> tuple[list[float], float, float]:
    """Return f32 coefficients, lowest power first, the least possible error without rounding, and theirs."""
    grid = Grid(fit)
    known = list(fit.fixed)
    ideal, _ = grid.best(known, fit.degree)
    while len(known) <= fit.degree:
        value = grid.best(known, fit.degree)[1][0]
        known.append(float(np.float32(value)) if fit.bits == 24 else value)
    if fit.bits != 24:
        return known, float(np.abs(grid.error(known)).max()), ideal
    return *_descend(grid, known, len(fit.fixed)), ideal


def _descend(grid: Grid, c: list[float], first: int) -> tuple[list[float], float]:
    """Move one or two coefficients by a few units in the last place while that lowers the largest error."""
    free = range(first, len(c))
    columns = {p: grid.column(p) for p in free}
    single = [((p, d),) for p in free for d in (-1, 1, 2, -2, 4, -4, 16, -16)]
    double = [((p, d), (q, e)) for p, q in combinations(free, 2) for d, e in product((-1, 1), (-2, -1, 1, 2))]
    error = grid.error(c)
    least, moved = float(np.abs(error).max()), True
    while moved:
        moved = False
        for move in [*single, *double]:
            steps = [(p, d * float(ulp(mpf(c[p])))) for p, d in move]
            largest = float(np.abs(error - sum(columns[p] * s for p, s in steps)).max())
            if largest < least * (1 - 1e-6):
                for p, s in steps:
                    c[p] = float(np.float32(c[p] + s))
                error = grid.error(c)
                least, moved = float(np.abs(error).max()), True
    return c, least


def main(names: list[str]) -> None:
    """Print the chosen tables, all without arguments."""
    for name in names or FITS:
        c, least, ideal = solve(FITS[name])
        print(f"# largest weighted error {least:.3g}, unrounded {ideal:.3g}")
        print(f"{name} = (\n" + "".join(f'    _("{short_hex(v)}"),\n' for v in c) + ")")


def short_hex(value: float) -> str:
    """Return the hexadecimal form without trailing zeros."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}"


if __name__ == "__main__":
    main(sys.argv[1:])
