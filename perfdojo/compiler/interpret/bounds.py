"""The bound algebra: values in float64 beside a running bound of what an implementation may be off.

Planes of a buffer: its values, then (unless it is exact) the bounds. Where reductions may be reassociated,
the target of `+=` also keeps what a bound for every order needs: the sum of magnitudes and the number of
additions; the target of `*=` the product of the magnitudes over 1 and the number of multiplications.
Source of the bounds: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1, 3.3, 4.2.
"""

# ruff: noqa: D102 (the methods are documented in algebra.Algebra)

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import F32, DType
from perfdojo.compiler.interpret.algebra import Change, Mask
from perfdojo.compiler.interpret.bound_conversions import conversion
from perfdojo.compiler.interpret.bound_folds import MANY, SOFT_TERM, fold_ordered, fold_sums
from perfdojo.compiler.interpret.bound_ops import operation
from perfdojo.compiler.interpret.bound_tensor import SUM, flushed, lost, product
from perfdojo.compiler.interpret.pairs import SLACK, SOFT, Array, Pair, choose, error, unit_of
from perfdojo.compiler.interpret.storage import Plane, Storage
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.ops import REDUCTIONS


class Bounds:
    """Implements `algebra.Algebra` with pairs, for implementations at one floating-point level.

    Args:
        tensor: what they may do where they multiply and add in one, see `reference`.
    """

    def __init__(self, fp: str, tensor: str = "") -> None:
        self.fp = fp
        self.tensor = tensor if fp == "fast" else ""
        self.reorders = fp in ("reassoc", "fast")

    # ------------------------------------------------------------ storage

    def allocate(self, storage: Storage, array: Array | None) -> None:
        floating = storage.dtype.is_float
        planes = 1
        if floating and storage.signs:
            planes = 4 if self._tracks(storage) else 2
        kind = np.dtype(np.float64) if floating else NUMPY[storage.dtype.name]
        storage.planes = [Plane(kind, storage.elements)]
        storage.planes += [Plane(np.dtype(np.float64), storage.elements) for _ in range(planes - 1)]
        if array is not None:
            storage.whole(storage.planes[0])[...] = array
            if planes == 4:
                self._reset([storage.whole(p) for p in storage.planes], storage, True)

    def _tracks(self, storage: Storage) -> bool:
        return self.reorders and storage.dtype.is_float and not storage.signs.isdisjoint(("+=", "*="))

    def admit(self, storage: Storage, value: Pair, condition: Pair | None) -> None:
        uncertain = value[1] is not None or (condition is not None and condition[1] is not None)
        if uncertain and len(storage.planes) == 1:
            storage.planes.append(Plane(np.dtype(np.float64), storage.elements))

    def forget(self, storage: Storage) -> None:
        if len(storage.planes) == 1:
            storage.planes.append(Plane(np.dtype(np.float64), storage.elements))
        storage.planes[1].flat[...] = np.inf

    def read(self, storage: Storage, planes: list[Array]) -> Pair:
        if len(planes) == 1:
            return planes[0], None
        if len(planes) == 2:
            return planes[0], planes[1]
        if "+=" not in storage.signs:
            return _read_product(storage.dtype, planes)
        return _read_sum(storage.dtype, planes, self.tensor if storage.dtype == F32 else "")

    def update(
        self,
        storage: Storage,
        planes: list[Array],
        change: Change,
        value: Pair,
        condition: Pair | None,
        shape: tuple[int, ...],
    ) -> None:
        if len(planes) == 4 and change.op == "+=":
            fold_sums(planes, value, condition, change.folded, shape)
            return
        if len(planes) == 4 and change.op == "*=" and "+=" not in storage.signs:
            self._multiply(storage, planes, value, condition, change.folded, shape)
            return
        if change.op == "=":
            where = _write(planes, lambda: self.read(storage, planes), value, condition)
        else:
            old = self.read(storage, planes)
            new = self._absorb(change, storage.dtype, old, value, condition, shape)
            where = _write(planes, lambda: old, new, None if change.folded else condition)
        if len(planes) == 4:
            self._reset(planes, storage, where, change.start)

    def _absorb(
        self,
        change: Change,
        dtype: DType,
        old: Pair,
        value: Pair,
        condition: Pair | None,
        shape: tuple[int, ...],
    ) -> Pair:
        operation = self.operation(REDUCTIONS[change.op], dtype)
        if not change.folded:
            return operation(old, value)
        return fold_ordered(change, dtype, operation, old, value, condition, shape)

    def _multiply(
        self,
        storage: Storage,
        planes: list[Array],
        value: Pair,
        condition: Pair | None,
        folded: int,
        shape: tuple[int, ...],
    ) -> None:
        """Multiply in order, and note what a bound for every order adds."""
        old = planes[0], planes[1]
        new = self._absorb(Change("*=", False, folded), storage.dtype, old, value, condition, shape)
        factors = np.where(np.isfinite(value[0]), np.maximum(np.abs(value[0]) + error(value), 1.0), 1.0)
        count = np.ones(())
        if condition is not None:
            happens = self.may(condition)
            factors, count = np.where(happens, factors, 1.0), happens.astype(np.float64)
            new = new if folded else choose(condition, new, old)
        kept = len(shape) - folded
        axes = tuple(range(kept, len(shape)))
        planes[0][...], planes[1][...] = new[0], error(new)
        planes[2][...] *= np.broadcast_to(factors, shape).prod(axis=axes, keepdims=True)
        planes[3][...] += np.broadcast_to(count, shape).sum(axis=axes, keepdims=True)

    def _reset(self, planes: list[Array], storage: Storage, where: Mask | bool, start: bool = False) -> None:
        """Begin a new sum or product with the elements just written as its first operand."""
        magnitude = np.abs(planes[0])
        if "+=" in storage.signs:
            fresh = np.where(np.isfinite(magnitude), magnitude, 0.0)
        else:
            fresh = np.where(np.isfinite(magnitude), np.maximum(magnitude + planes[1], 1.0), 1.0)
        np.copyto(planes[2], fresh, where=where)
        # The first operand on a neutral element costs no rounding.
        count = -1.0 if start else np.where(np.isinf(magnitude) & (planes[1] == SOFT), SOFT_TERM, 0.0)
        np.copyto(planes[3], count, where=where)

    # ------------------------------------------------------------ values

    def constant(self, array: Array, dtype: DType) -> Pair:
        return (array.astype(np.float64) if dtype.is_float else array), None

    def operation(self, op: str, dtype: DType) -> Callable[..., Pair]:
        found = operation(op, dtype, self.fp)
        return product(found, self.tensor) if op == "mul" and dtype == F32 else found

    def conversion(self, source: DType, target: DType) -> Callable[[Pair], Pair]:
        return conversion(source, target)

    def may(self, condition: Pair) -> Mask:
        holds, doubt = condition
        return holds if doubt is None else holds | (doubt > 0)

    def may_not(self, condition: Pair) -> Mask:
        holds, doubt = condition
        return np.logical_not(holds) if doubt is None else np.logical_not(holds) | (doubt > 0)

    def index(self, value: Pair) -> tuple[NDArray[np.int64], Mask | None]:
        index, doubt = value
        return np.asarray(index, np.int64), None if doubt is None else doubt > 0

    def doubt(self, value: Pair, where: Mask) -> Pair:
        return value[0], np.where(where, np.inf, error(value))


