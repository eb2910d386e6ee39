"""Equality in bits: what `strict` promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def first_difference(result: Mapping[str, Array], expected: Mapping[str, Array]) -> str:
    """Return "" when all arrays of `expected` have the same bits in `result`, else where they first differ.

    Any NaN equals any NaN; zeros of different sign differ.
    """
    for name, wanted in expected.items():
        got = result[name]
        same = _same(got, wanted)
        if same.all():
            continue
        at = np.unravel_index(int(np.argmin(same)), same.shape)
        place = ", ".join(map(str, at))
        return f"{name}[{place}] is {got[at]!s}, expected {wanted[at]!s} bit for bit"
    return ""


def _same(a: Array, b: Array) -> NDArray[np.bool_]:
    """Where two arrays of one type and shape agree."""
    if a.dtype.kind in "biu":
        return np.asarray(a == b)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    nans = np.isnan(wide_a) & np.isnan(wide_b)
    return np.asarray(nans | ((wide_a == wide_b) & (np.signbit(wide_a) == np.signbit(wide_b))))
