"""Elementary functions on vectors of f32: the shared routines, one intrinsic a line."""

from __future__ import annotations

import math

from perfdojo.backends.x86.instruction import c_function
from perfdojo.backends.x86.registers import Register
from perfdojo.backends.x86.table import Table
from perfdojo.compiler.dtypes import F32, I32
from perfdojo.compiler.elementary.describe import describe
from perfdojo.compiler.elementary.routine import PRIMITIVES, Step

_FORMATS: dict[str, str] = {
    "const_f32": "<p>_set1_ps({value})",
    "const_i32": "<p>_set1_epi32({value})",
    **{op: f"<p>_{op}_ps({{0}}, {{1}})" for op in ("add", "sub", "mul", "div")},
    "min_raw": "<p>_min_ps({0}, {1})",
    "max_raw": "<p>_max_ps({0}, {1})",
    "fma": "<p>_fmadd_ps({0}, {1}, {2})",
    "fms": "<p>_fmsub_ps({0}, {1}, {2})",
    "fnma": "<p>_fnmadd_ps({0}, {1}, {2})",
    "sqrt": "<p>_sqrt_ps({0})",
    "bitcast_f32_i32": "<p>_castps_<si>({0})",
    "bitcast_i32_f32": "<p>_cast<si>_ps({0})",
    "cvt_f32_i32": "<p>_cvtps_epi32({0})",
    "cvt_i32_f32": "<p>_cvtepi32_ps({0})",
    **{f"{op}_i32": f"<p>_{op}_epi32({{0}}, {{1}})" for op in ("add", "sub")},
    **{f"{op}_i32": f"<p>_{op}_<si>({{0}}, {{1}})" for op in ("and", "or", "xor")},
    "shl_i32": "<p>_slli_epi32({0}, {value})",
    "sar_i32": "<p>_srai_epi32({0}, {value})",
    "shr_i32": "<p>_srli_epi32({0}, {value})",
}
_RECORDS = {"neg": "neg", "abs": "abs", "floor": "floor", "round_even": "round", "select": "pick"}
_RECORDS |= {op: f"compare:{op}" for op in ("lt", "le", "gt", "ge", "eq", "ne", "unordered")}


def routine_name(name: str, n: int) -> str:
    """Return the name of the C function."""
    return f"pd_{name}_f32x{n}"


def routine_function(table: Table, name: str, n: int) -> str:
    """Return the C function of one of `VECTOR_FUNCTIONS` on vectors of `n` f32."""
    routine = describe(name)
    vector, register = table.vector(F32, n), Register(F32, n)
    types = {"f32": vector, "i32": table.vector(I32, n), "mask": table.records["compare:lt", "f32", n].result}
    arguments = ", ".join(f"{vector} {p}" for p in routine.params)
    lines = []
    for step in routine.steps:
        if step.op in _RECORDS:
            text = table.use(_RECORDS[step.op], F32, n, *step.args)
        else:
            text = register.fill(_FORMATS[step.op]).format(*step.args, value=_literal(step))
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
