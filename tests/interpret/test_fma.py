"""fma and the roundings round once: compared with exact fractions on hard operands."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import BF16, F16, F32, F64, DType
from perfdojo.compiler.interpret.fma import fma
from perfdojo.compiler.interpret.rounding import int_to_float, narrow_f64
from perfdojo.compiler.numpy_types import NUMPY

Array = NDArray[Any]
FLOATS = (F64, F32, F16, BF16)


def rounded(exact: Fraction, dtype: DType) -> float:
    """Round a fraction to nearest even, by the definition."""
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    spacing = Fraction(2) ** (max(exponent, dtype.min_exponent) - dtype.mantissa + 1)
    steps, rest = divmod(size, spacing)
    steps += rest * 2 > spacing or (rest * 2 == spacing and steps % 2)
    value = steps * spacing
    if value >= Fraction(2) ** (dtype.max_exponent + 1):
        return float("inf") if exact > 0 else float("-inf")
    return float(value) if exact > 0 else -float(value)


def operands(dtype: DType, kind: str, count: int = 1500) -> tuple[Array, Array, Array]:
    """Return three arrays of one type: any bits, products that cancel, ties and the like, tiny ones."""
    rng = np.random.default_rng(dtype.bits + dtype.mantissa)
    to, p = NUMPY[dtype.name], dtype.mantissa
    normal = [rng.normal(size=count) for _ in range(3)]
    if kind == "bits":
        bits = [rng.integers(0, 256, count * dtype.bytes, np.uint8).view(to) for _ in range(3)]
        return bits[0], bits[1], bits[2]
    if kind == "cancel":
        a, b = normal[0].astype(to), normal[1].astype(to)
        return a, b, -(a * b)
    if kind == "ties":
        a, b = (rng.integers(1, 2 ** (p // 2 + 2), count).astype(to) for _ in range(2))
        return a, b, (rng.choice([-1.0, 1.0], count) * 2.0 ** rng.integers(-p, p, count)).astype(to)
    scale = 2.0 ** (dtype.min_exponent // 2)
    a, b = ((x * scale).astype(to) for x in normal[:2])
    return a, b, (normal[2] * scale * scale * 4.0 ** rng.integers(-3, 3, count)).astype(to)


@pytest.mark.parametrize("kind", ["bits", "cancel", "ties", "tiny"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fma_rounds_the_exact_value_once(dtype: DType, kind: str) -> None:
    with np.errstate(all="ignore"):
        a, b, c = operands(dtype, kind)
        result = fma(a, b, c)
        columns = [x.astype(np.float64) for x in (a, b, c, result)]
    assert result.dtype == NUMPY[dtype.name]
    finite = np.isfinite(columns[0]) & np.isfinite(columns[1]) & np.isfinite(columns[2])
    assert finite.sum() > len(a) // 2
    for x, y, z, got in zip(*(col[finite].tolist() for col in columns), strict=True):
        assert got == rounded(Fraction(x) * Fraction(y) + Fraction(z), dtype), (x, y, z)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fma_of_special_operands(dtype: DType) -> None:
    inf, nan = np.inf, np.nan
    cases = [
        (inf, 0.0, 1.0, nan),
        (inf, 1.0, -inf, nan),
        (inf, -1.0, 5.0, -inf),
        (2.0, 3.0, inf, inf),
        (nan, 1.0, 1.0, nan),
        (0.0, 5.0, -0.0, 0.0),
        (-0.0, 5.0, -0.0, -0.0),
        (1.0, -1.0, 1.0, 0.0),
        (float(dtype.largest), 2.0, -float(dtype.largest), float(dtype.largest)),
        (float(dtype.largest), float(dtype.largest), -inf, -inf),
        (-dtype.smallest_subnormal, dtype.smallest_subnormal, 0.0, -0.0),
    ]
    a, b, c, want = (np.array(column).astype(NUMPY[dtype.name]) for column in zip(*cases, strict=True))
    got = fma(a, b, c)
    assert np.array_equal(got.astype(np.float64), want.astype(np.float64), equal_nan=True)
    finite = ~np.isnan(want)
    assert np.array_equal(np.signbit(got)[finite], np.signbit(want)[finite])


def test_operands_of_fma_broadcast() -> None:
    a, b, c = np.ones((3, 1), np.float32), np.full((1, 4), 2, np.float32), np.float32(0.5)
    assert np.array_equal(fma(a, b, c), np.full((3, 4), 2.5, np.float32))


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
def test_f64_is_rounded_once(dtype: DType) -> None:
    rng = np.random.default_rng(1)
    low, high = dtype.min_exponent - dtype.mantissa - 2, dtype.max_exponent + 2
    ties = np.ldexp(1.0 + rng.integers(0, 256, 3000) / 256, rng.integers(low, high, 3000))
    x = ties * (1 + rng.choice([0.0, 2.0**-30, -(2.0**-30), 2.0**-52, -(2.0**-53)], 3000))
    with np.errstate(all="ignore"):
        got = narrow_f64(x, NUMPY[dtype.name]).astype(np.float64)
    for value, result in zip(x.tolist(), got.tolist(), strict=True):
        assert result == rounded(Fraction(value), dtype), value


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_integers_are_rounded_once(dtype: DType) -> None:
    rng = np.random.default_rng(2)
    wide = rng.integers(-(2**63), 2**63 - 1, 1000)
    near = (rng.integers(128, 256, 1000) << rng.integers(0, 55, 1000)) + (1 << rng.integers(0, 50, 1000))
    ends = np.array([-(2**63), 2**63 - 1, -(2**52), 2**53, -(2**53) - 1, 2**53 + 1, 0, 65519, 65520])
    x = np.concatenate([wide, near, -near, ends])
    with np.errstate(all="ignore"):
        got = int_to_float(x, NUMPY[dtype.name]).astype(np.float64)
    for value, result in zip(x.tolist(), got.tolist(), strict=True):
        assert result == rounded(Fraction(value), dtype), value


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_arithmetic_is_correctly_rounded(dtype: Any, name: str) -> None:
    # NumPy and ml_dtypes compute in f32 and round again: harmless by the widths, also for subnormals.
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 2**16, 200_000, dtype=np.uint16).view(dtype) for _ in range(2))
    ufunc = getattr(np, name)
    with np.errstate(all="ignore"):
        got = ufunc(a, b)
        want = narrow_f64(ufunc(a.astype(np.float64), b.astype(np.float64)), np.dtype(dtype))
    assert np.array_equal(got.astype(np.float64), want.astype(np.float64), equal_nan=True)
