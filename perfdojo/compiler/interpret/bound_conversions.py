"""Conversions of pairs between types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.bound_integers import comparison
from perfdojo.compiler.interpret.exact import conversion as exact_conversion
from perfdojo.compiler.interpret.pairs import (
    SLACK,
    U64,
    Array,
    Pair,
    finish,
    tidy,
    unit_of,
)

Operation = Callable[..., Pair]


@cache
def conversion(source: DType, target: DType) -> Operation:
    """Return the function that converts pairs between two types."""
    if target.kind == "bool":
        compare = comparison("ne")
        return lambda a: compare(a, (np.zeros((), a[0].dtype), None))
    if not target.is_float:
        return _to_integer(source, target)
    if source.is_float and _contains(target, source):
        return lambda a: a
    unit = unit_of(target)
    rounds = source.is_float or (source.is_integer and source.bits > target.mantissa)

    def convert(a: Pair) -> Pair:
        value = a[0].astype(np.float64)
        if not rounds or (a[1] is None and not source.is_float and _small(a[0], target)):
            return value, a[1]
        return finish(value, a[1], unit, (a,), absolute=unit.absolute if source.is_float else 0.0)

    return convert


def _contains(wide: DType, narrow: DType) -> bool:
    return wide.mantissa >= narrow.mantissa and wide.max_exponent >= narrow.max_exponent


def _small(array: Array, target: DType) -> bool:
    limit = min(2.0**target.mantissa, float(target.largest))
    return bool((np.abs(array.astype(np.float64)) <= limit).all())


def _to_integer(source: DType, target: DType) -> Operation:
    # An f64 keeps what an implementation's value of any float type is converted to.
    convert = exact_conversion(source, target)

    def apply(a: Pair) -> Pair:
        value = convert(a[0])
        if a[1] is None:
            return value, None
        off = a[1] * (1 + SLACK) + np.where(a[1] > 0, np.abs(a[0]) * U64, 0.0)
        wide = value.astype(np.float64)
        if source.is_float:
            ends = [convert(a[0] + sign * off).astype(np.float64) for sign in (1, -1)]
            bound = np.maximum(np.abs(ends[0] - wide), np.abs(ends[1] - wide))
        else:
            inside = wide == a[0].astype(np.float64)
            inside &= (wide + a[1] <= float(target.largest)) & (wide - a[1] >= float(target.smallest))
            bound = np.where(inside, a[1], np.inf)
        return tidy(value, np.where(a[1] == 0, 0.0, np.where(np.isfinite(a[1]), bound, np.inf)))

    return apply
