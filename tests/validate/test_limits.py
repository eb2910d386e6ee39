"""Sizes that are too large, sizes that are not, and programs that are no programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfdojo.compiler import ir
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import F32, I64
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.validate import Validator, shrunk_sizes, validate
from perfdojo.compiler.validate.sizes import elements, executions
from tests.kernels.library import program, texts
from tests.validate.programs import judge, original, transformed

COPY = "in x: f32[4]\nout y: f32[4]\n4 y[{0}] = x[{0}]"


def test_a_program_over_the_limit_says_how_to_make_it_smaller() -> None:
    large = explicit_starts(bind(program("matmul")))
    with pytest.raises(PerfDojoError) as caught:
        validate(large, large, "strict")
    assert caught.value.message == "to validate matmul would execute 16842752 statements; the limit is 300000"
    assert caught.value.hint == "make the sizes smaller, for instance -D M=64 -D N=64 -D K=64"


def test_storage_counts_towards_the_limit() -> None:
    large = original("in x: f32[4000, 4000]\nout y: f32[]\ny[] = x[0,0]")
    with pytest.raises(PerfDojoError, match="would hold 16000001 elements; the limit is 300000"):
        validate(large, large, "strict")


def test_the_transformed_program_has_the_limit_too() -> None:
    validator = Validator(original(COPY), "strict", limit=10)
    with pytest.raises(PerfDojoError, match="would execute 12 statements"):
        validator.validate(transformed("in x: f32[4]\nout y: f32[4]\n3 4 y[{1}] = x[{1}]"))


@pytest.mark.parametrize("name", texts())
def test_shrunk_sizes_are_legal_and_small(name: str) -> None:
    small = bind(program(name), shrunk_sizes(program(name), 3000))
    assert executions(small) + elements(small) <= 3000


def test_sizes_keep_their_tails() -> None:
    text = "kernel k\nsize N = {}\nsize M = N - 1\nin x: f32[N]\nout y: f32[N]\nN y[{{0}}] = x[{{0}}]\n"
    for value, small in ((1000, 88), (1009, 97), (512, 80), (145, 97)):
        found = shrunk_sizes(parse(text.format(value)), 300)
        assert found == {"N": small}
        assert (value - small) % 48 == 0
    assert shrunk_sizes(parse(text.format(100)), 300) == {}


def test_fixed_sizes_stay() -> None:
    text = "kernel k\nsize N = 512 fixed\nin x: f32[N]\nout y: f32[N]\nN y[{0}] = x[{0}]\n"
    assert shrunk_sizes(parse(text), 10) == {}


# ---------------------------------------------------------------- no programs


def _weird(before: ir.Statement) -> dict[str, ir.Statement]:
    x0 = ir.Load("x", (ir.Literal(0, I64),))
    one, deep = ir.Literal(1.0, F32), ir.Load("x", (ir.Iter("i0"),))
    for _ in range(5):
        deep = ir.Load("x", (ir.Cast(I64, deep),))
    return {
        "uses {far} outside of that scope": replace(before, value=ir.Load("x", (ir.Iter("far"),))),
        "uses z, which is not declared": replace(before, value=ir.Load("z", ())),
        "gives x 2 indices; it has 1 dimensions": replace(before, value=ir.Load("x", (one, one))),
        "has an index of x that is no integer": replace(before, value=ir.Load("x", (one,))),
        "mixes the types f32, i64 in 'add'": replace(before, value=ir.Op("add", (x0, ir.Iter("i0")))),
        "has an operation 'twice' on 1 operands": replace(before, value=ir.Op("twice", (x0,))),
        "has 'mod' on f32": replace(before, value=ir.Op("mod", (x0, x0))),
        "uses the size N, which has no number yet": replace(before, value=ir.SizeRef("N", F32)),
        "writes i64 into y, which is f32": replace(before, value=ir.Iter("i0")),
        "writes x, an input": replace(before, target=x0),
        "has a guard that is no bool": replace(before, guard=x0),
        "in statement y at {i0} = 0": replace(before, target=ir.Load("y", (ir.Literal(9, I64),))),
        "outside of the extent 4": replace(before, value=deep),
    }


_STATEMENT = ir.Statement("y", ir.Load("y", (ir.Iter("i0"),)), "=", ir.Load("x", (ir.Iter("i0"),)))


@pytest.mark.parametrize("message", _weird(_STATEMENT))
def test_what_is_no_program_is_a_difference(message: str) -> None:
    right = original(COPY)
    (scope,) = right.body
    assert isinstance(scope, ir.Scope)
    assert scope.body == (_STATEMENT,)
    wrong = replace(right, body=(replace(scope, body=(_weird(_STATEMENT)[message],)),))
    found = validate(right, wrong, "strict")
    assert not found.equal
    assert message in found.message


def test_an_unbound_program_is_a_difference() -> None:
    right = original("size N = 4\nin x: f32[N]\nout y: f32[N]\nN y[{0}] = x[{0}]")
    wrong = parse("kernel k\nsize N = 4\nin x: f32[N]\nout y: f32[N]\nN y[{0}] = x[{0}]\n")
    assert "extent that is no number" in validate(right, wrong, "strict").message


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("in x: f32[4]\ntmp y: f32[4]\nout q: f32[]\nq[] = 0", "lacks the argument y"),
        (
            "in x: f32[4]\nout y: f32[4]\nout z: f32[4]\n4 z[{0}] = 0",
            "has an argument z, which the original lacks",
        ),
        ("in x: f32[5]\nout y: f32[4]", "declares the argument x differently"),
        ("in x: f64[4]\nout y: f32[4]", "declares the argument x differently"),
        ("inout x: f32[4]\nout y: f32[4]", "declares the argument x differently"),
    ],
)
def test_other_arguments_are_a_difference(header: str, message: str) -> None:
    found = validate(original(COPY), transformed(f"{header}\n4 y[{{0}}] = 0"), "strict")
    assert found.message == f"the transformed program {message}"


def test_storage_attributes_of_arguments_may_differ() -> None:
    before = "in x: f32[2, 3]\nout y: f32[2, 3]\n2 3 y[{0},{1}] = x[{0},{1}]"
    after = "in x: f32[2, 3] pad(0, 5)\nout y: f32[2, 3] order(1, 0)\n3 2 y[{1},{0}] = x[{1},{0}]"
    assert validate(original(before), transformed(after), "strict").equal


def test_expressions_nested_too_deep_are_an_error() -> None:
    right = original(COPY)
    (scope,) = right.body
    assert isinstance(scope, ir.Scope)
    value: ir.Expr = ir.Load("x", (ir.Iter("i0"),))
    for _ in range(5000):
        value = ir.Op("neg", (value,))
    wrong = replace(right, body=(replace(scope, body=(replace(_STATEMENT, value=value),)),))
    with pytest.raises(PerfDojoError, match="nested too deep to be validated"):
        validate(right, wrong, "strict")


def test_an_original_without_starts_is_our_own_error() -> None:
    wrong = transformed("in x: f32[4]\nout s: f32[]\n4 s[] += x[{0}]")
    with pytest.raises(ValueError, match=r"the original program reads s\[\] before anything wrote it"):
        validate(wrong, wrong, "strict")


def test_large_iteration_numbers_wrap() -> None:
    header = "in x: f32[4]\nout y: i64[4]"
    big = "9223372036854775807"
    before = f"4 y[{{0}}] = {{0}} + {big}"
    assert (
        judge(header, before, f"4 y[{{0}}] = {{0}} - 1 - {big} - 1 + {big} + {big} + 1", "strict").equal
        is False
    )
    assert judge(header, before, f"4 y[{{0}}] = {{0}} - 1 - {big} + {big} + {big} + 1", "strict").equal


def test_gathers_are_tested_with_more_than_one_draw() -> None:
    header = "in t: f32[2]\nin i: i32[] values(0, 2)\nout y: f32[]"
    before, after = "y[] = t[i[]]", "y[] = t[0]"
    found = [
        Validator(original(f"{header}\n{before}"), "strict", seed=s).validate(
            transformed(f"{header}\n{after}")
        )
        for s in range(0, 300, 3)
    ]
    assert 80 <= sum(not f.equal for f in found) <= 95