def _write(planes: list[Array], old: Callable[[], Pair], new: Pair, condition: Pair | None) -> Mask | bool:
    """Store a pair where the condition holds; return where it may have."""
    where: Mask | bool = True
    if condition is not None and condition[1] is not None:
        where = condition[0] | (condition[1] > 0)
        new = choose(condition, new, old())
    elif condition is not None:
        where = condition[0]
    np.copyto(planes[0], new[0], where=where)
    if len(planes) > 1:
        np.copyto(planes[1], 0.0 if new[1] is None else new[1], where=where)
    return where


def _read_sum(dtype: DType, planes: list[Array], tensor: str) -> Pair:
    """n - 1 additions of n operands, in any order: ((1 + u)^(n-1) - 1) times the sum of their magnitudes."""
    value, terms, magnitudes, additions = planes
    unit, count = unit_of(dtype), np.maximum(np.fmod(additions, SOFT_TERM), 0.0)
    growth = np.expm1(count * np.log1p(SUM if tensor in ("16 bits", "tf32") else unit.relative))
    bound = (terms + growth * (magnitudes + terms)) * MANY
    if tensor:
        bound = bound + (flushed(count) * (1 + growth) if tensor == "pairs" else lost(count))
    top = magnitudes + bound
    if np.max(top) <= unit.largest and np.isfinite(value).all():
        return value, bound
    finite = np.isfinite(value)
    # No partial sum can leave the type, or only to the side of the total.
    opposite = (magnitudes - np.abs(value)) / 2 + bound
    beyond = finite & (np.abs(value) - bound >= unit.overflow) & (opposite < unit.largest)
    certain = ~finite & np.isfinite(terms) & ((top <= unit.largest) | np.isnan(value))
    certain &= ~(np.isnan(value) & (additions >= SOFT_TERM - 1))
    bound = np.where(finite & (top <= unit.largest), bound, np.where(beyond | certain, 0.0, np.inf))
    return np.where(beyond, np.copysign(np.inf, value), value), bound


def _read_product(dtype: DType, planes: list[Array]) -> Pair:
    """The running bound holds for every order, but for partial products that are subnormal or too large."""
    value, running, large, factors = planes
    unit = unit_of(dtype)
    lost = np.maximum(factors, 0.0) * unit.absolute * large * (1 + SLACK)
    steady = (large * (1 + unit.relative * np.maximum(factors, 1.0)) * MANY <= unit.largest) | (factors <= 0)
    finite = np.isfinite(value)
    certain = (running == 0) & (np.isnan(value) | (factors <= 0))
    bound = np.where(steady, np.where(finite, running + lost, np.where(certain, 0.0, np.inf)), np.inf)
    return value, bound
