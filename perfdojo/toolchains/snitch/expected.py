"""What outputs may be, as intervals of ordered integers: for programs that check themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.toolchains.arrays import Array, layout
from perfdojo.toolchains.results import Outcome
from perfdojo.toolchains.snitch.layout import PATTERNS, Area

Integers = NDArray[np.int64]
LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max

SOME_WRONG, MOST = 32, 200
_ENDS: dict[int, tuple[Outcome, str]] = {
    240: ("memory-overwrite", "memory beside the outputs was written"),
    241: ("wrong-result", "the kernel returned with other values in registers than a callee may change"),
    242: ("memory-overwrite", "the kernel needs more stack than there is"),
    243: ("out-of-memory", "the kernel returned that it failed"),
}


@dataclass(frozen=True, slots=True)
class Expected:
    """Least and greatest value that each element of an output may have, ordered as `ordered` says."""

    least: Integers
    greatest: Integers


def ordered(array: Array) -> Integers:
    """Return integers that are ordered as the elements are: -0 below +0, every NaN above all numbers."""
    width = 8 * array.dtype.itemsize
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    bits = array.view(f"u{array.dtype.itemsize}").astype(np.uint64)
    top = np.uint64(1 << (width - 1))
    size = (bits & (top - np.uint64(1))).astype(np.int64)
    found = np.where(bits & top, -size - 1, size)
    return np.where(np.isnan(array), GREATEST, found)


def exactly(array: Array) -> Expected:
    """Expect these very bits; any NaN where there is one."""
    return Expected(ordered(array), ordered(array))


def within(value: Array, bound: NDArray[np.float64], undecided: NDArray[np.bool_], dtype: str) -> Expected:
    """Expect the elements of `dtype` that are no farther than `bound` from `value`; anything where undecided.

    NaN and infinities are met exactly, zeros of both signs are equal.
    """
    with np.errstate(all="ignore"):
        if value.dtype.kind in "iub":
            least = np.clip(np.ceil(value - bound), -(2.0**62), 2.0**62).astype(np.int64)
            greatest = np.clip(np.floor(value + bound), -(2.0**62), 2.0**62).astype(np.int64)
            exact = bound == 0
            least = np.where(exact, value.astype(np.int64), least)
            greatest = np.where(exact, value.astype(np.int64), greatest)
        else:
            low, high = value - bound, value + bound
            near = [edge.astype(NUMPY[dtype]) for edge in (low, high)]
            least = ordered(near[0]) + (near[0].astype(np.float64) < low)
            greatest = ordered(near[1]) - (near[1].astype(np.float64) > high)
            least = np.where(least == 0, -1, least)
            greatest = np.where(greatest == -1, 0, greatest)
            nan = np.isnan(value)
            least = np.where(nan, GREATEST, least)
            greatest = np.where(nan, GREATEST, greatest)
    return Expected(np.where(undecided, LEAST, least), np.where(undecided, GREATEST, greatest))


def interval_bytes(area: Area, expected: Mapping[str, Expected]) -> bytes:
    """Return the intervals of all outputs in their memory order, as check.c takes them.

    Padding must hold the pattern that was there before call 0.
    """
    parts = []
    for a in area.arguments:
        if a.role == "in":
            continue
        element = np.frombuffer((PATTERNS["out"][0] * 8)[: NUMPY[a.dtype].itemsize], NUMPY[a.dtype])
        padding = ordered(element)[0] if a.role == "out" else 0
        pairs = np.full((a.size_elems, 2), padding, np.int64)
        for column, values in enumerate((expected[a.name].least, expected[a.name].greatest)):
            flat = np.full(a.size_elems, padding, np.int64)
            layout(flat, a)[...] = values
            pairs[:, column] = flat
        parts.append(pairs.tobytes())
    return b"".join(parts)


def judge_exit(code: int, outputs: str) -> tuple[Outcome, str]:
    """Return what an exit code of a program that checks itself says; `outputs` names them."""
    if code == SOME_WRONG:
        return "ok", ""
    if code == 0:
        return (
            "crash",
            "the simulator ended with exit code 0, which the program never gives: it did not run it",
        )
    if code in _ENDS:
        return _ENDS[code]
    if SOME_WRONG < code <= SOME_WRONG + MOST:
        count = code - SOME_WRONG
        some = f"{count} or more" if count == MOST else str(count)
        return "wrong-result", f"{some} elements of {outputs} are outside their bounds"
    return "crash", f"the program ended with exit code {code}: it trapped, or was ended by the simulator"
