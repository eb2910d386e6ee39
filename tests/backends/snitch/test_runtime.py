"""Division, roots and rounding of Snitch's runtime: the bits of IEEE 754, on this machine, by the million."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.backends.snitch.native import GCC, QUOTIENTS_F32, QUOTIENTS_F64, Native, compile_c, write
from tests.backends.snitch.operands import SPECIAL, SPECIAL_F32, any_bits, moderate, pairs, same

Array = NDArray[Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
COUNT = 300_000
F64: Any = np.float64
F32: Any = np.float32


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def difference(result: Array, expected: Array, *operands: Array) -> str:
    """Name the first operands with another result; "" when there are none."""
    wrong = np.flatnonzero(~same(result, expected))
    if not wrong.size:
        return ""
    k = wrong[0]
    given = ", ".join(float(o[k]).hex() for o in operands)
    got, right = (float(v[k]).hex() for v in (result, expected))
    return f"{wrong.size} of {result.size}: f({given}) is {got}, not {right}"


def hard_quotients(rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Return pairs with quotients next to middles or subnormal, and with divisors of nothing but ones."""
    q, b = moderate(rng, COUNT), moderate(rng, COUNT)
    a = q * b
    ones = (2 - 2.0**-52) * 2.0 ** rng.integers(-300, 300, 2000)
    c, d = any_bits(rng, COUNT, F64), any_bits(rng, COUNT, F64)
    d = np.ldexp(np.frexp(d)[0], np.frexp(c)[1] + 1070 - rng.integers(0, 60, COUNT, np.int32))
    return [
        *((np.nextafter(a, side), b) for side in (0.0, np.inf)),
        (a, b),
        (2.0 ** rng.integers(-300, 300, 2000), ones),
        (moderate(rng, 2000), ones),
        (c, d),
        (any_bits(rng, COUNT, F64), any_bits(rng, COUNT, F64)),
        pairs(SPECIAL),
    ]


def test_f64_quotients_are_rounded_correctly(native: Native, rng: np.random.Generator) -> None:
    for a, b in hard_quotients(rng):
        for name in QUOTIENTS_F64:
            assert difference(native(name, a, b), a / b, a, b) == ""


def test_f32_quotients_are_rounded_correctly(native: Native, rng: np.random.Generator) -> None:
    a, b = any_bits(rng, COUNT, F32), any_bits(rng, COUNT, F32)
    exponent = np.frexp(a)[1] + 148 - rng.integers(0, 30, COUNT, np.int32)
    subnormal = np.ldexp(np.frexp(b)[0], exponent).astype(F32)  # the quotients are
    ties = (
        rng.integers(0, 2**14, COUNT, np.uint32).view(F32),
        F32(2.0) ** rng.integers(0, 12, COUNT, np.int32),
    )
    small = rng.integers(0, 2**23, COUNT, np.uint32).view(F32)
    for x, y in ((a, b), (a, subnormal), ties, (a, small), pairs(SPECIAL_F32)):
        y = y.astype(F32)
        for name in QUOTIENTS_F32:
            assert difference(native(name, x, y), x / y, x, y) == ""


def hard_roots(rng: np.random.Generator) -> list[Array]:
    """Return arguments next to squares and to squares of middles, and the two of the proof in root.c."""
    k = moderate(rng, COUNT)
    two = np.array([1 + 2.0**-52, 4 - 2.0**-51])[:, None] * 4.0 ** rng.integers(-400, 400, 500)
    steps = np.arange(20_000)
    return [
        k,
        k * k,
        np.nextafter(k * k, 0),
        np.nextafter(k * k, np.inf),
        (np.floor(1e7 * rng.random(COUNT)) + 0.5) ** 2,
        two.ravel(),
        1 + steps * 2.0**-52,
        4 - steps * 2.0**-51,
        rng.integers(0, 2**52, COUNT, np.uint64).view(F64),
        any_bits(rng, COUNT, F64),
        SPECIAL,
    ]


def test_f64_roots_and_inverse_roots_are_rounded_correctly(native: Native, rng: np.random.Generator) -> None:
    for x in hard_roots(rng):
        assert difference(native("sqrt", x), np.sqrt(x), x) == ""
        assert difference(native("snitch_rsqrt", x), 1 / np.sqrt(x), x) == ""


def test_f32_roots_and_inverse_roots_are_rounded_correctly(native: Native, rng: np.random.Generator) -> None:
    subnormal = rng.integers(0, 2**23, COUNT, np.uint32).view(F32)
    for x in (any_bits(rng, COUNT, F32), subnormal, SPECIAL_F32):
        assert difference(native("sqrtf", x), np.sqrt(x), x) == ""
        assert difference(native("snitch_rsqrtf", x), F32(1) / np.sqrt(x), x) == ""


EXHAUSTIVE = """\
#include <stdint.h>
#include <stdio.h>
#include <xmmintrin.h>
#include "snitch_runtime.h"
static int differ(float a, float b) {
  union { float f; uint32_t i; } u = {a}, v = {b};
  return u.i != v.i;
}
int main(void) {
  long wrong = 0;
  for (uint32_t i = 0; i <= 0x7f800000u; i++) {
    union { uint32_t i; float f; } x = {i};
    const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x.f)));
    wrong += differ(sqrtf(x.f), root) + differ(snitch_rsqrtf(x.f), 1.0f / root);
  }
  printf("%ld", wrong);
  return 0; // freestanding: not implied
}
"""


@pytest.mark.slow
@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_f32_roots_of_all_arguments(tmp_path: Path) -> None:
    source = write(tmp_path, ["sqrtf", "snitch_rsqrtf"])
    compile_c(EXHAUSTIVE, tmp_path / "exhaustive", str(source))
    ran = subprocess.run([tmp_path / "exhaustive"], capture_output=True, text=True, check=True)
    assert ran.stdout == "0"


@pytest.mark.parametrize(("name", "function"), [("rint", np.rint), ("floor", np.floor), ("ceil", np.ceil)])
def test_rounding_to_integers(native: Native, rng: np.random.Generator, name: str, function: Any) -> None:
    for dtype, special, suffix in ((F64, SPECIAL, ""), (F32, SPECIAL_F32, "f")):
        quarters = np.arange(-40, 40, 0.25).astype(dtype)
        large = (2.0 ** rng.integers(20, 55, 2000) * (1 + rng.random(2000))).astype(dtype)
        for x in (quarters, large, -large, any_bits(rng, COUNT, dtype), special):
            assert difference(native(name + suffix, x), function(x), x) == ""


def test_minimum_and_maximum_drop_a_nan(native: Native) -> None:
    a, b = pairs(np.array([1.0, 2.0, -3.0, np.inf, -np.inf, np.nan]))
    assert same(native("fmin", a, b), np.fmin(a, b)).all()
    assert same(native("fmax", a, b), np.fmax(a, b)).all()
