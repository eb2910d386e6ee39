"""Arguments for the tests: a dense sample of all f32, all exponents, special values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]


def dense(step: int = 4099) -> F32:
    """Return every `step`-th f32 by its bits; of each binade its ends, its middle and their neighbours."""
    sample = np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32)
    tops = np.arange(512, dtype=np.uint32) << np.uint32(23)
    low = np.array([0, 1, 2, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFE, 0x7FFFFF], np.uint32)
    parts = (sample, (tops[:, None] | low).ravel(), near_edges().view(np.uint32))
    return np.concatenate(parts).view(np.float32)


def near_edges() -> F32:
    """Return the f32 around the places where a function changes its way: limits, binades, reductions."""
    edges = [88.722839, 88.0, 89.0, -87.336548, -103.97208, -104.0, 9.0109, 9.125, 3.9375, 3.8325, 30.0]
    edges += [
        17.32868,
        0.75,
        1.0,
        1.5,
        2.0**-126,
        2.0**20,
        np.pi / 4,
        np.pi / 2,
        np.pi,
        355.0,
        16367173 * 2.0**72,
    ]
    edges += [k * float(np.log(2)) / 4 for k in range(1, 80)]
    bits = np.array([*edges, *(-e for e in edges)], np.float32).view(np.int32)
    return np.asarray((bits[:, None] + np.arange(-16, 17, dtype=np.int32)).ravel()).view(np.float32)


def same_bits(a: F32, b: F32) -> bool:
    """Tell whether two arrays have the same bits; which NaN a NaN is does not count."""
    return bool(np.array_equal(canonical(a), canonical(b)))


def canonical(a: F32) -> NDArray[np.uint32]:
    """Return the bits, every NaN as the same."""
    return np.asarray(np.where(np.isnan(a), np.float32(np.nan), a)).astype(np.float32).view(np.uint32)
