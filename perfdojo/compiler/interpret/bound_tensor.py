"""What may be off where a machine multiplies and adds in one: tensor cores, instructions on pairs of bf16.

Tensor cores truncate sums in f32, and round factors in f32 to tf32.

Source: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ
Computer Science 7:e330, 2021: products are exact; blocks of four or more of them are added to the sum as
fixed-point numbers, cut behind the last bit of the largest; the result is truncated.

vdpbf16ps on a pair of products is two multiply-adds, each rounded to nearest even; factors, the sum before
and the sum after each that are subnormal count as 0.
Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VDPBF16PS; the tests of
intrinsics compare it bit by bit.
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

NORMAL = 2.0**F32.min_exponent
"""The smallest normal f32."""

TF32 = 2.0**-11
"""Largest relative error of the rounding to 11 bits."""


def lost(additions: Array) -> Array:
    """Return what additions lose below the smallest number of f32."""
    return (additions + 1) * F32.smallest_subnormal


def flushed(additions: Array) -> Array:
    """Return what additions lose that take subnormal sums for 0, before them and after them."""
    return (additions + 1) * 2 * NORMAL


def product(multiply: Callable[..., Pair], tensor: str) -> Callable[..., Pair]:
    """Return a product of factors that are changed first: rounded to tf32, or 0 where they are subnormal."""
    change = {"tf32": _rounded, "pairs": _normal}.get(tensor)
    return multiply if change is None else lambda a, b: multiply(change(a), change(b))


def _rounded(pair: Pair) -> Pair:
    """A subnormal factor may be taken for 0, the largest ones become infinite."""
    value, reach = pair[0], np.abs(pair[0]) + error(pair)
    off = np.maximum(_below(pair), reach * TF32)
    off = np.where(reach * (1 + TF32) > F32.largest, np.inf, off)
    return value, np.where(np.isfinite(value), error(pair) + off, error(pair))


def _normal(pair: Pair) -> Pair:
    return pair[0], error(pair) + _below(pair)


def _below(pair: Pair) -> Array:
    """Return what a factor loses where it may be subnormal."""
    size, off = np.abs(pair[0]), error(pair)
    return np.where(size - off < NORMAL, np.minimum(size + off, NORMAL), 0.0)
