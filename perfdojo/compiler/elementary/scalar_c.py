"""Routines as scalar C functions, one primitive a line."""

from __future__ import annotations

import math

from perfdojo.compiler.elementary.describe import describe
from perfdojo.compiler.elementary.routine import PRIMITIVES, Step

_C_TYPE = {"f32": "float", "i32": "int32_t", "mask": "bool"}

_FORMAT: dict[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "min_raw": "{0} < {1} ? {0} : {1}",
    "max_raw": "{0} > {1} ? {0} : {1}",
    "fma": "fmaf({0}, {1}, {2})",
    "fms": "fmaf({0}, {1}, -{2})",
    "fnma": "fmaf(-{0}, {1}, {2})",
    "sqrt": "sqrtf({0})",
    "neg": "-{0}",
    "abs": "fabsf({0})",
    "round_even": "rintf({0})",
    "floor": "floorf({0})",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "unordered": "isunordered({0}, {1})",
    "select": "{0} ? {1} : {2}",
    "bitcast_f32_i32": "pd_f32_bits({0})",
    "bitcast_i32_f32": "pd_bits_f32({0})",
    "cvt_f32_i32": "(int32_t)rintf({0})",
    "cvt_i32_f32": "(float){0}",
    "add_i32": "(int32_t)((uint32_t){0} + (uint32_t){1})",
    "sub_i32": "(int32_t)((uint32_t){0} - (uint32_t){1})",
    "and_i32": "{0} & {1}",
    "or_i32": "{0} | {1}",
    "xor_i32": "{0} ^ {1}",
    "shl_i32": "(int32_t)((uint32_t){0} << {value})",
    "sar_i32": "{0} >> {value}",
    "shr_i32": "(int32_t)((uint32_t){0} >> {value})",
}


def scalar_c(name: str) -> str:
    """Return `static inline float pd_<name>_f32(float x) {...}` of one of `VECTOR_FUNCTIONS`.

    It calls `pd_f32_bits` and `pd_bits_f32` of `c_helpers`, and must be compiled without contraction.
    """
    routine = describe(name)
    constants = {s.name: _literal(s) for s in routine.steps if s.op.startswith("const")}
    lines = [
        f"/* {routine.formula} */",
        f"static inline float pd_{name}_f32({', '.join(f'float {p}' for p in routine.params)}) {{",
    ]
    for step in routine.steps:
        if step.name in constants:
            continue
        args = [constants.get(a, a) for a in step.args]
        text = _FORMAT[step.op].format(*args, value=step.value).replace("--", "")
        comment = f" /* {step.comment} */" if step.comment else ""
        lines.append(f"  const {_C_TYPE[PRIMITIVES[step.op].result]} {step.name} = {text};{comment}")
    return "\n".join([*lines, f"  return {routine.result};", "}", ""])


def _literal(step: Step) -> str:
    if step.op == "const_i32":
        # -2147483648 is no literal in C but an expression of a wider type.
        return f"{step.value}" if step.value != -(2**31) else "INT32_MIN"
    value = float(step.value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}f" if value == round(value, 6) and abs(value) < 2**24 else f"{short_hex(value)}f"


def short_hex(value: float) -> str:
    """Return the hexadecimal form without trailing zeros, exact for every finite float."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}"
