"""Ranges and linear forms hold for every iteration: compared with plain evaluation."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping

import pytest

from perfdojo.compiler.analysis.affine import Affine, Atom, Division, Forms, affine, at_zero
from perfdojo.compiler.analysis.bounds import implied, tighter
from perfdojo.compiler.analysis.ranges import interval
from perfdojo.compiler.dtypes import BOOL, I8, I64, U8
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Op, Program, Scope
from tests.verify.trace import Trace

EXTENTS = {"i": 4, "j": 3, "k": 1}
TABLE = Buffer("t", "in", I64, (Literal(4, I64),), values=(Literal(-1, I64), Literal(3, I64)))
PROGRAM = Program("k", (), (TABLE,), ())
DATA: dict[str, dict[tuple[int, ...], int]] = {"t": {(0,): -1, (1,): 2, (2,): 0, (3,): 2}}


def literal(value: int) -> Literal:
    return Literal(value, I64)


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


LEAVES: list[Expr] = [Iter("i"), Iter("i"), Iter("j"), Iter("k"), Load("t", (Iter("i"),)), literal(2**62)]


def integer(rng: random.Random, depth: int) -> Expr:
    """A random integer expression."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([*LEAVES, *LEAVES, literal(rng.randint(-9, 9)), literal(rng.randint(-9, 9))])
    a, b, c = (integer(rng, depth - 1) for _ in range(3))
    match rng.randrange(8):
        case 0 | 1 | 2:
            return op(rng.choice(["add", "sub", "mul", "min", "max"]), a, b)
        case 3 | 4:
            return op(rng.choice(["mul", "floordiv", "mod"]), a, literal(rng.randint(-6, 6)))
        case 5:
            return op(rng.choice(["neg", "abs"]), a)
        case 6:
            return op("select", condition(rng, depth - 1), b, c)
        case _:
            return Cast(I64, Cast(rng.choice([I8, U8, BOOL]), a))


def condition(rng: random.Random, depth: int) -> Expr:
    """A random bool expression."""
    if depth == 0 or rng.random() < 0.6:
        a, b = (integer(rng, max(depth - 1, 0)) for _ in range(2))
        return op(rng.choice(["lt", "le", "gt", "ge", "eq", "ne"]), a, b)
    a, b = (condition(rng, depth - 1) for _ in range(2))
    joined = op(rng.choice(["and", "or", "eq"]), a, b)
    others: list[Expr] = [joined, op("not", a), Cast(BOOL, integer(rng, depth - 1))]
    return rng.choice(others)


def evaluate(expr: Expr, at: Mapping[str, int]) -> int:
    run = Trace(PROGRAM, DATA)
    run.buffers = {"t": TABLE}
    run.at = dict(at)
    value = run._value(expr)
    assert value is not None
    return value


def value_of(form: Affine, at: Mapping[str, int]) -> int:
    total = form.const
    for atom, coefficient in form.terms.items():
        if isinstance(atom, str):
            total += coefficient * at[atom]
        elif isinstance(atom, Division):
            inner = value_of(atom.arg, at)
            total += coefficient * (inner // atom.by if atom.op == "//" else inner % atom.by)
        else:
            total += coefficient * evaluate(atom, at)
    return total


def iterations() -> list[dict[str, int]]:
    return [dict(zip(EXTENTS, at, strict=True)) for at in itertools.product(*map(range, EXTENTS.values()))]


@pytest.mark.parametrize("seed", range(8))
def test_ranges_and_forms_hold_everywhere(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        _check_range_and_form(integer(rng, rng.randint(1, 4)))


def _check_range_and_form(expr: Expr) -> None:
    forms = Forms(EXTENTS, {"t": TABLE})
    form = forms.form(expr)
    assert form is not None
    low, high = interval(expr, EXTENTS, {"t": TABLE})
    linear = forms.range(form)
    if form.quasi_affine:
        assert at_zero(form) == evaluate(expr, dict.fromkeys(EXTENTS, 0))
    for at in iterations():
        value = evaluate(expr, at)
        assert low <= value <= high
        assert linear[0] <= value <= linear[1]
        assert value_of(form, at) == value


@pytest.mark.parametrize("seed", range(4))
def test_implied_forms_are_not_negative_where_the_condition_holds(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        _check_implied(condition(rng, 3), rng.random() < 0.5)


def _check_implied(expr: Expr, value: bool) -> None:
    forms = Forms(EXTENTS, {"t": TABLE})
    held = list(implied(forms, (expr, value)))
    known = tighter(forms, held)
    for at in iterations():
        if bool(evaluate(expr, at)) != value:
            continue
        assert all(value_of(form, at) >= 0 for form in held)
        for atom, (low, high) in known.items():
            assert low <= value_of(Affine(0, {atom: 1}), at) <= high


ROW = Iter("i")
TILED = op("add", op("mul", ROW, literal(16)), Iter("j"))
FORMS: dict[str, tuple[Expr, dict[Atom, int], int]] = {
    "({i} * 16 + {j}) // 16": (op("floordiv", TILED, literal(16)), {"i": 1}, 0),
    "({i} * 16 + {j}) % 16": (op("mod", TILED, literal(16)), {"j": 1}, 0),
    "{i} // 4": (op("floordiv", ROW, literal(4)), {}, 0),
    "2*{i} - {i} + 3": (op("add", op("sub", op("mul", literal(2), ROW), ROW), literal(3)), {"i": 1}, 3),
    "{i} - {i}": (op("sub", ROW, ROW), {}, 0),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_simplified(name: str) -> None:
    expr, terms, const = FORMS[name]
    assert Forms(EXTENTS, {}).form(expr) == Affine(const, terms)


def test_a_product_of_iterators_is_not_quasi_affine() -> None:
    scopes = tuple(Scope(n, literal(e), ()) for n, e in EXTENTS.items())
    assert affine(op("mul", Iter("i"), Iter("j")), scopes) is None
    assert affine(op("mod", Iter("i"), literal(3)), scopes) is not None


def test_an_operation_that_can_wrap_has_no_linear_form() -> None:
    forms = Forms({"n": 2**62}, {})
    doubled = op("mul", Iter("n"), literal(4))
    form = forms.form(doubled)
    assert form == Affine(0, {doubled: 1})
    assert forms.range(form) == (-(2**63), 2**63 - 1)
