"""The operations of the language on pairs of value and error bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.bound_functions import FUNCTIONS
from perfdojo.compiler.interpret.bound_integers import LOGIC, comparison, extremum, integer
from perfdojo.compiler.interpret.exact import operation as exact_operation
from perfdojo.compiler.interpret.pairs import (
    SLACK,
    U64,
    Array,
    Pair,
    Unit,
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
    if op in ("min", "max", "minnum", "maxnum"):
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
    fusible = fp != "strict"

    def mul(a: Pair, b: Pair) -> Pair:
        moved, value = product_error(a, b), a[0] * b[0]
        absolute = _below_normal(value, moved, unit)
        return finish(value, moved, unit, (a, b), absolute=absolute, fusible=fusible)

    return mul


def _below_normal(value: Array, moved: Array | None, unit: Unit) -> Array | float:
    """Return the error of results below the normal numbers; an exact 0 has none, so that inf * 0 is certain.

    Not in f64, where the reference cannot tell a 0 from a result that is lost entirely.
    """
    if moved is not None or unit.overflow == unit.largest or value.all():
        return unit.absolute
    return np.where(value == 0, 0.0, unit.absolute)


def _fma(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)

    def fma(a: Pair, b: Pair, c: Pair) -> Pair:
        moved = sum_of(product_error(a, b), c[1])
        if dtype.mantissa == 53:
            value: Array = exact_operation("fma", dtype)(a[0], b[0], c[0])
        else:
            product = a[0] * b[0]
            value = product + c[0]
            own = np.abs(value) * U64  # the product is exact, the sum rounded
            moved = own if moved is None else moved + own
        return finish(value, moved, unit, (a, b, c), absolute=unit.absolute, signless=(False, False, True))

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
        absolute = _below_normal(value, moved, unit)
        return finish(value, moved, unit, (a, b), relative, absolute, fusible=fast)

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
        # What an infinite operand makes of pow depends on more than the sign of the other one.
        result, bound = finish(value, moved, unit, () if op == "pow" else args, relative, absolute)
        if not all(np.isfinite(x).all() for x in flat[::2]):
            # The limits at infinity are exact.
            limit = reduce(np.logical_or, (np.isinf(x) for x in flat[::2])) & (moved == 0)
            return result, np.where(limit & np.isfinite(result), 0.0, error((result, bound)))
        return result, bound

    return apply
