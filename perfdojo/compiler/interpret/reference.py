"""The float64 reference of a program with an error bound for every element, and the comparison with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.interpret.algebra import Array
from perfdojo.compiler.interpret.bounds import Bounds
from perfdojo.compiler.interpret.engine import execute
from perfdojo.compiler.interpret.inputs import check_inputs
from perfdojo.compiler.interpret.pairs import error
from perfdojo.compiler.interpret.plan import plan
from perfdojo.compiler.ir import Program

LEVELS = ("strict", "contract", "reassoc", "fast")


@dataclass(frozen=True, slots=True)
class Bounded:
    """The elements of one buffer and how far a correct implementation may be from them.

    Attributes:
        value: float64 for floats, else the declared type.
        bound: largest absolute error, float64; 0 where NaN or an infinity is certain.
        undecided: where nothing can be said: the bound is not finite, or a bool may be either.
    """

    value: Array
    bound: NDArray[np.float64]
    undecided: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found.

    Attributes:
        worst_over_bound: largest error as a fraction of its bound; inf for a NaN or infinity out of place.
        worst_buffer, worst_index: the element with it; "" and () when there is none.
        message: one sentence.
        undecided_count: elements that were not judged.
    """

    passed: bool
    worst_over_bound: float
    worst_buffer: str
    worst_index: tuple[int, ...]
    message: str
    undecided_count: int


def reference(
    program: Program, inputs: Mapping[str, Array], fp: str = "reassoc", tensor: str = ""
) -> dict[str, Bounded]:
    """Return the reference of each out and inout buffer of a bound, verified program.

    Args:
        inputs: as for `interpret`.
        fp: what implementations may do: strict, contract, reassoc or fast.
        tensor: at fast they may sum in f32 as tensor cores do (`16 bits`), and also multiply so (`tf32`), or
            take subnormal factors and sums in f32 for 0 (`pairs`).

    Raises:
        PerfDojoError: inputs that do not fit.
        ValueError: an unknown level.
    """
    if fp not in LEVELS:
        raise ValueError(f"unknown floating-point level {fp}; levels are {' '.join(LEVELS)}")
    check_inputs(program, inputs)
    algebra = Bounds(fp, tensor)
    storages = execute(plan(program), algebra, inputs)
    result = {}
    with np.errstate(all="ignore"):
        for buffer in program.arguments:
            if buffer.role == "in":
                continue
            storage = storages[buffer.name]
            pair = algebra.read(storage, [storage.whole(p) for p in storage.planes])
            bound = np.array(error(pair), np.float64)
            undecided = bound > 0 if buffer.dtype.kind == "bool" else ~np.isfinite(bound)
            result[buffer.name] = Bounded(np.array(pair[0]), bound, undecided)
    return result


def compare(result: Mapping[str, Array], bounded: Mapping[str, Bounded]) -> Verdict:
    """Judge the buffers that an implementation computed against the reference.

    NaN and infinities must agree in place, zeros of both signs are equal, integers and bools must be equal
    where the reference is exact; an error of 0 over a bound of 0 counts as 0.

    Raises:
        ValueError: a buffer of the reference is missing or has another shape.
    """
    worst, buffer, undecided = 0.0, "", 0
    place: tuple[int, ...] = ()
    for name, reference_ in bounded.items():
        if name not in result or result[name].shape != reference_.value.shape:
            raise ValueError(f"result '{name}' must have shape {reference_.value.shape}")
        undecided += int(reference_.undecided.sum())
        share = over_bound(result[name], reference_)
        if share.size and (not buffer or share.max() > worst):
            place = tuple(int(i) for i in np.unravel_index(int(share.argmax()), share.shape))
            worst, buffer = float(share[place]), name
    passed = worst <= 1.0
    if not buffer:
        return Verdict(passed, worst, buffer, place, "nothing to compare", undecided)
    got, want = result[buffer][place], bounded[buffer]
    where = f"{buffer}[{', '.join(str(i) for i in place)}]"
    if passed:
        message = f"worst error is {worst:.3g} of its bound, at {where}"
    else:
        message = f"{where} is {got}, expected {want.value[place]} within {want.bound[place]:.3g}"
    return Verdict(passed, worst, buffer, place, message, undecided)


def over_bound(result: Array, bounded: Bounded) -> NDArray[np.float64]:
    """Return the error of every element as a fraction of its bound, 0 where it is undecided."""
    with np.errstate(all="ignore"):
        if bounded.value.dtype.kind in "iub":
            exact = bounded.bound == 0
            off = np.where(exact, result != bounded.value, _distance(result, bounded.value))
        else:
            got = result.astype(np.float64)
            same = (got == bounded.value) | (np.isnan(got) & np.isnan(bounded.value))
            off = np.where(same, 0.0, np.abs(got - bounded.value))
            off = np.where(np.isnan(off), np.inf, off)
        share = np.where(off == 0, 0.0, off / bounded.bound)
    return np.where(bounded.undecided, 0.0, share)


def _distance(a: Array, b: Array) -> Array:
    return np.abs(a.astype(np.float64) - b.astype(np.float64))
