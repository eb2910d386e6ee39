"""What lowering leaves alone, and says so where a user asked for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfdojo.compiler.dtypes import F16, F32, F64, I8, I32, DType
from perfdojo.compiler.lowering.lir import Allocate, For, If, Let, Set, Stmt, Store
from perfdojo.compiler.lowering.target import FpLevel
from tests.lowering.machines import EIGHT, MASKED, SCALAR, lowered


def _all(body: tuple[Stmt, ...]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in body:
        found.append(s)
        if isinstance(s, For | If):
            found += _all(s.body)
    return found


def _registers(text: str, threads: int = 1) -> int:
    return sum(isinstance(s, Set) for s in _all(lowered(text, SCALAR, "strict", threads).body))


def test_elements_that_may_be_the_same_stay_in_memory() -> None:
    apart = "kernel k\ninout y: f32[2, 9]\n\n9 k:5 y[0,{0}] += 1\n| | y[1,{0}] += 2\n"
    maybe = (
        "kernel k\nin idx: i32[1] values(0, 9)\ninout y: f32[9]\n\n9 k:5 y[{0}] += 1\n| | y[idx[0]] += 2\n"
    )
    assert _registers(apart) == 2
    assert _registers(maybe) == 0


def test_a_guarded_element_is_kept_unless_other_threads_may_own_it() -> None:
    text = (
        "kernel k\nin x: f32[9, 9]\ninout y: f32[9]\n\nb:9@parallel k:9 y[{0}] += x[{0},{1}] if {1} <= {0}\n"
    )
    assert _registers(text) == 1
    assert _registers(text, threads=2) == 0
    assert _registers(text.replace(" if {1} <= {0}", ""), threads=2) == 1


def test_a_guarded_element_that_may_lie_outside_is_not_loaded_early() -> None:
    text = "kernel k\nin x: f32[9]\ninout y: f32[9]\n\nb:9 k:9 y[{0} + 3] += x[{1}] if {0} < 6\n"
    assert _registers(text) == 0


@pytest.mark.parametrize(
    ("line", "fp", "note"),
    [
        ("s[] += x[{0}]", "strict", "strict keeps the order of +="),
        ("s[] max= x[{0}]", "contract", "contract keeps the order of max="),
        ("y[2 * {0}] = x[{0}]", "fast", "the elements of y that y writes are not neighbours"),
    ],
)
def test_a_vector_scope_that_stays_scalar_says_why(line: str, fp: FpLevel, note: str) -> None:
    text = f"kernel k\nin x: f32[32]\ninout y: f32[64]\ninout s: f32[]\n\nn:32@vector {line}\n"
    function = lowered(text, EIGHT, fp)
    assert function.notes == (f"scope n: not vectorised, {note}",)
    assert function.lanes == ()


def test_what_the_target_cannot_do_is_named() -> None:
    target = replace(EIGHT, supports=lambda op, dtype, lanes: op != "sqrt")
    text = "kernel k\nin x: f32[32]\nout y: f32[32]\n\nn:32@vector y[{0}] = sqrt(x[{0}])\n"
    assert lowered(text, target).notes == ("scope n: not vectorised, eight has no sqrt for 8 x f32",)


def test_integer_sums_run_in_lanes_at_any_level() -> None:
    text = "kernel k\nin x: i32[100]\nout s: i32[]\n\nn:100@vector s[] += x[{0}]\n"
    assert lowered(text, EIGHT, "strict").lanes == (("n", 8),)


@pytest.mark.parametrize(
    ("dtype", "lanes"), [(F64, 4), (F32, 8), (F16, 8), (I32, 8), (I8, 32)], ids=lambda d: str(d)
)
def test_lanes_fill_a_register(dtype: DType, lanes: int) -> None:
    text = f"kernel k\nin x: {dtype}[64]\nout y: {dtype}[64]\n\nn:64@vector y[{{0}}] = x[{{0}}] + x[{{0}}]\n"
    assert lowered(text).lanes == (("n", lanes),)


def test_conversions_count_the_widest_type_and_indices_are_narrow() -> None:
    wide = "kernel k\nin x: i8[64]\nout y: f64[64]\n\nn:64@vector y[{0}] = f64(x[{0}])\n"
    index = "kernel k\nout y: f32[64]\n\nn:64@vector y[{0}] = f32(2 * {0} + 1)\n"
    assert lowered(wide).lanes == (("n", 4),)
    assert lowered(index).lanes == (("n", 8),)


def test_short_scopes_take_the_smallest_vector_that_holds_them() -> None:
    text = "kernel k\nin x: f32[5]\nout y: f32[5]\n\nn:5@vector y[{0}] = x[{0}]\n"
    assert lowered(text, MASKED).lanes == (("n", 8),)
    assert lowered(text, EIGHT).lanes == (("n", 4),)
    assert lowered(text.replace("5", "3"), EIGHT).notes == (
        "scope n: not vectorised, 3 iterations do not fill a vector",
    )


def test_very_long_unrolling_stays_a_loop() -> None:
    text = "kernel k\nout y: f32[2000]\n\nn:2000@unroll y[{0}] = 1\n"
    function = lowered(text, SCALAR)
    assert function.notes == ("scope n: not unrolled, over 1024 copies",)
    assert sum(isinstance(s, Store) for s in _all(function.body)) == 1


@pytest.mark.parametrize(
    ("elems", "attribute", "space"),
    [(4096, "", "stack"), (4097, "", "heap"), (10, "space(heap)", "heap"), (10, "space(stack)", "stack")],
)
def test_small_temporaries_are_on_the_stack(elems: int, attribute: str, space: str) -> None:
    text = (
        f"kernel k\nsize N = {elems}\nin x: f32[N]\nout y: f32[N]\ntmp t: f32[N] {attribute}\n\n"
        "N t[{0}] = x[{0}]\nN y[{0}] = t[N - 1 - {0}]\n"
    )
    (found,) = (s for s in lowered(text, SCALAR).body if isinstance(s, Allocate))
    assert (found.space, found.elems) == (space, elems)


def test_a_register_that_needs_memory_is_told() -> None:
    head = "kernel k\nin x: f32[9]\nout y: f32[9]\ntmp t: f32[9] space(register)\n\n"
    text = head + "9 t[{0}] = x[{0}]\n9 y[{0}] = t[{0}]\n"
    assert lowered(text, SCALAR).notes == ("t: space(register) needs memory, 36 bytes",)
    joined = text.replace("\n9 y[", "\n| y[")
    assert lowered(joined, SCALAR).notes == ()
    assert not any(isinstance(s, Allocate) for s in lowered(joined, SCALAR).body)


def test_a_product_in_strict_is_not_fused() -> None:
    text = "kernel k\nin x: f32[9]\nout y: f32[9]\n\n9 y[{0}] = x[{0}] * 2 + 1\n"
    (loop,) = (s for s in lowered(text, SCALAR, "strict").body if isinstance(s, For))
    assert "mad" not in str(loop)
    (loop,) = (s for s in lowered(text, SCALAR, "contract").body if isinstance(s, For))
    assert "mad" in str(loop)


def test_a_load_whose_index_is_loaded_under_a_condition_stays_under_it() -> None:
    text = "kernel k\nin b: i64[4] values(0, 4)\nin x: i64[3]\nout y: i64[2, 3]\n2 3 y[{0},{1}] = 0\n"
    text += "2 3 y[{0},{1}] = b[b[{0} * 9]] + x[{1}] if {0} < 1\n"
    lets = [s for s in _all(lowered(text, SCALAR).body) if isinstance(s, Let)]
    assert [s.var.name for s in lets] == ["t_0"]
    assert lets[0].value.type.dtype.name == "bool"


def test_a_value_is_loaded_once() -> None:
    text = "kernel k\nin x: f32[9]\nout y: f32[9]\n\n9 y[{0}] = x[{0}] * x[{0}] + x[{0}]\n"
    lets = [s for s in _all(lowered(text, SCALAR).body) if isinstance(s, Let)]
    assert [s.var.name for s in lets] == ["x_0"]


@pytest.mark.parametrize(
    ("bits", "extent", "kept"), [(512, 1024, 1), (512, 256, 1), (512, 192, 0), (512, 2048, 0), (256, 512, 0)]
)
def test_loops_that_sum_short_rows_line_by_line_are_not_written_out(
    bits: int, extent: int, kept: int
) -> None:
    text = "kernel k\nin x: f32[9, 1]\nout y: f32[9]\n\n9 n:1@vector y[{0}] += x[{0},{1}]\n"
    text = text.replace("9, 1]", f"9, {extent}]").replace("n:1@", f"n:{extent}@")
    function = lowered(text, replace(EIGHT, vector_bits=bits))
    loops = [s for s in _all(function.body) if isinstance(s, For) and s.var.name == "n"]
    assert [s.unroll for s in loops] == [kept]


def test_a_loop_that_only_copies_is_left_to_the_compiler() -> None:
    text = "kernel k\nin x: f32[9, 1024]\nout y: f32[9, 1024]\n\n9 n:1024@vector y[{0},{1}] = x[{0},{1}]\n"
    function = lowered(text, replace(EIGHT, vector_bits=512))
    loops = [s for s in _all(function.body) if isinstance(s, For) and s.var.name == "n"]
    assert [s.unroll for s in loops] == [0]
