"""Elementary functions on vectors of f32: the shared routines, one intrinsic a line."""

from __future__ import annotations

import math

from perfdojo.backends.vectors.instruction import c_function
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import F32, I32
from perfdojo.compiler.elementary.routine import PRIMITIVES, Step

_RECORDS = {"neg": "neg", "abs": "abs", "floor": "floor", "round_even": "round", "select": "pick"}
_RECORDS |= {op: f"compare:{op}" for op in ("lt", "le", "gt", "ge", "eq", "ne", "unordered")}


def routine_name(name: str, n: int) -> str:
    """Return the name of the C function."""
    return f"pd_{name}_f32x{n}"


def routine_function(table: Table, name: str, n: int) -> str:
    """Return the C function of one of `VECTOR_FUNCTIONS` on vectors of `n` f32."""
    routine = table.isa.routine(name)
    vector, register = table.vector(F32, n), table.isa.register(F32, n)
    types = {"f32": vector, "i32": table.vector(I32, n), "mask": table.records["compare:lt", "f32", n].result}
    arguments = ", ".join(f"{vector} {p}" for p in routine.params)
    lines = []
    for step in routine.steps:
        if step.op in _RECORDS:
            text = table.use(_RECORDS[step.op], F32, n, *step.args)
        else:
            text = register.fill(table.isa.primitives[step.op]).format(*step.args, value=_literal(step))
        comment = f"; /* {step.comment} */" if step.comment else ""
        lines.append(f"const {types[PRIMITIVES[step.op].result]} {step.name} = {text}{comment}")
    lines.append(f"return {routine.result}")
    return c_function(f"{vector} {routine_name(name, n)}({arguments})", lines, routine.formula)


def _literal(step: Step) -> str:
    """Return the C literal of a constant or the count of a shift."""
    if step.op != "const_f32":
        return "INT32_MIN" if step.value == -(2**31) else str(step.value)
    value = float(step.value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    short = f"{value!r}f"
    if len(short) <= 8 and value == round(value, 4):
        return short
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}f"
