"""The f64 functions of Snitch's runtime: errors in ULP against wider arithmetic, special values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.interpret import functions
from perfdojo.compiler.ulp import ULP
from tests.backends.snitch.native import SIGMOID, Native
from tests.backends.snitch.operands import SPECIAL, any_bits, moderate, pairs, same

Array = NDArray[Any]
Wide: Any = np.longdouble

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
needs_wide = pytest.mark.skipif(np.finfo(Wide).nmant < 63, reason="long double has no more bits than double")
COUNT = 500_000
DOCS = Path(__file__).parents[3] / "docs" / "functions.md"


def documented() -> dict[str, tuple[float, float]]:
    """Return the table of docs/functions.md: measured error and bound in ULP of each function on Snitch."""
    section = DOCS.read_text(encoding="utf-8").partition("## On Snitch")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", section, re.M)
    return {name: (float(measured), float(bound)) for name, measured, bound in rows}


def judge(name: str, worst: float) -> None:
    """Tell that the largest error is the documented one, and within the bound."""
    measured, bound = documented()[name]
    assert abs(worst - measured) < 0.002, f"{worst:.4f}"
    assert worst <= bound <= ULP[name]["f64"]


def errors(result: Array, exact: Any) -> Array:
    """Return the errors in ULP of f64; an ULP is that of the binade of the exact result."""
    exponent = np.maximum(np.frexp(np.abs(exact))[1] - 53, -1074)
    error: Array = np.abs((result.astype(Wide) - exact) / np.ldexp(Wide(1), exponent)).astype(np.float64)
    return error


def arguments(name: str, rng: np.random.Generator) -> list[Array]:
    """Return arguments in the parts of the range where a function goes different ways."""
    u = rng.random(COUNT)
    tiny = 10.0 ** (-300 * u)
    turns = np.pi / 2 * rng.integers(1, 100_000, COUNT)
    bits = np.abs(any_bits(rng, COUNT, np.float64))
    return {
        "exp": [2 * u - 1, 80 * u - 40, 1416 * u - 708, -708 - 38 * u, 708 + 1.78 * u, tiny],
        "log": [moderate(rng, COUNT), 0.975 + u / 20, 1 + (u - 0.5) * 1e-5, bits[np.isfinite(bits)]],
        "tanh": [1.2 * u - 0.6, 20 * u, 0.5625 + u / 2, tiny],
        "sin": [6.4 * u - 3.2, 1e5 * u, turns, tiny],
        "cos": [6.4 * u - 3.2, 1e5 * u, turns, tiny],
    }[name]


@needs_wide
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sin", "cos"])
def test_functions_are_within_their_bounds(native: Native, name: str) -> None:
    function: Callable[[Any], Any] = getattr(np, name)
    rng = np.random.default_rng(11)
    worst = max(errors(native(name, x), function(x.astype(Wide))).max() for x in arguments(name, rng))
    judge(name, worst)


@needs_wide
def test_sigmoid_is_within_its_bound(native: Native) -> None:
    u = np.random.default_rng(15).random(COUNT)
    worst = 0.0
    for x in (2 * u - 1, 80 * u - 40, 744 * u - 708, 10.0 ** (-300 * u)):
        exact = 1 / (1 + np.exp(-x.astype(Wide)))
        worst = max(worst, errors(native(SIGMOID, x), exact).max())
    judge("sigmoid", worst)


@needs_wide
def test_pow_is_within_its_bound(native: Native) -> None:
    rng = np.random.default_rng(12)
    u, normal = rng.random(COUNT), rng.normal(size=COUNT)
    bits = np.nan_to_num(np.abs(any_bits(rng, COUNT, np.float64)), nan=1.0, posinf=2.0)
    worst = 0.0
    cases = [
        (np.exp(3 * u), 30 * normal),
        (1 + u * 1e-3, 1e5 * normal),
        (bits, normal),
        (2 * u, 2000 * u - 1000),
    ]
    for x, y in [*cases, (10 * u, np.full(COUNT, 0.5))]:
        exact = np.power(x.astype(Wide), y.astype(Wide))
        inside = (exact < np.finfo(float).max) & (exact > 0)
        worst = max(worst, errors(native("pow", x, y), exact)[inside].max())
    judge("pow", worst)


def exact_errors(name: str, native: Native, x: Array) -> float:
    """Return the largest error in ULP against a function of mpmath."""
    worst = 0.0
    for given, result in zip(x.tolist(), native(name, x).tolist(), strict=True):
        exact = getattr(mpmath, name)(mpmath.mpf(given))
        exponent = max(int(mpmath.frexp(exact)[1]) - 53, -1074)
        worst = max(worst, float(abs(result - exact) * mpmath.mpf(2) ** -exponent))
    return worst


def test_erf_is_within_its_bound(native: Native) -> None:
    u = np.random.default_rng(13).random(2500)
    with mpmath.workprec(120):
        worst = max(
            exact_errors("erf", native, x)
            for x in (u / 2, 0.5 + u / 100, 0.5 + u, 1.5 + 4.6 * u, 10.0 ** (-300 * u))
        )
    judge("erf", worst)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_large_arguments_of_sin_and_cos_are_reduced_exactly(native: Native, name: str) -> None:
    bits = np.abs(any_bits(np.random.default_rng(14), 1000, np.float64))
    large = bits[(bits >= 2.0**20) & np.isfinite(bits)]
    nearest = 6381956970095103.0 * 2.0**797  # of all f64 to a multiple of pi/2
    more = np.array([nearest, 2.0**20, np.nextafter(2.0**20, 0), np.finfo(float).max, 1e22])
    with mpmath.workprec(1300):
        assert exact_errors(name, native, np.concatenate((large[:250], more))) <= documented()[name][1]


def close(result: Array, expected: Array) -> Array:
    """Tell where results agree: special ones in bits, others within 2 ULP."""
    near = (np.abs(result - expected) <= 2 * np.spacing(np.abs(expected))) & (expected != 0)
    agree: Array = same(result, expected) | near
    return agree


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sin", "cos"])
def test_special_values_are_those_of_the_language(native: Native, name: str) -> None:
    ends = np.array([709.78, 709.79, -745.1, -745.2, -746.0, -800.0, 6.0, 5.99, -20.0, 19.99, 1e300, -1e300])
    x = np.concatenate((SPECIAL, -SPECIAL, ends))
    assert close(native(name, x), getattr(functions, name)(x)).all()


def test_special_values_of_pow_are_those_of_the_language(native: Native) -> None:
    whole = [-3.0, -2.0, 7.25, 1e300, -1e300, 1e-300, 2.0**53, 2.0**53 + 2, -(2.0**52) - 1, 1e19]
    x, y = pairs(np.array([*SPECIAL, *whole]))
    assert close(native("pow", x, y), functions.pow(x, y)).all()
