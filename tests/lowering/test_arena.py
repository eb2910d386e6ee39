"""Values are made once, and index arithmetic is what Python's integers make of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.linear import Linear, plus, split, times
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Value, Var


def _value(v: Value, env: dict[str, int]) -> int:
    if isinstance(v, Const):
        return int(v.value)
    if isinstance(v, Var):
        return env[v.name]
    assert isinstance(v, Call)
    a = [_value(x, env) for x in v.args]
    match v.op:
        case "ineg":
            return -a[0]
        case "iadd":
            return a[0] + a[1]
        case "isub":
            return a[0] - a[1]
        case "imul":
            return a[0] * a[1]
        case "idiv" | "imod":
            assert a[0] >= 0, "plain division of a negative number"
            return a[0] // a[1] if v.op == "idiv" else a[0] % a[1]
        case "floordiv":
            return a[0] // a[1]
        case "mod":
            return a[0] % a[1]
    raise AssertionError(v.op)


COEFFICIENTS = st.integers(-20, 20)


@given(
    COEFFICIENTS,
    COEFFICIENTS,
    COEFFICIENTS,
    st.integers(2, 9),
    st.integers(0, 6),
    st.integers(0, 4),
    st.booleans(),
)
def test_division_is_that_of_python(a: int, b: int, c: int, by: int, i: int, j: int, remainder: bool) -> None:
    arena = Arena()
    x, y = (arena.atom(arena.var(n, INDEX, (0, top))) for n, top in (("i", 6), ("j", 4)))
    form = plus(plus(Linear(c), x, a), y, b)
    found = arena.divide(form, by, remainder)
    number = a * i + b * j + c
    expected = number % by if remainder else number // by
    assert _value(arena.offset(found), {"i": i, "j": j}) == expected
    low, high = arena.range(found)
    assert low <= expected <= high


@given(COEFFICIENTS, COEFFICIENTS, COEFFICIENTS)
def test_an_offset_is_read_back_as_the_form_that_made_it(a: int, b: int, c: int) -> None:
    arena = Arena()
    form = plus(plus(Linear(c), arena.atom(arena.var("i", INDEX)), a), arena.atom(arena.var("j", INDEX)), b)
    value = arena.offset(form)
    assert arena.linear(value) == form
    assert _value(value, {"i": 5, "j": -3}) == 5 * a - 3 * b + c


def test_equal_values_are_one_object_but_zeros_of_both_signs_are_two() -> None:
    arena = Arena()
    i = arena.var("i", INDEX)
    assert arena.load("x", i, INDEX) is arena.load("x", i, INDEX)
    assert arena.const(0.0, INDEX) is not arena.const(-0.0, INDEX)
    assert arena.const(1, INDEX) is not arena.const(True, INDEX)


def test_divisible_terms_leave_the_division() -> None:
    arena = Arena()
    i, j = (arena.atom(arena.var(n, INDEX, (0, 7))) for n in "ij")
    tiled = plus(times(i, 8), j)
    assert arena.divide(tiled, 8, False) == i
    assert arena.divide(tiled, 8, True) == j
    assert split(tiled, i.terms[0][0]) == (8, j)
