"""f16, bf16 and f64: what the types around f32 take from it or from the C library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.interpret import functions
from perfdojo.compiler.ulp import ULP, ULP_FAST
from tests.elementary.arguments import same_bits
from tests.elementary.compiled import FUNCTIONS

Array = NDArray[Any]
Compiled = dict[str, Callable[..., Array]]

pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

INF = math.inf
NARROW: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
ONE_ARGUMENT = [n for n in FUNCTIONS if n != "pow"]


def all_values(dtype: str) -> Array:
    return np.arange(2**16, dtype=np.uint32).astype(np.uint16).view(NARROW[dtype])


@pytest.mark.parametrize("name", ONE_ARGUMENT)
@pytest.mark.parametrize("dtype", NARROW)
def test_16_bit_functions_are_within_their_bound_for_all_arguments(name: str, dtype: str) -> None:
    x = all_values(dtype)
    y = getattr(functions, name)(x)
    assert y.dtype == x.dtype
    exact = getattr(functions, name)(x.astype(np.float64))
    kind = DTYPES[dtype]
    rounded = np.where(np.isinf(y), np.copysign(2.0 ** (kind.max_exponent + 1), exact), y.astype(np.float64))
    ordinary = np.isfinite(exact)
    assert np.array_equal(np.isnan(y), np.isnan(exact))
    assert np.array_equal(np.isinf(y) & ~ordinary, np.isinf(exact))
    _, exponent = np.frexp(exact)
    lowest, highest = kind.min_exponent, kind.max_exponent
    ulp = np.ldexp(1.0, np.clip(exponent - 1, lowest, highest) - kind.mantissa + 1)
    reachable = ordinary & (np.abs(exact) < 2.0 ** (kind.max_exponent + 1))
    error = (np.abs(rounded - exact) / ulp)[reachable].max()
    assert 0.49 < error <= ULP[name][dtype]


@pytest.mark.parametrize("name", [n for n in ONE_ARGUMENT if n != "rsqrt"])
@pytest.mark.parametrize("dtype", NARROW)
def test_16_bit_functions_are_the_f32_function_rounded(name: str, dtype: str) -> None:
    x = all_values(dtype)
    function = getattr(functions, name)
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float32)).astype(NARROW[dtype])
    assert same_bits(function(x).astype(np.float32), expected.astype(np.float32))


def test_rsqrt_of_16_bits_rounds_twice() -> None:
    x = all_values("f16")
    with np.errstate(all="ignore"):
        root = np.sqrt(x.astype(np.float32)).astype(np.float16).astype(np.float32)
        expected = (np.float32(1) / root).astype(np.float16)
    assert np.array_equal(functions.rsqrt(x), expected, equal_nan=True)


def f64_arguments() -> Array:
    random = np.random.default_rng(3)
    spread = random.normal(size=3000) * 10.0 ** random.integers(-3, 4, 3000)
    bits = random.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    edges = [0.0, -0.0, 1.0, -1.0, INF, -INF, math.nan, 709.78, 709.79, -745.1, -745.2, -720.0, 5e-324]
    return np.concatenate([spread, bits, edges])


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_f64_functions_are_those_of_the_c_library(name: str, compiled: Compiled) -> None:
    x = f64_arguments()
    assert same_f64(compiled[f"{name}_f64"](x), getattr(functions, name)(x))


def test_f64_pow_is_that_of_the_c_library(compiled: Compiled) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, INF, -INF, math.nan, 1e300, -1e300]
    x, y = (a.ravel() for a in np.meshgrid(values, [*values, 1e17, -1e17, 1e17 + 16, 1001.0, -1001.0]))
    random = np.random.default_rng(5)
    x = np.concatenate([x, np.abs(f64_arguments())])
    y = np.concatenate([y, random.normal(size=x.size - y.size) * 30])
    assert same_f64(compiled["pow_f64"](x, y), functions.pow(x, y))


def test_f64_sigmoid_keeps_its_precision_where_it_is_subnormal() -> None:
    x = np.array([-709.5, -720.0, -744.0])
    assert np.allclose(functions.sigmoid(x), np.exp(x), rtol=1e-15, atol=5e-324)


def test_shapes_are_kept() -> None:
    x = np.linspace(0.1, 3, 6).reshape(2, 3)
    for dtype in (np.float64, np.float32, np.float16):
        assert all(getattr(functions, n)(x.astype(dtype)).shape == (2, 3) for n in ONE_ARGUMENT)
        assert functions.pow(x.astype(dtype), np.asarray(2, dtype)).shape == (2, 3)
    assert functions.exp(np.asarray(1, np.float32)).shape == ()


def test_every_float_function_has_a_bound_for_every_float_type() -> None:
    assert set(ULP) == set(FUNCTIONS) == set(ULP_FAST)
    assert all(set(t) == {"f64", "f32", "f16", "bf16"} for t in (*ULP.values(), *ULP_FAST.values()))


def same_f64(a: Array, b: Array) -> bool:
    def bits(v: Array) -> Array:
        return np.where(np.isnan(v), np.nan, v).view(np.int64)

    return np.array_equal(bits(a), bits(b))
