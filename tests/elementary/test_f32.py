"""f32: the interpreter, the C source and the routines give the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS, describe
from perfdojo.compiler.elementary.routine import PRIMITIVES
from perfdojo.compiler.elementary.scaled import scaled
from perfdojo.compiler.interpret import functions
from perfdojo.compiler.ulp import ULP
from tests.elementary.arguments import dense, near_edges, same_bits
from tests.elementary.compiled import FUNCTIONS
from tests.elementary.evaluate import RUN, evaluate

F32 = NDArray[np.float32]
ONE_ARGUMENT = [n for n in FUNCTIONS if n != "pow"]


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_c_and_interpreter_agree_to_the_bit(name: str, compiled: dict[str, Callable[..., F32]]) -> None:
    x = dense()
    assert same_bits(compiled[f"{name}_f32"](x), getattr(functions, name)(x))


def test_c_and_interpreter_agree_on_pow_to_the_bit(compiled: dict[str, Callable[..., F32]]) -> None:
    x, y = powers()
    assert same_bits(compiled["pow_f32"](x, y), functions.pow(x, y))


def test_pow_is_within_its_bound() -> None:
    x, y = powers()
    with np.errstate(all="ignore"):
        exact = functions.pow(x.astype(np.float64), y.astype(np.float64))
    ordinary = (np.abs(exact) < 2.0**127) & (exact != 0)
    _, exponent = np.frexp(exact[ordinary])
    ulp = np.ldexp(1.0, np.maximum(exponent - 1, -126) - 23)
    error = (np.abs(functions.pow(x, y)[ordinary] - exact[ordinary]) / ulp).max()
    assert 0.49 < error <= ULP["pow"]["f32"]


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_routine_and_interpreter_agree_to_the_bit(name: str) -> None:
    x = dense()
    assert same_bits(evaluate(describe(name), x), getattr(functions, name)(x))


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_scaled_routines_give_the_same_bits(name: str) -> None:
    x = np.concatenate([dense(), np.linspace(-104, -86, 20_011, dtype=np.float32)])  # results are subnormal
    assert same_bits(evaluate(scaled(describe(name)), x), getattr(functions, name)(x))


def test_scaling_takes_the_place_of_two_products() -> None:
    shorter = {n for n in VECTOR_FUNCTIONS if scaled(describe(n)).instructions < describe(n).instructions}
    assert shorter == {"exp"}
    assert scaled(describe("exp")).instructions == 15


def test_routines_use_all_their_steps_and_are_short() -> None:
    lengths = {}
    for name in VECTOR_FUNCTIONS:
        routine = describe(name)
        used = {a for s in routine.steps for a in s.args} | {routine.result}
        assert used >= {s.name for s in routine.steps} | set(routine.params)
        lengths[name] = routine.instructions
    assert lengths == {"exp": 16, "log": 26, "tanh": 15, "erf": 26, "sigmoid": 16}


def test_every_primitive_has_a_meaning_in_the_tests() -> None:
    assert RUN.keys() == PRIMITIVES.keys()


INF, NAN, TINY = float("inf"), float("nan"), 2.0**-149
SPECIAL: dict[str, tuple[tuple[float, float], ...]] = {
    "exp": ((-INF, 0.0), (INF, INF), (0.0, 1.0), (-0.0, 1.0), (88.75, INF), (-103.5, TINY), (-104.0, 0.0)),
    "log": ((-INF, NAN), (-1.0, NAN), (-TINY, NAN), (-0.0, -INF), (0.0, -INF), (1.0, 0.0), (INF, INF)),
    "tanh": ((-INF, -1.0), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY), (-TINY, -TINY), (INF, 1.0)),
    "erf": ((-INF, -1.0), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY), (-TINY, -TINY), (INF, 1.0)),
    "sigmoid": ((-INF, 0.0), (-0.0, 0.5), (0.0, 0.5), (INF, 1.0), (-103.5, TINY), (18.0, 1.0)),
    "sin": ((-INF, NAN), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY), (INF, NAN)),
    "cos": ((-INF, NAN), (-0.0, 1.0), (0.0, 1.0), (INF, NAN)),
    "sqrt": ((-INF, NAN), (-TINY, NAN), (-0.0, -0.0), (0.0, 0.0), (INF, INF)),
    "rsqrt": ((-INF, NAN), (-TINY, NAN), (-0.0, -INF), (0.0, INF), (INF, 0.0)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str) -> None:
    x, expected = np.array([*SPECIAL[name], (NAN, NAN)], np.float32).T
    assert same_bits(getattr(functions, name)(x), expected)


def test_pow_has_the_special_values_of_c() -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, INF, -INF, NAN, 1e30, -1e30]
    x, y = (a.ravel().astype(np.float32) for a in np.meshgrid(values, values))
    exact = functions.pow(x.astype(np.float64), y.astype(np.float64))
    with np.errstate(over="ignore"):
        assert same_bits(functions.pow(x, y), exact.astype(np.float32))


@pytest.mark.parametrize("name", ["tanh", "erf", "sin"])
def test_odd_functions_are_odd_to_the_bit(name: str) -> None:
    x = dense(40_009)
    assert same_bits(getattr(functions, name)(-x), -getattr(functions, name)(x))


@pytest.mark.parametrize("name", ["tanh", "erf", "sigmoid"])
def test_bounded_functions_stay_within_their_bounds(name: str) -> None:
    y = getattr(functions, name)(dense())
    assert np.nanmax(np.abs(y)) == 1.0


def powers() -> tuple[F32, F32]:
    """Return pairs for pow: all scales, results of all sizes, bases near 1."""
    random = np.random.default_rng(7)
    x = (dense(20_011), near_edges(), np.float32(1) + random.uniform(-1e-3, 1e-3, 20_000).astype(np.float32))
    base = np.concatenate(x)
    spread = random.choice(np.array([0.1, 1.0, 10.0, 1e5]), base.size) * random.normal(size=base.size)
    whole = random.integers(-9, 10, base.size)
    return base, np.where(random.random(base.size) < 0.3, whole, spread).astype(np.float32)
