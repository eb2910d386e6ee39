"""The exact algebra: values are arrays of the declared types, every operation rounds as the language says."""

# ruff: noqa: D102 (the methods are documented in algebra.Algebra)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret import functions
from perfdojo.compiler.interpret.algebra import Array, Change, Mask
from perfdojo.compiler.interpret.fma import fma
from perfdojo.compiler.interpret.rounding import BF16, int_to_float, narrow_f64
from perfdojo.compiler.interpret.storage import Plane, Storage
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.ops import REDUCTIONS


class Exact:
    """Implements `algebra.Algebra` with plain arrays."""

    def allocate(self, storage: Storage, array: Array | None) -> None:
        plane = Plane(NUMPY[storage.dtype.name], storage.elements)
        storage.planes.append(plane)
        if array is not None:
            storage.whole(plane)[...] = array

    def constant(self, array: Array, dtype: DType) -> Array:
        return array

    def operation(self, op: str, dtype: DType) -> Callable[..., Array]:
        return operation(op, dtype)

    def conversion(self, source: DType, target: DType) -> Callable[[Array], Array]:
        return conversion(source, target)

    def may(self, condition: Array) -> Mask:
        return condition

    def may_not(self, condition: Array) -> Mask:
        return np.logical_not(condition)

    def index(self, value: Array) -> tuple[NDArray[np.int64], None]:
        return np.asarray(value, np.int64), None

    def doubt(self, value: Array, where: Mask) -> Array:
        raise AssertionError("an exact index is never uncertain")

    def forget(self, storage: Storage) -> None:
        raise AssertionError("an exact index is never uncertain")

    def read(self, storage: Storage, planes: list[Array]) -> Array:
        return planes[0]

    def admit(self, storage: Storage, value: Array, condition: Array | None) -> None:
        return

    def update(
        self,
        storage: Storage,
        planes: list[Array],
        change: Change,
        value: Array,
        condition: Array | None,
        shape: tuple[int, ...],
    ) -> None:
        (target,) = planes
        if change.op == "=":
            new = value
        elif change.folded:
            np.copyto(target, fold(change, storage.dtype, target, value, condition, shape))
            return
        else:
            new = operation(REDUCTIONS[change.op], storage.dtype)(target, value)
        np.copyto(target, new, where=True if condition is None else condition)


# ---------------------------------------------------------------- operations


def operation(op: str, dtype: DType) -> Callable[..., Array]:
    """Return the function of an operation on arrays of type `dtype`."""
    if op in ("min", "max") and dtype.is_float:
        return _minimum if op == "min" else _maximum
    if op in ("minnum", "maxnum"):
        return _minimum_number if op == "minnum" else _maximum_number
    if op in _UFUNCS:
        ufunc: Callable[..., Array] = _UFUNCS[op]
        return ufunc
    if op == "fma":
        return fma
    function: Callable[..., Array] = getattr(functions, op)
    return lambda *args: _of_rank_one(function, *args)


def _of_rank_one(function: Callable[..., Array], *args: Array) -> Array:
    """Call a function that wants arrays, not the scalars that NumPy makes of arrays of rank 0."""
    if any(a.ndim for a in args):
        return function(*args)
    return function(*(np.reshape(a, 1) for a in args)).reshape(())


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a < b) | (b != b), b, a)


def _minimum(a: Array, b: Array) -> Array:
    return np.where((b < a) | (b != b), b, a)


def _maximum_number(a: Array, b: Array) -> Array:
    return np.where((a != a) | (a < b) | ((a == b) & np.signbit(a)), b, a)


def _minimum_number(a: Array, b: Array) -> Array:
    return np.where((a != a) | (b < a) | ((a == b) & np.signbit(b)), b, a)


_UFUNCS: dict[str, Any] = {
    "select": np.where,
    "or": np.logical_or,
    "and": np.logical_and,
    "not": np.logical_not,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "neg": np.negative,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}


# ---------------------------------------------------------------- conversions


