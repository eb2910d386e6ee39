"""The operations of the language on pairs of value and error bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.bound_functions import FUNCTIONS
from perfdojo.compiler.interpret.exact import conversion as exact_conversion
from perfdojo.compiler.interpret.exact import operation as exact_operation
from perfdojo.compiler.interpret.pairs import SLACK, U64, Array, Pair, choose, error, finish, tidy, unit_of
from perfdojo.compiler.ulp import ULP, ULP_FAST

Operation = Callable[..., Pair]


@cache
def operation(op: str, dtype: DType, fp: str) -> Operation:
    """Return the function of an operation on pairs of type `dtype` at a floating-point level."""
    if op == "select":
        return choose
    if op in ("and", "or", "not"):
        return _LOGIC[op]
    if op in ("lt", "le", "gt", "ge", "eq", "ne"):
        return _comparison(op)
    if op in ("min", "max"):
        return _extremum(op, dtype)
    if not dtype.is_float:
        return _integer(op, dtype)
    if op in ("neg", "abs"):
        ufunc: Any = np.negative if op == "neg" else np.abs
        return lambda a: (ufunc(a[0]), a[1])
    if op in ("floor", "ceil", "round"):
        return _monotone({"floor": np.floor, "ceil": np.ceil, "round": np.rint}[op])
    if op in FUNCTIONS:
        return _function(op, dtype, fp)
    return {"add": _add, "sub": _sub, "mul": _mul, "div": _div, "fma": _fma}[op](dtype, fp)


# ---------------------------------------------------------------- floats


def _sum_of(first: Array | None, second: Array | None) -> Array | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _add(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)

    def add(a: Pair, b: Pair) -> Pair:
        return finish(a[0] + b[0], _sum_of(a[1], b[1]), unit, (a, b), signless=(True, True))

    return add


def _sub(dtype: DType, fp: str) -> Operation:
    add = _add(dtype, fp)
    return lambda a, b: add(a, (np.negative(b[0]), b[1]))


def product_error(a: Pair, b: Pair) -> Array | None:
    """Return how far the exact product moves within the bounds of its factors."""
    (x, ex), (y, ey) = a, b
    moved = None if ex is None else np.abs(y) * ex
    if ey is not None:
        other = np.abs(x) * ey if ex is None else (np.abs(x) + ex) * ey
        moved = _sum_of(moved, other)
    return moved


def _mul(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)
    return lambda a, b: finish(a[0] * b[0], product_error(a, b), unit, (a, b), absolute=unit.absolute)


def _fma(dtype: DType, fp: str) -> Operation:
    unit = unit_of(dtype)

    def fma(a: Pair, b: Pair, c: Pair) -> Pair:
        product = a[0] * b[0]
        # The reference rounds the product, and may lose it below the smallest float64.
        moved = _sum_of(product_error(a, b), c[1])
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
            moved = _sum_of(moved, inverse)
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


# ---------------------------------------------------------------- bools


def _comparison(op: str) -> Operation:
    ufunc = exact_operation(op, _ANY)

    def compare(a: Pair, b: Pair) -> Pair:
        value = ufunc(a[0], b[0])
        if a[1] is None and b[1] is None:
            return value, None
        reach = error(a) + error(b)
        apart = np.abs(a[0].astype(np.float64) - b[0].astype(np.float64))
        nan = (np.isnan(apart) & (reach == 0)) | (reach == 0)
        return tidy(value, np.where((apart > reach * (1 + SLACK)) | nan, 0.0, 1.0))

    return compare


def _may(a: Pair) -> Array:
    return a[0] if a[1] is None else a[0] | (a[1] > 0)


def _must(a: Pair) -> Array:
    return a[0] if a[1] is None else a[0] & (a[1] == 0)


def _and(a: Pair, b: Pair) -> Pair:
    value = a[0] & b[0]
    if a[1] is None and b[1] is None:
        return value, None
    return tidy(value, (_may(a) & _may(b) & ~(_must(a) & _must(b))).astype(np.float64))


def _not(a: Pair) -> Pair:
    return ~a[0], a[1]


_LOGIC: dict[str, Operation] = {"and": _and, "or": lambda a, b: _not(_and(_not(a), _not(b))), "not": _not}


# ---------------------------------------------------------------- integers, min and max


def _extremum(op: str, dtype: DType) -> Operation:
    """Neither min nor max moves more than its operands."""
    exact = exact_operation(op, dtype)

    def apply(a: Pair, b: Pair) -> Pair:
        value = exact(a[0], b[0])
        if a[1] is None and b[1] is None:
            return value, None
        bound = np.maximum(error(a), error(b))
        if dtype.is_float:
            known = False
            for x, off in ((a[0], error(a)), (b[0], error(b))):
                known = known | ((off == 0) & ((x == value) | np.isnan(x)))
            bound = np.where(np.isfinite(value), bound, np.where(known, 0.0, np.inf))
        return tidy(value, bound)

    return apply


def _integer(op: str, dtype: DType) -> Operation:
    """Exact and wrapping; an uncertain operand that may wrap leaves the result undecided."""
    exact = exact_operation(op, dtype)

    def apply(*args: Pair) -> Pair:
        value = exact(*(a[0] for a in args))
        if all(a[1] is None for a in args):
            return value, None
        wide = [(a[0].astype(np.float64), error(a)) for a in args]
        moved, reach = _INTEGER_ERRORS[op](*wide)
        if dtype.kind == "uint":
            reach = np.full_like(reach, np.inf)  # below 0 it wraps as well
        uncertain = np.asarray(np.logical_or.reduce(np.broadcast_arrays(*(e > 0 for _, e in wide))))
        return tidy(value, np.where(uncertain, np.where(reach <= float(dtype.largest), moved, np.inf), 0.0))

    return apply


def _sum_error(a: Pair, b: Pair) -> tuple[Array, Array]:
    moved = error(a) + error(b)
    return moved, np.abs(a[0]) + np.abs(b[0]) + moved


def _product(a: Pair, b: Pair) -> tuple[Array, Array]:
    moved = product_error(a, b)
    assert moved is not None
    return moved, np.abs(a[0] * b[0]) + moved


def _floordiv(a: Pair, b: Pair) -> tuple[Array, Array]:
    divisor = np.where(b[0] == 0, 1.0, np.abs(b[0]))
    moved = np.where(error(b) == 0, error(a) / divisor + 1, np.inf)
    return moved, np.abs(a[0]) + error(a)


def _mod(a: Pair, b: Pair) -> tuple[Array, Array]:
    moved = np.where(error(b) == 0, np.where(np.isfinite(error(a)), np.abs(b[0]), np.inf), np.inf)
    return moved, np.zeros_like(moved)


_INTEGER_ERRORS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "add": _sum_error,
    "sub": _sum_error,
    "mul": _product,
    "floordiv": _floordiv,
    "mod": _mod,
    "neg": lambda a: (error(a), np.abs(a[0]) + error(a)),
    "abs": lambda a: (error(a), np.abs(a[0]) + error(a)),
}


# ---------------------------------------------------------------- conversions


@cache
def conversion(source: DType, target: DType) -> Operation:
    """Return the function that converts pairs between two types."""
    if target.kind == "bool":
        compare = _comparison("ne")
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


_ANY = DType("f64", "float", 64, 53, -1022, 1023)
