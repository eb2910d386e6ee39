"""Values with error bounds: a pair is a value in float64 (or exact) and how far an implementation may be off.

Invariants of a pair (v, e): e is None (exact) or >= 0 and never NaN; e = inf is undecided: no statement about
the implementation's value. A v that is NaN or infinite with e = 0 is certain: the implementation has it too.
With e = SOFT it is a product that overflows unless it is fused with an addition: it stays infinite whatever
finite number is added, but an opposite infinity may give NaN or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DType

Array = NDArray[Any]
Pair = tuple[Array, Array | None]

U64 = 2.0**-53
SOFT = 2.0**-1074
SLACK = 2.0**-46
"""Relative excess of every bound that covers the rounding of the few float64 operations that compute it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The rounding of one float type, seen from a float64 reference that rounds as well.

    Attributes:
        relative: largest relative error of a rounding plus that of the reference.
        absolute: half the smallest subnormal, at least the smallest float64.
        ulp: an ULP relative to the value, at most.
        largest: largest finite value.
        overflow: smallest exact magnitude that rounds to infinity (f64: its largest value, to be safe).
    """

    relative: float
    absolute: float
    ulp: float
    largest: float
    overflow: float


def unit_of(dtype: DType) -> Unit:
    """Return the rounding of a float type."""
    u = dtype.unit_roundoff
    return Unit(
        (u + U64) * (1 + SLACK),
        max(dtype.smallest_subnormal / 2, 2.0**-1074),
        2 * u,
        float(dtype.largest),
        float(dtype.largest) * (1 + u / (2 - 2 * u)) if dtype.mantissa < 53 else float(dtype.largest),
    )


def error(pair: Pair) -> Array:
    """Return the bound as an array of the value's shape."""
    value, bound = pair
    return np.zeros(np.shape(value)) if bound is None else bound


def tidy(value: Array, bound: Array) -> Pair:
    """Return a pair without its bound when that is zero everywhere."""
    return value, (bound if bound.any() else None)


def sum_of(first: Array | None, second: Array | None) -> Array | None:
    """Return the sum of two bounds, None being 0."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def product_error(a: Pair, b: Pair) -> Array | None:
    """Return how far the exact product moves within the bounds of its factors."""
    (x, ex), (y, ey) = a, b
    moved = None if ex is None else np.abs(y) * ex
    if ey is not None:
        other = np.abs(x) * ey if ex is None else (np.abs(x) + ex) * ey
        moved = sum_of(moved, other)
    return moved


def finish(
    value: Array,
    propagated: Array | None,
    unit: Unit,
    operands: tuple[Pair, ...],
    relative: float | None = None,
    absolute: float | Array = 0.0,
    signless: tuple[bool, ...] = (),
    fusible: bool = False,
) -> Pair:
    """Return the pair of an operation on floats that rounds its result.

    Args:
        value: the operation on the operands' values.
        propagated: bound of what their errors do to the exact result; 0 where `value` is NaN or infinite for
            certain although no operand is, inf where it is not known.
        relative: relative error of the operation itself, one rounding by default.
        absolute: its absolute error, for results that may be subnormal.
        signless: operands whose sign does not decide what becomes of an infinite other one.
        fusible: the result may be fused with an addition, before it is rounded.
    """
    magnitude = np.abs(value)
    own = magnitude * (unit.relative if relative is None else relative) + absolute
    if propagated is None:
        bound, reach = own, magnitude
    else:
        bound = own + propagated * (1 + unit.relative + SLACK)
        reach = magnitude + propagated
    # A correctly rounded result stays finite below the overflow threshold; another needs its whole bound.
    if relative is not None:
        reach = magnitude + bound
    if np.max(reach) < (unit.overflow if relative is None else unit.largest):
        return value, bound
    return _special(value, propagated, bound, own, unit, operands, signless, relative is None, fusible)


def _special(
    value: Array,
    propagated: Array | None,
    bound: Array,
    own: Array,
    unit: Unit,
    operands: tuple[Pair, ...],
    signless: tuple[bool, ...],
    rounded: bool,
    fusible: bool,
) -> Pair:
    """Sort results near or beyond the limits of the type into decided and undecided ones."""
    moved = np.zeros_like(bound) if propagated is None else propagated
    finite, magnitude = np.isfinite(value), np.abs(value)
    if rounded:
        fine = finite & ((magnitude + moved < unit.overflow) | ((magnitude <= unit.largest) & (moved == 0)))
    else:
        fine = finite & (magnitude + bound <= unit.largest)
    below = magnitude - (moved if rounded else bound)
    beyond = finite & (magnitude > unit.largest) & (below >= unit.overflow)
    special, known, nan, soft = (np.zeros(np.shape(value), np.bool_) for _ in range(4))
    known |= True
    for place, pair in enumerate(operands):
        operand, off = pair[0], error(pair)
        odd = ~np.isfinite(operand)
        steady = np.isfinite(off) if signless and signless[place] else np.abs(operand) > off
        special = special | odd
        known = known & ((off == 0) | (odd & (off == SOFT)) | (~odd & steady))
        nan = nan | (np.isnan(operand) & (off == 0))
        soft = soft | (odd & (off == SOFT))
    if signless:
        known = known & ~(soft & np.isnan(value))
    certain = np.where(special, known | nan, moved == 0)
    calm = finite & special & known & ~np.isfinite(bound)
    decided = beyond | (~finite & certain)
    sure = np.where(decided, 0.0, np.inf)
    if fusible:
        # An addend may bring a product back that is at most twice too large.
        near = finite & (below < 2.1 * unit.overflow) | ~(finite | special)
        sure = np.where(decided & ~special, np.where(near & ~np.isnan(value), np.inf, SOFT), sure)
    result = np.where(fine, bound, np.where(calm, own, sure))
    return np.where(beyond, np.copysign(np.inf, value), value), result


def choose(condition: Pair, first: Pair, second: Pair) -> Pair:
    """Return `condition ? first : second`; where the condition is uncertain the bound covers both."""
    (holds, doubt), (a, ea), (b, eb) = condition, first, second
    value = np.where(holds, a, b)
    bound = None if ea is None and eb is None else np.where(holds, error(first), error(second))
    if doubt is None:
        return value, bound
    other = np.where(holds, b, a)
    wide, away = value.astype(np.float64), other.astype(np.float64)
    same = (wide == away) | (np.isnan(wide) & np.isnan(away))
    apart = np.where(same, 0.0, np.abs(wide - away))
    apart = np.where(np.isnan(apart), np.inf, apart)
    off = np.where(holds, error(second), error(first))
    chosen = np.zeros_like(apart) if bound is None else bound
    return tidy(value, np.where(doubt > 0, np.maximum(chosen, apart * (1 + SLACK) + off), chosen))
