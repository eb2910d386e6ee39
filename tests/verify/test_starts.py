"""Implicit starts of reductions become statements where docs/language.md says."""

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse


def _program(*text: str) -> Program:
    return bind(parse("\n".join(("kernel k", *text)), "k.ir"), {})


PARALLEL = "k:2 n:4@parallel m:8@vector c[{1},{2}] max= 1"
CASES = {
    "before the outermost scope that the target does not name": (
        "in x: f32[4, 8]\nout m: f32[4]",
        "n:4 k:8 m[{0}] max= x[{0},{1}]",
        "n:4 m_start: m[{0}] = -inf\n| k:8 m[{0}] max= x[{0},{1}]",
    ),
    "inside copies of the inner scopes that the target names": (
        "in x: f32[4, 8]\nout c: f32[8, 4]",
        "k:3 n:4 p:2 m:8 c[{3},{1}] += x[{1},{3}]",
        "n_start:4 m_start:8 c_start: c[{1},{0}] = 0.0\nk:3 n:4 p:2 m:8 c[{3},{1}] += x[{1},{3}]",
    ),
    "directly before the statement when the target names every scope": (
        "in x: i32[4, 8]\nout c: i32[4, 8]",
        "n:4 m:8 c[{0},{1}] *= x[{0},{1}]",
        "n:4 m:8 c_start: c[{0},{1}] = 1\n| | c[{0},{1}] *= x[{0},{1}]",
    ),
    "in the middle of the body that holds the reduction": (
        "in x: i8[4, 8]\nout y: i8[4, 8]\ntmp s: i8[4]",
        "n:4 m:8 y[{0},{1}] = x[{0},{1}]\n| k:8 s[{0}] min= x[{0},{1}]",
        "n:4 m:8 y[{0},{1}] = x[{0},{1}]\n| s_start: s[{0}] = 127\n| k:8 s[{0}] min= x[{0},{1}]",
    ),
    "a name inside a gather counts": (
        "in x: i32[4] values(0, 4)\nout c: i32[4]",
        "n:4 k:2 c[x[{0}]] += 1",
        "n:4 c_start: c[x[{0}]] = 0\n| k:2 c[x[{0}]] += 1",
    ),
    "a guard that kept the target inside keeps the start inside": (
        "out c: i64[4]",
        "n:9 k:2 c[{0} - 2] += 1 if {0} > 1 and {0} < 6",
        "n:9 c_start: c[{0} - 2] = 0 if {0} - 2 >= 0 and {0} - 2 < 4\n"
        "| k:2 c[{0} - 2] += 1 if {0} > 1 and {0} < 6",
    ),
    "any other guard is left out": (
        "out c: i64[4]",
        "n:4 k:4 c[{0}] += 1 if {1} <= {0}",
        "n:4 c_start: c[{0}] = 0\n| k:4 c[{0}] += 1 if {1} <= {0}",
    ),
    "copies of scopes keep the marks that are harmless": (
        "out c: i64[4, 8]",
        PARALLEL,
        f"n_start:4@parallel m_start:8@vector c_start: c[{{0}},{{1}}] = {-(2**63)}\n" + PARALLEL,
    ),
    "lanes that add to one element do not all start it": (
        "out c: i64[4]",
        "k:2 n:8@vector c[{1}//2] += 1",
        "n_start:8 c_start: c[{0}//2] = 0\nk:2 n:8@vector c[{1}//2] += 1",
    ),
    "nor do lanes whose elements share storage": (
        "tmp t: i64[8] reuse(0)\nout c: i64[]",
        "k:2 n:8@vector t[{1}] += 1\nc[] = t[0]",
        "n_start:8 t_start: t[{0}] = 0\nk:2 n:8@vector t[{1}] += 1\nc[] = t[0]",
    ),
    "a guard may be what allows a parallel scope": (
        "out c: i64[4]",
        "k:2 n:8@parallel c[{1}//2] max= 1 if {1}%2 == 0",
        f"n_start:8 c_start: c[{{0}}//2] = {-(2**63)}\nk:2 n:8@parallel c[{{1}}//2] max= 1 if {{1}}%2 == 0",
    ),
    "derived names avoid all others": (
        "out c: i64[4]\ntmp c_start: i64[4]",
        "k:2 c_start:4 c[{1}] += 1",
        "c_start_start:4 c_start_2: c[{0}] = 0\nk:2 c_start:4 c[{1}] += 1",
    ),
    "two starts keep the order of their statements": (
        "out a: i64[]\nout b: i64[]",
        "n:4 a[] += 1\n| b[] += 2",
        "a_start: a[] = 0\nb_start: b[] = 0\nn:4 a[] += 1\n| b[] += 2",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_start_stands(case: str) -> None:
    header, implicit, explicit = CASES[case]
    found = explicit_starts(_program(header, implicit))
    assert found == _program(header, explicit)
    assert explicit_starts(found) is found


UNCHANGED = {
    "a buffer that a statement initialises": "out c: i64[4]\nn:4 c[{0}] = 5\n| k:2 c[{0}] += 1",
    "an inout buffer": "inout c: i64[4]\nn:4 k:2 c[{0}] += 1",
}


@pytest.mark.parametrize("case", UNCHANGED)
def test_no_start_for(case: str) -> None:
    program = _program(UNCHANGED[case])
    assert explicit_starts(program) is program


def test_only_the_first_statement_in_the_text_starts() -> None:
    header, later = "out c: i64[4]", "m:4 c[{0}] += 2"
    found = explicit_starts(_program(header, "n:4 k:2 c[{0}] += 1", later))
    assert found == _program(header, "n:4 c_start: c[{0}] = 0\n| k:2 c[{0}] += 1", later)
