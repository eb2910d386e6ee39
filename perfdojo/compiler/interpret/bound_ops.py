"""The operations of the language on pairs of value and error bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.bound_functions import FUNCTIONS
from perfdojo.compiler.interpret.bound_integers import LOGIC, comparison, extremum, integer
from perfdojo.compiler.interpret.pairs import (
    SLACK,
    U64,
    Array,
    Pair,
    choose,
    error,
    finish,
    product_error,
    sum_of,
    tidy,
    unit_of,
)
from perfdojo.compiler.ulp import ULP, ULP_FAST

Operation = Callable[..., Pair]


@cache
def operation(op: str, dtype: DType, fp: str) -> Operation:
    """Return the function of an operation on pairs of type `dtype` at a floating-point level."""
    if op == "select":
        return choose
    if op in ("and", "or", "not"):
        return LOGIC[op]
    if op in ("lt", "le", "gt", "ge", "eq", "ne"):
        return comparison(op)
    if op in ("min", "max"):
        return extremum(op, dtype)
    if not dtype.is_float:
        return integer(op, dtype)
    if op in ("neg", "abs"):
        ufunc: Any = np.negative if op == "neg" else np.abs
        return lambda a: (ufunc(a[0]), a[1])
    if op in ("floor", "ceil", "round"):
        return _monotone({"floor": np.floor, "ceil": np.ceil, "round": np.rint}[op])
    if op in FUNCTIONS:
        return _function(op, dtype, fp)
    return {"add": _add, "sub": _sub, "mul": _mul, "div": _div, "fma": _fma}[op](dtype, fp)


# ---------------------------------------------------------------- floats


def _add(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)

    def add(a: Pair, b: Pair) -> Pair:
        return finish(a[0] + b[0], sum_of(a[1], b[1]), unit, (a, b), signless=(True, True))

    return add


def _sub(dtype: DType, fp: str) -> Operation:
    add = _add(dtype, fp)
    return lambda a, b: add(a, (np.negative(b[0]), b[1]))


def _mul(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)
    return lambda a, b: finish(a[0] * b[0], product_error(a, b), unit, (a, b), absolute=unit.absolute)


def _fma(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)

    def fma(a: Pair, b: Pair, c: Pair) -> Pair:
        product = a[0] * b[0]
        # The reference rounds the product, and may lose it below the smallest float64.
        moved = sum_of(product_error(a, b), c[1])
        own = np.abs(product) * U64 + 2.0**-1074
        moved = own if moved is None else moved + own
        return finish(
            product + c[0], moved, unit, (a, b, c), absolute=unit.absolute, signless=(False, False, True)
        )

    return fma


def _div(dtype: DType, fp: str) -> Operation:
    """At `fast` it may be the product with a rounded reciprocal, which may be subnormal or overflow."""
    unit = unit_of(dtype)
    fast = fp == "fast"
    relative = 3 * unit.relative * (1 + unit.relative) if fast else unit.relative

    def div(a: Pair, b: Pair) -> Pair:
        (x, ex), (y, ey) = a, b
        value = x / y
        moved: Array | None = None
        if ex is not None or ey is not None:
            near = np.abs(y) if ey is None else np.abs(y) - ey
            moved = (error(a) + np.abs(value) * error(b)) / near
            zero = (y == 0) & (error(b) == 0)
            decided = (error(a) == 0) | (np.abs(x) > error(a))
            moved = np.where(zero, np.where(decided, 0.0, np.inf), np.where(near > 0, moved, np.inf))
        if fast:
            near = np.abs(y) - error(b)
            lost = (np.abs(x) + error(a)) * unit.absolute * 2
            inverse = np.where((near < 1 / unit.largest) & ((y != 0) | (error(b) > 0)), np.inf, lost)
            inverse = np.where(np.isfinite(value) & np.isfinite(x), inverse, 0.0)
            moved = sum_of(moved, inverse)
        return finish(value, moved, unit, (a, b), relative, unit.absolute)

    return div


def _monotone(ufunc: Any) -> Operation:
    def apply(a: Pair) -> Pair:
        value = ufunc(a[0])
        if a[1] is None:
            return value, None
        reach = a[1] * (1 + SLACK) + np.where(a[1] > 0, np.abs(a[0]) * U64, 0.0)
        above, below = ufunc(a[0] + reach) - value, value - ufunc(a[0] - reach)
        bound = np.where(np.isfinite(a[0]) & np.isfinite(a[1]), np.maximum(above, below), a[1])
        return tidy(value, bound)

    return apply


def _function(op: str, dtype: DType, fp: str) -> Operation:
    """An elementary function: its bound in ULP, and 4 ULP of float64 for the reference."""
    unit = unit_of(dtype)
    ulps = ULP[op][dtype.name]
    if fp == "fast":
        ulps = max(ulps, ULP_FAST[op][dtype.name])
    relative = (unit.ulp * ulps + 8 * U64) * (1 + SLACK)
    absolute = 2 * unit.absolute * (ulps + 1)

    def apply(*args: Pair) -> Pair:
        flat: list[Array] = []
        for pair in args:
            flat += [pair[0], error(pair)]
        value, moved = FUNCTIONS[op](*flat)
        return finish(value, moved, unit, args, relative, absolute)

    return apply