def conversion(source: DType, target: DType) -> Callable[[Array], Array]:
    """Return the function that converts arrays between two types."""
    dtype = NUMPY[target.name]
    if target.kind == "bool":
        return lambda x: np.not_equal(x, np.zeros((), x.dtype))
    if source.is_float and target.is_integer:
        return lambda x: _saturate(x, target)
    if source.is_float:
        return lambda x: narrow_f64(np.asarray(x, np.float64), dtype)
    if target.is_float:
        return lambda x: int_to_float(np.asarray(x), dtype)
    return lambda x: np.asarray(x).astype(dtype)


def _saturate(x: Array, target: DType) -> Array:
    """Convert floats to integers: towards zero, ends for what is outside, 0 for NaN."""
    wide = np.trunc(np.asarray(x, np.float64))
    low, high = int(target.smallest), int(target.largest)
    above, below = wide >= float(high + 1), wide < float(low)
    inside = np.where(above | below | np.isnan(wide), 0.0, wide).astype(np.int64)
    dtype = NUMPY[target.name]
    return np.where(above, dtype.type(high), np.where(below, dtype.type(low), inside.astype(dtype)))


# ---------------------------------------------------------------- reductions along an axis


def fold(
    change: Change, dtype: DType, start: Array, value: Array, condition: Array | None, shape: tuple[int, ...]
) -> Array:
    """Accumulate the trailing axes of `value` onto `start` in order; return an array of start's shape."""
    if condition is not None:
        value = np.where(condition, value, absorbed(change.op, dtype))
    terms = np.broadcast_to(value, shape).reshape((*shape[: len(shape) - change.folded], -1))
    first = start.reshape((*terms.shape[:-1], 1))
    if dtype.is_integer:
        result = _INTEGER_FOLDS[change.op](
            np.concatenate([first, terms], axis=-1), axis=-1, dtype=first.dtype
        )
        return np.asarray(result).reshape(start.shape)
    sequence = np.concatenate([first, terms], axis=-1)
    if change.op in ("+=", "*="):
        ufunc = np.add if change.op == "+=" else np.multiply
        return np.asarray(ufunc.accumulate(sequence, axis=-1)[..., -1]).reshape(start.shape)
    if change.op in ("maxnum=", "minnum="):
        return _extreme_number(change.op, sequence).reshape(start.shape)
    # argmax finds the first of equals and the first NaN: what max(element, value) in order comes to.
    wide = sequence.astype(np.float32) if sequence.dtype == BF16 else sequence
    place = np.argmax(wide, axis=-1) if change.op == "max=" else np.argmin(wide, axis=-1)
    return np.take_along_axis(sequence, place[..., None], axis=-1).reshape(start.shape)


def _extreme_number(op: str, sequence: Array) -> Array:
    """Fold maxnum or minnum over the last axis; of zeros the larger or smaller one, where NumPy takes any."""
    wide = sequence.astype(np.float64)
    largest = op == "maxnum="
    found = (np.fmax if largest else np.fmin).reduce(wide, axis=-1)
    wins = ((wide == 0) & (np.signbit(wide) != largest)).any(axis=-1)
    zero = np.where(wins == largest, 0.0, -0.0)
    return np.where(found == 0, zero, found).astype(sequence.dtype)


def absorbed(op: str, dtype: DType) -> Array:
    """Return what changes no element: -0 for a float sum, since -0 + 0 is 0."""
    if op in ("maxnum=", "minnum="):
        return np.asarray(np.nan, NUMPY[dtype.name])
    limits = {"max=": (-np.inf, dtype.smallest), "min=": (np.inf, dtype.largest)}
    if op in limits:
        value = limits[op][0] if dtype.is_float else limits[op][1]
    else:
        value = 1 if op == "*=" else -0.0 if dtype.is_float else 0
    return np.asarray(value).astype(NUMPY[dtype.name])


_INTEGER_FOLDS: dict[str, Any] = {
    "+=": np.add.reduce,
    "*=": np.multiply.reduce,
    "max=": np.maximum.reduce,
    "min=": np.minimum.reduce,
}
