"""Reductions of pairs along trailing axes: sums in any order, sums and products in order, extrema."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.algebra import Change
from perfdojo.compiler.interpret.exact import absorbed
from perfdojo.compiler.interpret.pairs import SLACK, SOFT, Array, Pair, choose, error, unit_of

Shape = tuple[int, ...]

SOFT_TERM = 2.0**40
"""What a SOFT infinity adds to the number of additions, to mark the sum."""

_NUMBERS = {"maxnum=": np.fmax, "minnum=": np.fmin}

MANY = 1 + 2.0**-20
"""Excess that covers the float64 rounding of a sum of up to 2^32 magnitudes."""


def fold_sums(planes: list[Array], value: Pair, condition: Pair | None, folded: int, shape: Shape) -> None:
    """Add terms to the planes of a sum in any order: value, bounds of terms, magnitudes, additions."""
    terms, off = value[0], error(value)
    count = np.ones(())
    if condition is not None:
        holds, doubt = condition
        happens = holds if doubt is None else holds | (doubt > 0)
        off = off if doubt is None else np.where(doubt > 0, np.abs(terms) + off, off)
        off = np.where(np.isnan(off), np.inf, off)
        terms, off = np.where(holds, terms, 0.0), np.where(happens, off, 0.0)
        count = happens.astype(np.float64)
    magnitude = np.abs(terms)
    if not np.isfinite(magnitude).all():
        count = count + np.where(np.isinf(terms) & (off == SOFT), SOFT_TERM, 0.0)
        magnitude = np.where(np.isfinite(magnitude), magnitude, 0.0)
    axes = tuple(range(len(shape) - folded, len(shape)))
    for plane, addend in zip(planes, (terms, off, magnitude, count), strict=True):
        if folded:
            plane += np.broadcast_to(addend, shape).sum(axis=axes, keepdims=True)
        else:
            plane += addend


def fold_ordered(
    change: Change,
    dtype: DType,
    operation: Callable[..., Pair],
    old: Pair,
    value: Pair,
    condition: Pair | None,
    shape: Shape,
) -> Pair:
    """Accumulate along the trailing axes in order; the operands of extrema may come in any order as well."""
    kept = shape[: len(shape) - change.folded]
    flat = (*kept, -1)
    terms, off = (np.broadcast_to(x, shape).reshape(flat) for x in (value[0], error(value)))
    steps: list[Array | None] = [None, None]
    if condition is not None:
        steps = [None if c is None else np.broadcast_to(c, shape).reshape(flat) for c in condition]
    start = old[0].reshape((*kept, 1)), error(old).reshape((*kept, 1))
    result: Pair | None = None
    if steps[1] is None and change.op.startswith(("max", "min")):
        result = _extremum(change, dtype, operation, start, terms, off, steps[0])
    elif steps[1] is None and change.op == "+=" and dtype.is_float:
        result = _sum(dtype, start, terms, off, steps[0])
    if result is None:
        result = start
        for k in range(terms.shape[-1]):
            at = (..., slice(k, k + 1))
            new = operation(result, (terms[at], off[at]))
            if steps[0] is not None:
                holds = steps[0][at], None if steps[1] is None else steps[1][at]
                new = choose(holds, new, result)
            result = new
    return result[0].reshape(old[0].shape), error(result).reshape(old[0].shape)


def _extremum(
    change: Change,
    dtype: DType,
    operation: Callable[..., Pair],
    start: Pair,
    terms: Array,
    off: Array,
    happens: Array | None,
) -> Pair:
    """The largest or smallest moves no more than any operand does."""
    if happens is not None:
        terms = np.where(happens, terms, absorbed(change.op, dtype).astype(terms.dtype))
        off = np.where(happens, off, 0.0)
    if change.op in _NUMBERS:
        best = _NUMBERS[change.op].reduce(terms, axis=-1, keepdims=True)
    else:
        place = (np.argmax if change.op == "max=" else np.argmin)(terms, axis=-1)[..., None]
        best = np.take_along_axis(terms, place, axis=-1)
    bound = off.max(axis=-1, keepdims=True)
    if dtype.is_float and not np.isfinite(best).all():
        same = (terms == best) | (np.isnan(terms) & np.isnan(best))
        known = (same & (off == 0)).any(axis=-1, keepdims=True)
        bound = np.where(np.isfinite(best), bound, np.where(known, 0.0, np.inf))
    return operation(start, (best, bound))


def _sum(dtype: DType, start: Pair, terms: Array, off: Array, happens: Array | None) -> Pair | None:
    """Unroll e' = (e + e_term) (1 + u) + u |partial sum|; None when a sum is special or near the limit."""
    unit = unit_of(dtype)
    if happens is not None:
        terms, off = np.where(happens, terms, 0.0), np.where(happens, off, 0.0)
    partial = np.add.accumulate(np.concatenate([start[0], terms], axis=-1), axis=-1)[..., 1:]
    growth = 1 + unit.relative + SLACK
    rounding = np.abs(partial) * unit.relative
    if happens is not None:
        rounding = np.where(happens, rounding, 0.0)
    count = terms.shape[-1]
    weights = growth ** np.arange(count - 1, -1, -1.0)
    added = ((off * growth + rounding) * weights).sum(axis=-1, keepdims=True)
    bound = (error(start) * growth**count + added) * MANY
    if np.max(np.abs(partial)) + np.max(bound) <= unit.largest:
        return partial[..., -1:], bound
    return None
