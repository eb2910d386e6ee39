"""C text of scalar values: constants are exact, parentheses are few."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.compiler.dtypes import BOOL, F32, F64, I8, I32, I64, DType
from perfdojo.compiler.lowering.lir import FLAG, INDEX, Call, Const, Load, Value, Var, VType


def _printer() -> ScalarPrinter:
    return ScalarPrinter(Names(), {"x": F32}, None)


def _read(text: str, dtype: DType) -> float:
    body = text.removesuffix("f") if dtype == F32 else text
    if "INFINITY" in body:
        return float(body.replace("INFINITY", "inf"))
    value = float.fromhex(body) if "0x" in body else float(body)
    return value if dtype == F64 else struct.unpack("f", struct.pack("f", value))[0]


@given(st.floats(allow_nan=False, width=32))
def test_f32_literals_are_exact(x: float) -> None:
    text = _printer().constant(x, F32)
    assert text.endswith(("f", "INFINITY"))
    assert struct.pack("f", _read(text, F32)) == struct.pack("f", x)
    assert any(c in text for c in ".xI"), "2f is no literal of C"


@given(st.floats(allow_nan=False))
def test_f64_literals_are_exact(x: float) -> None:
    text = _printer().constant(x, F64)
    assert struct.pack("d", _read(text, F64)) == struct.pack("d", x)
    assert any(c in text for c in ".exI"), "2 is an int"


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.0, F32, "1.0f"),
        (-0.0, F32, "-0.0f"),
        (1e-5, F32, "1.0e-05f"),
        (math.nan, F32, "NAN"),
        (-math.inf, F64, "-INFINITY"),
        (1e22, F64, "1e+22"),
        (-(2**31), I32, "INT32_MIN"),
        (-(2**63), I64, "INT64_MIN"),
        (2**40, I64, "INT64_C(1099511627776)"),
        (-(2**40), I64, "-INT64_C(1099511627776)"),
        (-128, I8, "-128"),
        (True, BOOL, "true"),
    ],
)
def test_constants(value: float, dtype: DType, text: str) -> None:
    rounded = struct.unpack("f", struct.pack("f", value))[0] if dtype == F32 else value
    assert _printer().constant(rounded, dtype) == text


P, Q = Var("i", INDEX), Var("j", INDEX)
SCALAR = VType(F32)
A, B = Var("a", SCALAR), Var("b", SCALAR)


def _call(op: str, *args: Value, type: VType = SCALAR) -> Call:
    return Call(op, args, type)


def _index(op: str, *args: Value) -> Call:
    return Call(op, args, INDEX)


def _flag(op: str, *args: Value) -> Call:
    return Call(op, args, FLAG)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (_call("add", _call("mul", A, B), A), "a * b + a"),
        (_call("mul", _call("add", A, B), A), "(a + b) * a"),
        (_call("sub", A, _call("sub", A, B)), "a - (a - b)"),
        (_call("neg", _call("neg", A)), "-(-a)"),
        (_call("sub", A, Const(-1.0, SCALAR)), "a - -1.0f"),
        (Load("x", _index("iadd", _index("imul", P, Const(8, INDEX)), Q), SCALAR), "x[i * 8 + j]"),
        (_index("imul", _index("iadd", P, Q), Const(8, INDEX)), "(i + j) * 8"),
        (_index("idiv", P, Const(4, INDEX)), "i / 4"),
        (_index("floordiv", P, Q), "pd_floordiv_i64(i, j)"),
        (
            _flag(
                "or",
                _flag("and", _flag("lt", P, Q), _flag("gt", P, Q)),
                _flag("eq", P, Q),
            ),
            "(i < j && i > j) || i == j",
        ),
        (
            _flag(
                "and",
                _flag("and", _flag("lt", P, Q), _flag("gt", P, Q)),
                _flag("eq", P, Q),
            ),
            "i < j && i > j && i == j",
        ),
        (_flag("lt", _flag("lt", A, B), _flag("eq", A, B)), "(a < b) < (a == b)"),
        (
            _call("select", _flag("lt", P, Q), A, _call("select", _flag("gt", P, Q), B, A)),
            "i < j ? a : i > j ? b : a",
        ),
        (_call("add", A, _call("select", _flag("lt", P, Q), A, B)), "a + (i < j ? a : b)"),
        (_call("cast", _index("iadd", P, Q)), "(float)(i + j)"),
        (_call("cast", _call("mul", A, B), type=VType(I32)), "pd_cast_f32_i32(a * b)"),
        (_call("cast", A, type=FLAG), "a != 0"),
        (_flag("not", _flag("lt", P, Q)), "!(i < j)"),
    ],
)
def test_expressions(value: Value, text: str) -> None:
    assert _printer().value(value) == text
