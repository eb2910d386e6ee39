"""Which programs have results that depend on a library: f64 functions are those of the target's."""

from __future__ import annotations

from perfdojo.compiler.dtypes import F64
from perfdojo.compiler.ir import Op, Program
from perfdojo.compiler.walk import dtype_of, statements, subexpressions

LIBRARY_FUNCTIONS = frozenset(("exp", "log", "tanh", "erf", "sigmoid", "sin", "cos", "pow"))
"""In f64 the library's, within the bounds of `ulp.py`; sqrt and rsqrt have the same bits everywhere."""


def bits_are_fixed(program: Program, fp: str, own_library: bool) -> bool:
    """Tell whether an implementation must have the interpreter's bits.

    Args:
        own_library: it does not call the C library that the interpreter calls, but another one.
    """
    return fp == "strict" and not (own_library and _calls_library(program))


def _calls_library(program: Program) -> bool:
    return any(
        isinstance(e, Op) and e.op in LIBRARY_FUNCTIONS and dtype_of(e, program) == F64
        for _, s in statements(program)
        for part in (s.target, s.value, s.guard)
        if part is not None
        for e in subexpressions(part)
    )
