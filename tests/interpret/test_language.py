"""Every rule of docs/language.md on values worked out by hand, for both interpreters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.interpret import interpret
from perfdojo.compiler.interpret.naive import interpret_naively
from perfdojo.compiler.ir import Program
from tests.interpret.texts import text_program

Array = NDArray[Any]
INF, NAN = np.inf, np.nan
TYPES: dict[str, Any] = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TYPES |= {"i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}


@pytest.fixture(params=[interpret, interpret_naively], ids=["fast", "naive"])
def run(request: pytest.FixtureRequest) -> Callable[[Program, Mapping[str, Array]], dict[str, Array]]:
    chosen: Callable[[Program, Mapping[str, Array]], dict[str, Array]] = request.param
    return chosen


def elementwise(run: Any, dtype: str, expression: str, *columns: list[Any], to: str = "") -> Array:
    """Evaluate an expression of a, b, c for each element of the columns."""
    names = "abc"[: len(columns)]
    n = len(columns[0])
    header = "".join(f"in {x}: {dtype}[{n}]\n" for x in names)
    for x in names:
        expression = expression.replace(f"${x}", f"{x}[{{0}}]")
    bound = text_program(f"{header}out y: {to or dtype}[{n}]\n{n} y[{{0}}] = {expression}\n")
    arrays = {x: np.array(c).astype(TYPES[dtype]) for x, c in zip(names, columns, strict=True)}
    result: Array = run(bound, arrays)["y"]
    assert result.dtype == TYPES[to or dtype]
    return result


def assert_equal(got: Array, want: list[Any]) -> None:
    """NaN equals NaN, and zeros must have their signs."""
    expected = np.array(want).astype(got.dtype)
    if got.dtype.kind in "iub":
        assert got.tolist() == expected.tolist()
        return
    wide, wanted = got.astype(np.float64), expected.astype(np.float64)
    assert np.array_equal(wide, wanted, equal_nan=True), (wide, wanted)
    number = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(wide)[number], np.signbit(wanted)[number])


# ---------------------------------------------------------------- integers


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("$a + $b", [-126, 127, -128, 2, -2, -12]),
        ("$a * $b", [125, -128, 0, -35, -35, 35]),
        ("$a // $b", [42, -128, 0, -2, -2, 1]),
        ("$a % $b", [1, 0, 0, -3, 3, -2]),
        ("-$a", [-127, -128, -128, -7, 7, 7]),
        ("abs($a)", [127, -128, -128, 7, 7, 7]),
    ],
)
def test_integers_wrap_and_divide_downwards(run: Any, expression: str, want: list[int]) -> None:
    a, b = [127, -128, -128, 7, -7, -7], [3, -1, 0, -5, 5, -5]
    assert_equal(elementwise(run, "i8", expression, a, b), want)


def test_unsigned_integers_wrap(run: Any) -> None:
    a, b = [250, 3, 0], [10, 5, 1]
    assert_equal(elementwise(run, "u8", "$a + $b", a, b), [4, 8, 1])
    assert_equal(elementwise(run, "u8", "$a - $b", a, b), [240, 254, 255])
    assert_equal(elementwise(run, "u8", "-$a * $b", a, b), [60, 241, 0])


@pytest.mark.parametrize("dtype", ["i64", "i32", "i16", "i8"])
def test_smallest_integer_by_minus_one(run: Any, dtype: str) -> None:
    least = int(np.iinfo(TYPES[dtype]).min)
    assert_equal(elementwise(run, dtype, "$a // $b", [least, least], [-1, 0]), [least, 0])
    assert_equal(elementwise(run, dtype, "$a % $b", [least, least], [-1, 0]), [0, 0])


# ---------------------------------------------------------------- floats


def test_every_operation_rounds_to_its_type(run: Any) -> None:
    # 2049 is no f16, 257 no bf16, 2^24 + 1 no f32: each sum goes to the even neighbour before the next.
    assert_equal(elementwise(run, "f16", "$a + $b + $b", [2048.0], [1.0]), [2048])
    assert_equal(elementwise(run, "bf16", "$a + $b + $b", [256.0], [1.0]), [256])
    assert_equal(elementwise(run, "f32", "$a + $b + $b", [2.0**24], [1.0]), [2**24])
    assert_equal(elementwise(run, "f32", "$a + ($b + $b)", [2.0**24], [1.0]), [2**24 + 2])


def test_nothing_is_fused_unless_written(run: Any) -> None:
    a, c = [1 + 2.0**-12], [-(1 + 2.0**-11)]
    assert_equal(elementwise(run, "f32", "$a * $b + $c", a, a, c), [0.0])
    assert_equal(elementwise(run, "f32", "fma($a, $b, $c)", a, a, c), [2.0**-24])


def test_division_by_zero(run: Any) -> None:
    a, b = [1.0, -1.0, 0.0, 1.0, NAN], [0.0, 0.0, 0.0, -0.0, 0.0]
    assert_equal(elementwise(run, "f32", "$a / $b", a, b), [INF, -INF, NAN, -INF, NAN])


def test_subnormals_are_kept(run: Any) -> None:
    assert_equal(elementwise(run, "f32", "$a / $b", [2.0**-126], [4.0]), [2.0**-128])
    assert_equal(elementwise(run, "f16", "$a * $b", [2.0**-14], [2.0**-10]), [2.0**-24])
    assert_equal(elementwise(run, "bf16", "$a * $b", [2.0**-126], [2.0**-7]), [2.0**-133])


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_min_and_max(run: Any, dtype: str) -> None:
    a = [1.0, 2.0, 0.0, -0.0, NAN, 1.0, INF, -INF]
    b = [2.0, 1.0, -0.0, 0.0, 1.0, NAN, NAN, 0.0]
    assert_equal(elementwise(run, dtype, "max($a, $b)", a, b), [2, 2, 0.0, -0.0, NAN, NAN, NAN, 0.0])
    assert_equal(elementwise(run, dtype, "min($a, $b)", a, b), [1, 1, 0.0, -0.0, NAN, NAN, NAN, -INF])


def test_round_floor_and_ceil(run: Any) -> None:
    a = [0.5, 1.5, 2.5, -0.5, -1.5, -0.2, INF, NAN]
    assert_equal(elementwise(run, "f32", "round($a)", a), [0.0, 2, 2, -0.0, -2, -0.0, INF, NAN])
    assert_equal(elementwise(run, "f32", "floor($a)", a), [0.0, 1, 2, -1, -2, -1, INF, NAN])
    assert_equal(elementwise(run, "f32", "ceil($a)", a), [1, 2, 3, -0.0, -1, -0.0, INF, NAN])


def test_comparisons_are_false_with_nan_except_unequal(run: Any) -> None:
    a, b = [1.0, NAN, 0.0], [NAN, NAN, -0.0]
    for sign, want in (("<", 0), ("<=", 0), (">", 0), (">=", 0), ("==", 0), ("!=", 1)):
        got = elementwise(run, "f32", f"$a {sign} $b", a, b, to="bool")
        zeros = sign in ("<=", ">=", "==")
        assert_equal(got, [bool(want), bool(want), zeros])


def test_negation_and_abs_change_only_the_sign(run: Any) -> None:
    assert_equal(elementwise(run, "f32", "-$a", [0.0, -0.0, INF]), [-0.0, 0.0, -INF])
    assert_equal(elementwise(run, "f32", "abs($a)", [-0.0, -INF, -3.0]), [0.0, INF, 3.0])


# ---------------------------------------------------------------- conversions


def test_floats_to_integers_saturate(run: Any) -> None:
    a = [1.9, -1.9, 127.5, 128.0, -128.9, -129.0, INF, -INF, NAN]
    assert_equal(elementwise(run, "f32", "i8($a)", a, to="i8"), [1, -1, 127, 127, -128, -128, 127, -128, 0])
    assert_equal(elementwise(run, "f32", "u8($a)", a, to="u8"), [1, 0, 127, 128, 0, 0, 255, 0, 0])
    ends = [2.0**63, -(2.0**63), 2.0**63 - 1024, NAN]
    want = [2**63 - 1, -(2**63), 2**63 - 1024, 0]
    assert_equal(elementwise(run, "f64", "i64($a)", ends, to="i64"), want)


def test_integers_to_integers_wrap(run: Any) -> None:
    assert_equal(elementwise(run, "i32", "i8($a)", [127, 128, -129, 511], to="i8"), [127, -128, 127, -1])
    assert_equal(elementwise(run, "i8", "u8($a)", [-1, 5], to="u8"), [255, 5])
    assert_equal(elementwise(run, "u8", "i8($a)", [200, 5], to="i8"), [-56, 5])


def test_integers_to_floats_round_once(run: Any) -> None:
    # By way of f32 the first would become a tie, and be rounded down to 2^40.
    a = [2**40 + 2**32 + 1, 2**24 + 1, 2**24 + 3]
    assert_equal(elementwise(run, "i64", "bf16($a)", a, to="bf16")[:1], [2**40 + 2**33])
    assert_equal(elementwise(run, "i64", "f32($a)", a, to="f32")[1:], [2**24, 2**24 + 4])


def test_floats_to_floats_round_once(run: Any) -> None:
    # By way of f32 this would become a tie, and be rounded down to 1.
    assert_equal(elementwise(run, "f64", "bf16($a)", [1 + 2.0**-8 + 2.0**-40], to="bf16"), [1 + 2.0**-7])
    assert_equal(elementwise(run, "f64", "f16($a)", [1 + 2.0**-11 + 2.0**-40], to="f16"), [1 + 2.0**-10])
    assert_equal(elementwise(run, "f64", "f16($a)", [65519.0, 65520.0, 1e-9], to="f16"), [65504, INF, 0])


def test_conversions_of_bools(run: Any) -> None:
    assert_equal(elementwise(run, "f32", "bool($a)", [0.0, -0.0, NAN, 1e-30], to="bool"), [0, 0, 1, 1])
    assert_equal(elementwise(run, "i32", "bool($a)", [0, -5], to="bool"), [0, 1])
    assert_equal(elementwise(run, "bool", "f16($a)", [False, True], to="f16"), [0.0, 1.0])


def test_literals_round_to_the_type_of_their_place(run: Any) -> None:
    assert_equal(elementwise(run, "f16", "$a * 0.1", [1.0]), [float(np.float16(0.1))])
    assert_equal(elementwise(run, "bf16", "$a + 1e-3", [0.0]), [float(ml_dtypes.bfloat16(1e-3))])
    assert_equal(elementwise(run, "f32", "$a * inf", [1.0, 0.0]), [INF, NAN])
    assert_equal(elementwise(run, "f32", "1 / $a", [4.0]), [0.25])


# ---------------------------------------------------------------- order and laziness


def test_reductions_accumulate_in_order(run: Any) -> None:
    text = "in x: f32[4]\nout y: f32[1]\n1 4 y[{0}] += x[{1}]\n"
    inputs = {"x": np.array([1.0, 2.0**24, 1.0, -(2.0**24)], np.float32)}
    # 1 + 2^24 rounds to 2^24, so does 2^24 + 1.
    assert_equal(run(text_program(text), inputs)["y"], [0.0])


@pytest.mark.parametrize(
    ("dtype", "sign", "want"),
    [
        ("f32", "+=", 0),
        ("f32", "*=", 1),
        ("f32", "max=", -INF),
        ("f32", "min=", INF),
        ("i8", "+=", 0),
        ("i8", "*=", 1),
        ("i8", "max=", -128),
        ("i8", "min=", 127),
        ("u8", "max=", 0),
    ],
)
def test_a_reduction_that_never_happens_leaves_its_start(run: Any, dtype: str, sign: str, want: Any) -> None:
    text = f"in x: {dtype}[3]\nout y: {dtype}[2]\n2 3 y[{{0}}] {sign} x[{{1}}] if {{0}} > 5\n"
    assert_equal(run(text_program(text), {"x": np.ones(3, TYPES[dtype])})["y"], [want, want])


def test_extremum_of_zeros_keeps_the_first_sign(run: Any) -> None:
    text = "in x: f32[2, 4]\nout y: f32[2]\nout z: f32[2]\n"
    text += "2 4 y[{0}] max= x[{0},{1}]\n| | z[{0}] min= x[{0},{1}]\n"
    inputs = {"x": np.array([[-0.0, 0.0, -0.0, 0.0], [0.0, -0.0, 0.0, -0.0]], np.float32)}
    got = run(text_program(text), inputs)
    assert_equal(got["y"], [-0.0, 0.0])
    assert_equal(got["z"], [-0.0, 0.0])


def test_a_reduction_into_inout_continues(run: Any) -> None:
    bound = text_program("in x: i32[3]\ninout y: i32[]\n3 y[] += x[{0}]\n")
    got = run(bound, {"x": np.array([1, 2, 3], np.int32), "y": np.array(10, np.int32)})
    assert int(got["y"]) == 16


def test_a_start_happens_each_time_its_scope_begins(run: Any) -> None:
    text = "in x: i32[2, 3]\ntmp a: i32[2]\nout y: i32[2]\n2 3 a[{0}] += x[{0},{1}]\n| y[{0}] = a[{0}]\n"
    assert_equal(run(text_program(text), {"x": np.arange(6, dtype=np.int32).reshape(2, 3)})["y"], [3, 12])


def test_a_start_before_the_outermost_scope_happens_once(run: Any) -> None:
    text = "in x: i32[3]\ntmp a: i32[]\nout y: i32[3]\n3 a[] += x[{0}]\n| y[{0}] = a[]\n"
    assert_equal(run(text_program(text), {"x": np.array([1, 2, 3], np.int32)})["y"], [1, 3, 6])


def test_dimensions_under_reuse_share_their_storage(run: Any) -> None:
    text = (
        "in x: i32[3]\nout y: i32[3]\ntmp t: i32[4] reuse(0)\nt[0] = 7\n"
        "3 y[{0}] = t[{0}]\n| t[{0}+1] = x[{0}]\n"
    )
    assert_equal(run(text_program(text), {"x": np.array([1, 2, 3], np.int32)})["y"], [7, 1, 2])


def test_a_branch_that_is_not_taken_does_not_happen(run: Any) -> None:
    text = "in x: i32[3]\nout y: i32[5]\n5 y[{0}] = {0} < 3 ? x[{0}] : {0} > 3 ? x[{0}-3] : -1\n"
    assert_equal(run(text_program(text), {"x": np.array([5, 6, 7], np.int32)})["y"], [5, 6, 7, -1, 6])


def test_and_and_or_stop_where_the_left_side_decides(run: Any) -> None:
    text = (
        "in x: i32[3]\nout y: bool[5]\nout z: bool[5]\n5 y[{0}] = {0} < 3 and x[{0}] > 5\n"
        "| z[{0}] = {0} >= 3 or x[{0}] > 5\n"
    )
    got = run(text_program(text), {"x": np.array([5, 6, 7], np.int32)})
    assert_equal(got["y"], [False, True, True, False, False])
    assert_equal(got["z"], [False, True, True, True, True])


def test_a_guarded_statement_touches_nothing_elsewhere(run: Any) -> None:
    text = "in x: i32[3]\nout y: i32[3]\n3 y[{0}] = 9\n5 y[{0}-1] = x[{0}-1] if {0} >= 2 and {0} <= 3\n"
    assert_equal(run(text_program(text), {"x": np.array([5, 6, 7], np.int32)})["y"], [9, 6, 7])


def test_statements_run_in_the_order_of_the_text(run: Any) -> None:
    text = "inout x: i32[4]\n3 x[{0}+1] = x[{0}] + x[{0}+1]\n| x[{0}] = -x[{0}+1]\n"
    got = run(text_program(text), {"x": np.array([1, 2, 3, 4], np.int32)})["x"]
    assert_equal(got, [-3, -6, -10, 10])


def test_colliding_writes_accumulate_in_order(run: Any) -> None:
    text = "in k: i32[4] values(0, 2)\nin x: f32[4]\nout h: f32[2]\n2 h[{0}] = 0\n4 h[k[{0}]] += x[{0}]\n"
    x = np.array([1.0, 2.0**24, 1.0, 3.0], np.float32)
    got = run(text_program(text), {"k": np.array([0, 0, 0, 1], np.int32), "x": x})["h"]
    assert_equal(got, [2.0**24, 3.0])
