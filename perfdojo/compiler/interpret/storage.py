"""Storage of a buffer: planes of equal shape, with views at affine addresses and gathers at any."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DType

Array = NDArray[Any]


class Plane:
    """One array of elements. Bytes lie beneath it, since bf16 arrays cannot lend their memory to views."""

    __slots__ = ("_bytes", "dtype", "flat")

    def __init__(self, dtype: np.dtype[Any], elements: int) -> None:
        self.dtype = dtype
        self._bytes = np.zeros(max(elements, 1) * dtype.itemsize, np.uint8)
        self.flat: Array = self._bytes.view(dtype)

    def view(self, shape: tuple[int, ...], offset: int, strides: tuple[int, ...]) -> Array:
        """Return the view at `offset` with `strides`, both in elements."""
        size = self.dtype.itemsize
        return np.ndarray(shape, self.dtype, self._bytes, offset * size, tuple(s * size for s in strides))


@dataclass(slots=True)
class Storage:
    """The elements of one buffer; the algebra decides what its planes hold.

    Attributes:
        shape: declared extents.
        strides: elements between neighbours along each dimension, 0 for dimensions not materialised.
        signs: the signs of all statements that write the buffer.
    """

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    elements: int
    signs: frozenset[str] = frozenset()
    planes: list[Plane] = field(default_factory=list)

    def whole(self, plane: Plane) -> Array:
        """Return all elements in the declared shape."""
        return plane.view(self.shape, 0, self.strides)


def layout(dtype: DType, shape: tuple[int, ...], reuse: tuple[int, ...], signs: frozenset[str]) -> Storage:
    """Return storage without planes, row-major over the dimensions that are materialised."""
    kept = [1 if d in reuse else n for d, n in enumerate(shape)]
    strides = tuple(0 if d in reuse else prod(kept[d + 1 :]) for d in range(len(shape)))
    return Storage(dtype, shape, strides, prod(kept), signs)
