"""Runs a routine on arrays, primitive by primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.elementary.routine import PRIMITIVES, Routine
from perfdojo.compiler.interpret.fma import fma32

Array = NDArray[Any]
_TYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "mask": np.dtype(np.bool_)}

RUN: dict[str, Callable[..., Any]] = {
    "const_f32": np.float32,
    "const_i32": np.int32,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min_raw": lambda a, b: np.where(a < b, a, b),
    "max_raw": lambda a, b: np.where(a > b, a, b),
    "scale": lambda a, b: np.ldexp(a, b.astype(np.int32)),
    "fma": fma32,
    "fms": lambda a, b, c: fma32(a, b, -c),
    "fnma": lambda a, b, c: fma32(-a, b, c),
    "sqrt": np.sqrt,
    "neg": np.negative,
    "abs": np.abs,
    "round_even": np.rint,
    "floor": np.floor,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "unordered": lambda a, b: np.isnan(a) | np.isnan(b),
    "select": np.where,
    "bitcast_f32_i32": lambda a: a.view(np.int32),
    "bitcast_i32_f32": lambda a: a.view(np.float32),
    "cvt_f32_i32": lambda a: np.rint(a).astype(np.int32),
    "cvt_i32_f32": lambda a: a.astype(np.float32),
    "add_i32": np.add,
    "sub_i32": np.subtract,
    "and_i32": np.bitwise_and,
    "or_i32": np.bitwise_or,
    "xor_i32": np.bitwise_xor,
    "shl_i32": lambda a, n: a << np.int32(n),
    "sar_i32": lambda a, n: a >> np.int32(n),
    "shr_i32": lambda a, n: (a.view(np.uint32) >> np.uint32(n)).view(np.int32),
}


def evaluate(routine: Routine, *params: Array) -> Array:
    """Return the result of a routine for arrays of parameters; checks the type of every step."""
    values: dict[str, Any] = dict(zip(routine.params, params, strict=True))
    with np.errstate(all="ignore"):
        for step in routine.steps:
            primitive = PRIMITIVES[step.op]
            operands = [values[a] for a in step.args]
            assert [o.dtype for o in operands] == [_TYPES[t] for t in primitive.operands], step
            immediate = (step.value,) if primitive.immediate else ()
            assert step.name not in values, step
            values[step.name] = np.asarray(RUN[step.op](*operands, *immediate))
            assert values[step.name].dtype == _TYPES[primitive.result], step
    return np.asarray(values[routine.result])
