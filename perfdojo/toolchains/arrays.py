"""NumPy arrays to and from the memory that a kernel's C function takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.emitted import Argument
from perfdojo.compiler.numpy_types import NUMPY

Array = NDArray[Any]


def empty(argument: Argument) -> Array:
    """Return an array with the shape and the strides of `argument`, its contents undefined."""
    return layout(np.empty(argument.size_elems, NUMPY[argument.dtype]), argument)


def layout(flat: Array, argument: Argument) -> Array:
    """Return the elements of `argument` as a view of the flat buffer of `size_elems` elements."""
    assert flat.shape == (argument.size_elems,), (flat.shape, argument)
    strides = tuple(s * flat.itemsize for s in argument.strides_elems)
    return np.lib.stride_tricks.as_strided(flat, argument.shape, strides)


def why_unfit(argument: Argument, array: object) -> str:
    """Return what is wrong with `array` as the elements of `argument`, one sentence, or ""."""
    wanted = NUMPY[argument.dtype]
    name = f"argument '{argument.name}'"
    if not isinstance(array, np.ndarray):
        return f"{name} is a {type(array).__name__}, not a NumPy array"
    if array.dtype != wanted:
        return f"{name} has dtype {array.dtype}, but the kernel takes {wanted} ({argument.dtype})"
    if array.shape != argument.shape:
        return f"{name} has shape {array.shape}, but the kernel takes {argument.shape}"
    return ""


def why_unfit_inputs(arguments: tuple[Argument, ...], inputs: Mapping[str, object]) -> str:
    """Return what is wrong with the arrays for the `in` and `inout` arguments, one sentence, or ""."""
    for a in arguments:
        if a.role != "out" and a.name not in inputs:
            return f"argument '{a.name}' is missing"
        reason = why_unfit(a, inputs[a.name]) if a.role != "out" else ""
        if reason:
            return reason
    return ""


def to_memory(argument: Argument, array: Array) -> Array:
    """Return the flat buffer that holds `array`; padding is zero."""
    flat = np.zeros(argument.size_elems, NUMPY[argument.dtype])
    layout(flat, argument)[...] = array
    return flat


def from_memory(argument: Argument, raw: bytes) -> Array:
    """Return the elements in the declared shape, contiguous, from the bytes of the whole buffer."""
    return layout(np.frombuffer(raw, NUMPY[argument.dtype]), argument).copy()


def nans_in(outputs: Mapping[str, Array]) -> dict[str, int]:
    """Return the number of NaN elements of each output that has some."""
    floats = {name: array for name, array in outputs.items() if array.dtype.kind not in "iub"}
    return {name: count for name, a in floats.items() if (count := int(np.count_nonzero(np.isnan(a))))}
