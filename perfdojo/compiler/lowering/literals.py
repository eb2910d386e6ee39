"""Literals rounded to their type, so that what is printed is exactly the value that is meant."""

from __future__ import annotations

import math

from perfdojo.compiler.dtypes import DType


def rounded(value: int | float | bool, dtype: DType) -> int | float | bool:
    """Return `value` in `dtype`: floats to nearest even, with subnormals and overflow to inf."""
    if dtype.kind == "bool":
        return bool(value)
    if not dtype.is_float:
        return int(value)
    x = float(value)
    if x == 0 or math.isinf(x) or math.isnan(x) or dtype.bits == 64:
        return x
    if abs(x) >= 2 * dtype.largest:
        return math.copysign(math.inf, x)
    exponent = max(math.frexp(x)[1] - 1, dtype.min_exponent) - (dtype.mantissa - 1)
    # scaling by a power of two is exact here: no f32, f16 or bf16 unit leaves the normal range of a double
    nearest = math.ldexp(round(math.ldexp(abs(x), -exponent)), exponent)
    return math.copysign(nearest if nearest <= dtype.largest else math.inf, x)
