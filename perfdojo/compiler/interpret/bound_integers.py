"""Bools, integers, min and max on pairs: exact operations whose operands may be uncertain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perfdojo.compiler.dtypes import F64, DType
from perfdojo.compiler.interpret.exact import operation as exact_operation
from perfdojo.compiler.interpret.pairs import (
    SLACK,
    SOFT,
    Array,
    Pair,
    error,
    product_error,
    tidy,
)

Operation = Callable[..., Pair]


def comparison(op: str) -> Operation:
    """Return a comparison; it is uncertain where the operands can meet."""
    ufunc = exact_operation(op, F64)

    def compare(a: Pair, b: Pair) -> Pair:
        value = ufunc(a[0], b[0])
        if a[1] is None and b[1] is None:
            return value, None
        reach = error(a) + error(b)
        apart = np.abs(a[0].astype(np.float64) - b[0].astype(np.float64))
        sure = (reach == 0) | (np.isnan(apart) & (reach <= 2 * SOFT))
        return tidy(value, np.where((apart > reach * (1 + SLACK)) | sure, 0.0, 1.0))

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


LOGIC: dict[str, Operation] = {"and": _and, "or": lambda a, b: _not(_and(_not(a), _not(b))), "not": _not}


# ---------------------------------------------------------------- integers, min and max


def extremum(op: str, dtype: DType) -> Operation:
    """No minimum or maximum moves more than its operands."""
    exact = exact_operation(op, dtype)

    def apply(a: Pair, b: Pair) -> Pair:
        value = exact(a[0], b[0])
        if a[1] is None and b[1] is None:
            return value, None
        bound = np.maximum(error(a), error(b))
        if dtype.is_float:
            # An infinity stands unless the other operand may be NaN, and NaN in any case.
            known = bound < np.inf
            for x, off in () if op in ("minnum", "maxnum") else ((a[0], error(a)), (b[0], error(b))):
                known = known | (np.isnan(x) & (off < np.inf))
            bound = np.where(np.isfinite(value), bound, np.where(known, 0.0, np.inf))
        return tidy(value, bound)

    return apply


def integer(op: str, dtype: DType) -> Operation:
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
