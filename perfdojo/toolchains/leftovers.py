"""What a checked run left in memory: elements that were never written, padding that was."""

from __future__ import annotations

import numpy as np

from perfdojo.compiler.emitted import Argument
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.toolchains.arrays import layout
from perfdojo.toolchains.results import Outcome

PATTERNS = (b"\xfd\x7f", b"\x35\xb6")
"""What fresh outputs hold in the first and in the second run of a check, as in harness/buffers.h."""


def judge_memory(argument: Argument, first: bytes, second: bytes) -> tuple[Outcome, str]:
    """Judge the bytes of one written argument after both runs; ok, or what is wrong in one sentence.

    A byte that holds each run's own pattern was written in neither.
    """
    if argument.role != "out":
        return "ok", ""
    width = NUMPY[argument.dtype].itemsize
    fresh = _holds(first, PATTERNS[0]) & _holds(second, PATTERNS[1])
    whole = fresh.reshape(argument.size_elems, width)
    is_element = np.zeros(argument.size_elems, np.bool_)
    layout(is_element, argument)[...] = True
    touched = ~is_element & ~whole.all(axis=1)
    if touched.any():
        return (
            "memory-overwrite",
            f"padding of {argument.name} was written, at element {np.argmax(touched)} of the buffer",
        )
    missed = layout(np.ascontiguousarray(whole.any(axis=1)), argument)
    if missed.any():
        first_missed = ", ".join(str(k) for k in np.argwhere(missed)[0])
        count = f"{np.count_nonzero(missed)} of {missed.size} elements"
        return "wrong-result", f"{count} of {argument.name} were not written, the first is [{first_missed}]"
    if argument.dtype == "bool":
        values = layout(np.frombuffer(first, np.uint8), argument)
        if values.max(initial=0) > 1:
            return "wrong-result", f"{argument.name} is bool, but a byte of it is {values.max()}, not 0 or 1"
    return "ok", ""


def _holds(memory: bytes, pattern: bytes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each byte, whether it is that of the repeated two-byte pattern."""
    found = np.frombuffer(memory, np.uint8)
    whole = np.frombuffer(pattern * (len(memory) // 2 + 1), np.uint8)[: len(memory)]
    return np.equal(found, whole)
