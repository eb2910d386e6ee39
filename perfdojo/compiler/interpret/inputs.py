"""Inputs of a program: the checks that they must pass, and random ones of several kinds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.interpret.algebra import Array
from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.walk import const_int

KINDS = ("normal", "uniform", "positive", "cancel", "denormal", "huge", "equal", "special")
"""Kinds of random inputs, see `random_inputs`."""


def check_inputs(program: Program, inputs: Mapping[str, Array]) -> None:
    """Refuse inputs that do not fit the header of the program.

    Raises:
        PerfDojoError: a missing or unknown name, a wrong dtype or shape, an element outside `values`.
    """
    wanted = [b for b in program.arguments if b.role != "out"]
    names = [b.name for b in wanted]
    for name in inputs:
        if name not in names:
            hint = nearest(name, names) or f"inputs are {' '.join(names) or 'none'}"
            raise PerfDojoError(f"'{program.name}' has no input '{name}'", program.source, None, hint)
    for buffer in wanted:
        if buffer.name not in inputs:
            raise PerfDojoError(f"input '{buffer.name}' is missing", program.source, buffer.span)
        _check(program, buffer, inputs[buffer.name])


def _check(program: Program, buffer: Buffer, array: Array) -> None:
    shape = tuple(const_int(n) for n in buffer.shape)
    dtype = NUMPY[buffer.dtype.name]
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        given = f"{array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
        raise PerfDojoError(
            f"input '{buffer.name}' is {buffer.dtype}, but a {given} was given",
            program.source,
            buffer.span,
            f"pass a NumPy array of dtype {dtype}",
        )
    if array.shape != shape:
        raise PerfDojoError(
            f"input '{buffer.name}' has shape {list(shape)}, but the given array has {list(array.shape)}",
            program.source,
            buffer.span,
        )
    if buffer.values is None:
        return
    low, high = (const_int(v) for v in buffer.values)
    wrong = np.argwhere((array < low) | (array >= high))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        raise PerfDojoError(
            f"input '{buffer.name}' promises values({low}, {high}), but its element {list(place)} is "
            f"{array[place]}",
            program.source,
            buffer.span,
        )


def random_inputs(program: Program, seed: int, kind: str = "normal") -> dict[str, Array]:
    """Return inputs for a bound program, the same for the same arguments.

    Kinds of floats: `normal` (mean 0, deviation 1), `uniform` in [-1, 1), `positive` in [0.5, 2), `cancel`
    (large ones that nearly cancel in sums along the last dimension), `denormal` (subnormals and the smallest
    normals), `huge` (around 1e30 in f32: sums stay finite, products do not), `equal` (one value everywhere),
    `special` (normal with NaN, inf, -inf, 0 and -0 among them). Integers lie in their declared `values`; else
    they are small for `normal`, `uniform`, `positive` and `equal`, and of full range for the others.

    Raises:
        ValueError: an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind}; kinds are {' '.join(KINDS)}")
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    return {b.name: _random(rng, b, kind) for b in program.arguments if b.role != "out"}


def _random(rng: np.random.Generator, buffer: Buffer, kind: str) -> Array:
    shape = tuple(const_int(n) for n in buffer.shape)
    dtype = NUMPY[buffer.dtype.name]
    if buffer.dtype.kind == "bool":
        return np.asarray(rng.integers(0, 2, shape), np.bool_)
    if buffer.dtype.is_integer:
        low, high = _integer_range(buffer, kind)
        values = rng.integers(low, high, shape, dtype=dtype, endpoint=True)
        return np.asarray(np.full(shape, values.flat[0]) if kind == "equal" else values, dtype)
    with np.errstate(all="ignore"):
        return np.asarray(_floats(rng, shape, buffer, kind)).astype(dtype)


def _integer_range(buffer: Buffer, kind: str) -> tuple[int, int]:
    smallest, largest = int(buffer.dtype.smallest), int(buffer.dtype.largest)
    if buffer.values is not None:
        low, high = (const_int(v) for v in buffer.values)
        return max(smallest, low), min(largest, high - 1)
    if kind in ("normal", "uniform", "positive", "equal"):
        return max(smallest, -8), 8
    return smallest, largest


def _floats(rng: np.random.Generator, shape: tuple[int, ...], buffer: Buffer, kind: str) -> Array:
    dtype = buffer.dtype
    normal = np.asarray(rng.normal(size=shape))
    if kind == "uniform":
        return np.asarray(rng.uniform(-1, 1, shape))
    if kind == "positive":
        return np.asarray(rng.uniform(0.5, 2, shape))
    if kind == "equal":
        return np.full(shape, rng.normal())
    if kind == "denormal":
        return np.asarray(normal * 2.0 ** (dtype.min_exponent - rng.integers(-2, dtype.mantissa, shape)))
    if kind == "huge":
        return np.asarray(normal * 2.0 ** (0.8 * dtype.max_exponent))
    if kind == "cancel" and shape:
        sign = np.where(np.arange(shape[-1]) % 2, -1.0, 1.0)
        return np.asarray(sign * 2.0 ** (dtype.mantissa // 2) + normal)
    if kind == "special" and normal.size:
        values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
        return np.where(rng.random(shape) < 0.1, rng.choice(values, shape), normal)
    return normal
