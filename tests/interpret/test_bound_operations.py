"""Every operation on pairs covers what an implementation can compute from operands within their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import BF16, DTYPES, F16, F32, F64, I8, I32, U8, DType
from perfdojo.compiler.interpret import LEVELS, exact
from perfdojo.compiler.interpret.bound_conversions import conversion
from perfdojo.compiler.interpret.bound_ops import operation
from perfdojo.compiler.interpret.pairs import Pair, choose, error
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.ops import OPS

Array = NDArray[Any]
FLOATS = (F64, F32, F16, BF16)
COUNT = 4000


def operands(dtype: DType, rng: np.random.Generator) -> tuple[Pair, Array]:
    """Return pairs and what an implementation may hold for them: magnitudes and bounds of every size."""
    to = NUMPY[dtype.name]
    exponents = rng.integers(dtype.min_exponent - 3, dtype.max_exponent + 1, COUNT)
    exponents = np.where(rng.random(COUNT) < 0.7, rng.integers(-4, 5, COUNT), exponents)
    value = rng.choice([-1.0, 1.0], COUNT) * rng.uniform(1, 2, COUNT) * 2.0**exponents
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0, float(dtype.largest)])
    value = np.where(rng.random(COUNT) < 0.15, rng.choice(special, COUNT), value)
    value = value.astype(to).astype(np.float64)
    relative = 2.0 ** rng.integers(-dtype.mantissa - 3, 2, COUNT)
    bound = np.where(rng.random(COUNT) < 0.3, 0.0, np.abs(value) * relative)
    bound = np.where(np.isfinite(value), bound, 0.0)
    held = (value + bound * rng.uniform(-1, 1, COUNT)).astype(to)
    inside = np.abs(held.astype(np.float64) - value) <= bound
    held = np.where(inside & (bound > 0), held, value.astype(to))
    bound = np.where(rng.random(COUNT) < 0.05, np.inf, bound)
    anything = rng.choice(np.array([np.nan, np.inf, -1.0, 0.0, 3.0]), COUNT)
    held = np.where(np.isinf(bound), anything.astype(to), held)
    return (value, bound if bound.any() else None), held.astype(to)


def assert_covers(pair: Pair, got: Array, context: str) -> None:
    """A decided element is within its bound; NaN and infinities that are certain came out."""
    value, bound = np.broadcast_arrays(pair[0], error(pair))
    wide = got.astype(np.float64)
    assert not np.isnan(bound).any()
    same = (wide == value) | (np.isnan(wide) & np.isnan(value))
    off = np.abs(wide - value.astype(np.float64))
    wrong = ~(same | (off <= bound) | np.isinf(bound))
    assert not wrong.any(), (context, wide[wrong][:3], value[wrong][:3], bound[wrong][:3])
    # A check that decides nothing would pass: most elements must be decided.
    assert np.isfinite(bound).mean() > 0.3, context


FLOAT_OPERATIONS = [o for o in OPS.values() if o.rule in ("number", "float")]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", [o.name for o in FLOAT_OPERATIONS if o.name not in ("floordiv", "mod")])
def test_float_operations(op: str, dtype: DType) -> None:
    rng = np.random.default_rng(len(op) * 100 + dtype.mantissa)
    with np.errstate(all="ignore"):
        chosen = [operands(dtype, rng) for _ in range(OPS[op].arity)]
        got = exact.operation(op, dtype)(*(held for _, held in chosen))
        for fp in LEVELS:
            assert_covers(operation(op, dtype, fp)(*(pair for pair, _ in chosen)), got, f"{op} {dtype} {fp}")


@pytest.mark.parametrize("dtype", [F64, F32, F16], ids=str)
def test_fast_division_covers_a_reciprocal(dtype: DType) -> None:
    rng = np.random.default_rng(9)
    with np.errstate(all="ignore"):
        (a, held_a), (b, held_b) = operands(dtype, rng), operands(dtype, rng)
        got = held_a * (NUMPY[dtype.name].type(1) / held_b)
        assert_covers(operation("div", dtype, "fast")(a, b), got, str(dtype))


@pytest.mark.parametrize("dtype", [F64, F32, F16], ids=str)
@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1)])
def test_separate_operations_cover_fused_ones(dtype: DType, signs: tuple[int, int]) -> None:
    rng = np.random.default_rng(11)
    mul, add = (operation(o, dtype, "contract") for o in ("mul", "add"))
    with np.errstate(all="ignore"):
        (a, x), (b, y), (c, z) = (operands(dtype, rng) for _ in range(3))
        product = mul(a, b)
        total = add((signs[0] * product[0], product[1]), (signs[1] * c[0], c[1]))
        got = exact.operation("fma", dtype)(signs[0] * x, y, signs[1] * z)
        assert_covers(total, got, str(dtype))


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons(op: str) -> None:
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"):
        (a, x), (b, y) = operands(F32, rng), operands(F32, rng)
        near = rng.random(COUNT) < 0.3
        b, y = (np.where(near, a[0], b[0]), np.where(near, error(a), error(b))), np.where(near, x, y)
        value, doubt = operation(op, F32, "strict")(a, b)
        assert doubt is not None
        got = exact.operation(op, F32)(x, y)
    assert ((got == value) | (doubt > 0)).all()
    assert (doubt == 0).mean() > 0.3


@pytest.mark.parametrize("op", ["and", "or", "not"])
def test_logic_of_uncertain_bools(op: str) -> None:
    cases = [(np.array(v), e) for v in (True, False) for e in (None, np.array(1.0))]
    for a in cases:
        for b in cases[: len(cases) if op != "not" else 1]:
            args = (a, b)[: OPS[op].arity]
            value, doubt = operation(op, F32, "strict")(*args)
            choices = [{True, False} if e is not None else {bool(v)} for v, e in args]
            results = _results(op, choices)
            assert bool(value) in results
            assert (len(results) > 1) == (doubt is not None and bool(doubt > 0))


def _results(op: str, choices: list[set[bool]]) -> set[bool]:
    if op == "not":
        return {not x for x in choices[0]}
    return {(x and y) if op == "and" else (x or y) for x in choices[0] for y in choices[1]}


def test_an_uncertain_choice_covers_both() -> None:
    holds = np.array([True, False, True, True, True])
    doubt = np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    first = np.array([1.0, 2.0, 3.0, np.inf, np.inf]), np.array([0.5, 0.0, 0.0, 0.0, 0.0])
    second = np.array([5.0, 2.0, 9.0, np.inf, 1.0]), np.array([0.0, 0.25, 0.0, 0.0, 0.0])
    with np.errstate(all="ignore"):
        value, bound = choose((holds, doubt), first, second)
    assert value.tolist() == [1.0, 2.0, 3.0, np.inf, np.inf]
    assert bound is not None
    assert bound == pytest.approx([4.0, 0.25, 0.0, 0.0, np.inf])
    assert (bound >= np.array([4.0, 0.25, 0.0, 0.0, np.inf])).all()


@pytest.mark.parametrize("target", DTYPES.values(), ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_conversions_of_floats(source: DType, target: DType) -> None:
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        pair, held = operands(source, rng)
        got = exact.conversion(source, target)(held)
        value, bound = conversion(source, target)(pair)
        if target.kind == "bool":
            assert ((got == value) | (error((value, bound)) > 0)).all()
        else:
            assert_covers((value, bound), got, f"{source} {target}")


def uncertain_integers(dtype: DType, rng: np.random.Generator) -> tuple[Pair, Array]:
    low, high = (-40, 40) if dtype.kind == "int" else (0, 80)
    value = rng.integers(low, high, COUNT).astype(NUMPY[dtype.name])
    wide = rng.random(COUNT) < 0.1
    value = np.where(wide, rng.integers(int(dtype.smallest), int(dtype.largest), COUNT), value)
    bound = np.where(rng.random(COUNT) < 0.5, 0, rng.integers(0, 4, COUNT)).astype(np.float64)
    held = value + rng.integers(-bound.astype(int), bound.astype(int) + 1)
    held = np.clip(held, int(dtype.smallest), int(dtype.largest))
    to = NUMPY[dtype.name]
    return (value.astype(to), bound), held.astype(to)


@pytest.mark.parametrize("dtype", [I8, I32], ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv", "mod", "neg", "abs", "min", "max"])
def test_operations_of_uncertain_integers(op: str, dtype: DType) -> None:
    rng = np.random.default_rng(13)
    with np.errstate(all="ignore"):
        chosen = [uncertain_integers(dtype, rng) for _ in range(OPS[op].arity)]
        got = exact.operation(op, dtype)(*(held for _, held in chosen))
        pair = operation(op, dtype, "strict")(*(pair for pair, _ in chosen))
        assert pair[0].dtype == NUMPY[dtype.name]
        assert_covers(pair, got, f"{op} {dtype}")


def test_an_uncertain_unsigned_integer_is_undecided_where_it_may_wrap() -> None:
    pair = np.array([0, 3], np.uint8), np.array([1.0, 0.0])
    value, bound = operation("sub", U8, "strict")(pair, (np.array([0, 5], np.uint8), None))
    assert value.tolist() == [0, 254]
    assert error((value, bound)).tolist() == [np.inf, 0.0]


@pytest.mark.parametrize("target", DTYPES.values(), ids=str)
def test_conversions_of_uncertain_integers(target: DType) -> None:
    rng = np.random.default_rng(17)
    with np.errstate(all="ignore"):
        pair, held = uncertain_integers(I32, rng)
        got = exact.conversion(I32, target)(held)
        value, bound = conversion(I32, target)(pair)
        if target.kind == "bool":
            assert ((got == value) | (error((value, bound)) > 0)).all()
        else:
            assert_covers((value, bound), got, str(target))


@pytest.mark.parametrize("op", ["div", "log", "rsqrt", "sqrt"])
def test_poles_and_domains_are_certain_only_for_certain_operands(op: str) -> None:
    zero, off = np.array([0.0, 0.0]), np.array([0.0, 1e-3])
    args = ((np.array([1.0, 1.0]), None),) if op == "div" else ()
    with np.errstate(all="ignore"):
        value, bound = operation(op, F32, "strict")(*args, (zero, off))
    want = {"div": np.inf, "log": -np.inf, "rsqrt": np.inf, "sqrt": 0.0}[op]
    assert value[0] == want
    assert error((value, bound))[0] < 1e-30
    assert error((value, bound))[1] == np.inf


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
def test_overflow_is_decided_on_both_sides_of_the_limit(dtype: DType) -> None:
    largest = float(dtype.largest)
    a = np.array([largest, largest, largest, largest / 2])
    e = np.array([0.0, 0.0, largest / 8, largest / 8])
    value, bound = operation("add", dtype, "strict")((a, e), (np.array([0.0, largest, 0.0, 0.0]), None))
    assert value[:2].tolist() == [largest, np.inf]
    found = error((value, bound))
    assert np.isfinite(found[0])
    assert found[1] == 0.0
    assert found[2] == np.inf
    assert np.isfinite(found[3])
