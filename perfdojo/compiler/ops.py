"""The operations of the language: arity, notation, precedence and type rule, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rule = Literal["number", "float", "integer", "compare", "logic", "select"]
"""How an operation is typed.

number   all operands of one float or integer type; the result has it too
float    the same for float types only
integer  the same for integer types only
compare  operands of one type (bool only for == and !=); the result is bool
logic    operands and result are bool; the right operand runs only where it decides
select   bool ? T : T; only the chosen branch is evaluated
"""


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One operation; `symbol` is its infix or prefix sign, empty for a call by name."""

    name: str
    arity: int
    rule: Rule
    symbol: str = ""
    precedence: int = 100


OPS: dict[str, OpInfo] = {
    o.name: o
    for o in (
        OpInfo("select", 3, "select", "?", 1),
        OpInfo("or", 2, "logic", "or", 2),
        OpInfo("and", 2, "logic", "and", 3),
        OpInfo("not", 1, "logic", "not", 4),
        OpInfo("lt", 2, "compare", "<", 5),
        OpInfo("le", 2, "compare", "<=", 5),
        OpInfo("gt", 2, "compare", ">", 5),
        OpInfo("ge", 2, "compare", ">=", 5),
        OpInfo("eq", 2, "compare", "==", 5),
        OpInfo("ne", 2, "compare", "!=", 5),
        OpInfo("add", 2, "number", "+", 6),
        OpInfo("sub", 2, "number", "-", 6),
        OpInfo("mul", 2, "number", "*", 7),
        OpInfo("div", 2, "float", "/", 7),
        OpInfo("floordiv", 2, "integer", "//", 7),
        OpInfo("mod", 2, "integer", "%", 7),
        OpInfo("neg", 1, "number", "-", 8),
        OpInfo("abs", 1, "number"),
        OpInfo("min", 2, "number"),
        OpInfo("max", 2, "number"),
        OpInfo("minnum", 2, "float"),
        OpInfo("maxnum", 2, "float"),
        OpInfo("fma", 3, "float"),
        OpInfo("sqrt", 1, "float"),
        OpInfo("rsqrt", 1, "float"),
        OpInfo("exp", 1, "float"),
        OpInfo("log", 1, "float"),
        OpInfo("tanh", 1, "float"),
        OpInfo("erf", 1, "float"),
        OpInfo("sin", 1, "float"),
        OpInfo("cos", 1, "float"),
        OpInfo("sigmoid", 1, "float"),
        OpInfo("pow", 2, "float"),
        OpInfo("floor", 1, "float"),
        OpInfo("ceil", 1, "float"),
        OpInfo("round", 1, "float"),
    )
}

CALLS: frozenset[str] = frozenset(o.name for o in OPS.values() if not o.symbol)
"""Operations written as a call, `exp(x)`."""

REDUCTIONS: dict[str, str] = {
    "+=": "add",
    "*=": "mul",
    "max=": "max",
    "min=": "min",
    "maxnum=": "maxnum",
    "minnum=": "minnum",
}
"""Reduction signs of a statement and the operation that each applies."""
