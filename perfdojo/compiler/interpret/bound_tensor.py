"""What tensor cores may be off: sums in f32 that are truncated, factors in f32 that are rounded to tf32.

Source: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ
Computer Science 7:e330, 2021: products are exact; blocks of four or more of them are added to the sum as
fixed-point numbers, cut behind the last bit of the largest; the result is truncated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.interpret.pairs import Array, Pair, error

SUM = 3 * F32.unit_roundoff
"""Of each addition. Terms but the largest lose up to two units of the largest, the result two of its own.

In a block of b products and the sum before it these are b + 1 losses for b additions; with b >= 4, and no sum
before the first block, at most 3/2 for each addition."""

TF32 = 2.0**-11
"""Largest relative error of the rounding to 11 bits."""


def lost(additions: Array) -> Array:
    """Return what additions lose below the smallest number of f32."""
    return (additions + 1) * F32.smallest_subnormal


def product(multiply: Callable[..., Pair]) -> Callable[..., Pair]:
    """Return a product of factors that are rounded to tf32 first."""
    return lambda a, b: multiply(_rounded(a), _rounded(b))


def _rounded(pair: Pair) -> Pair:
    """A subnormal factor may be taken for 0, the largest ones become infinite."""
    value, reach = pair[0], np.abs(pair[0]) + error(pair)
    off = np.where(reach < 2.0**F32.min_exponent, reach, reach * TF32)
    off = np.where(reach * (1 + TF32) > F32.largest, np.inf, off)
    return value, np.where(np.isfinite(value), error(pair) + off, error(pair))
