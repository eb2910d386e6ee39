"""Arrays that start at cache lines; only NumPy is needed, so that any interpreter can import this."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

LINE_BYTES = 64


def aligned(values: Array) -> Array:
    """Return a copy that starts at a cache line, as frameworks place their tensors.

    NumPy's own arrays start 16 bytes behind one, so that every second access of 64 bytes meets two lines.
    """
    raw = np.empty(values.nbytes + LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % LINE_BYTES
    out: Array = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    out[...] = values
    return out
