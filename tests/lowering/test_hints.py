"""Streamed stores, their fences, and prefetches: where lowering puts them, and what it says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.lowering.lir import Fence, For, If, Prefetch, Stmt, Store
from perfdojo.compiler.lowering.text import render, value
from tests.lowering.machines import EIGHT, MASKED, SCALAR, lowered

HERE = Path(__file__).parent


def nested(body: tuple[Stmt, ...]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in body:
        found += [s, *nested(s.body)] if isinstance(s, For | If) else [s]
    return found


def prefetches(text: str) -> list[str]:
    body = nested(lowered(text, EIGHT).body)
    return [f"{s.buffer}[{value(s.offset)}]" for s in body if isinstance(s, Prefetch)]


@pytest.mark.parametrize(("name", "threads"), [("streamed", 1), ("streamed_threads", 2)])
def test_target_ir(name: str, threads: int, golden: Callable[[Path, str], None]) -> None:
    text = (HERE / f"{name}.ir").read_text("utf-8")
    golden(HERE / f"{name}.golden", render(lowered(text, EIGHT, "strict", threads)))


def test_masked_and_scalar_stores_are_ordinary_ones() -> None:
    text = "kernel k\nin x: f32[20]\nout y: f32[20] nontemporal\n\n20@vector y[{0}] = x[{0}]\n"
    stores = [s for s in nested(lowered(text.replace("20", "21"), MASKED).body) if isinstance(s, Store)]
    assert [(s.mask is None, s.streamed) for s in stores] == [(True, "stream"), (True, "stream"), (False, "")]
    stores = [s for s in nested(lowered(text, EIGHT).body) if isinstance(s, Store)]
    assert [(s.value.type.lanes, s.streamed) for s in stores] == [(8, "stream"), (8, "stream"), (4, "stream")]


def test_a_target_without_streamed_stores_says_so() -> None:
    text = "kernel k\nin x: f32[64]\nout y: f32[64] nontemporal\n\n64@vector y[{0}] = x[{0}]\n"
    function = lowered(text, SCALAR)
    assert function.notes == ("y: nontemporal has no effect, no store of a full vector writes it",)
    assert not any(
        isinstance(s, Fence) or (isinstance(s, Store) and s.streamed) for s in nested(function.body)
    )
    assert not lowered(text, EIGHT).notes


def test_without_threads_one_fence_ends_the_function() -> None:
    text = (HERE / "streamed_threads.ir").read_text("utf-8")
    body = lowered(text, EIGHT).body
    assert [isinstance(s, Fence) for s in nested(body)].count(True) == 1
    assert isinstance(body[-1], Fence)


def test_a_parallel_loop_behind_one_that_streamed_needs_no_fence_before_it() -> None:
    text = "kernel k\nin x: f32[4, 64]\nout y: f32[4, 64] nontemporal\nout z: f32[4]\n\n"
    text += "b:4@parallel 64@vector y[{0},{1}] = x[{0},{1}]\nc:4@parallel z[{0}] = x[{0},0]\n"
    body = lowered(text, EIGHT, threads=2).body
    assert [s.fenced for s in body if isinstance(s, For)] == [True, False]
    assert not any(isinstance(s, Fence) for s in body)


def test_one_prefetch_for_a_line_where_the_loop_moves_on() -> None:
    head = "kernel k\nin x: f32[9, 4096] prefetch(64)\nin i: i32[9] values(0, 9)\nout y: f32[9, 4000]\n\n"
    assert prefetches(head + "9 4000 y[{0},{1}] = x[{0},{1}] + x[{0},{1} + 1] + x[{0},{1} + 16]\n") == [
        "x[((i0 * 4096) + i1) + 64]",
        "x[((i0 * 4096) + i1) + 80]",
    ]
    assert prefetches(head + "9 4000 y[{0},{1}] = x[i[{0}],{1}]\n") != []
    # data decide the line, or no next iteration loads elsewhere
    assert prefetches(head + "9 4000 y[{0},{1}] = x[i[{1} % 9],{0}]\n") == []
    assert prefetches(head + "9 4000 y[{0},{1}] = x[0,0]\n") == []


def test_an_outer_loop_fetches_what_it_loads_itself() -> None:
    head = "kernel k\nin x: f32[9, 4096]\ninout y: f32[9, 64] prefetch(128)\n\n"
    assert prefetches(head + "9 4000 y[{0},0] += x[{0},{1}]\n") == ["y[(i0 * 64) + 128]"]


def test_what_is_fetched_under_a_condition_is_fetched_after_it_too() -> None:
    text = "kernel k\nin x: f32[64] prefetch(8)\ninout y: f32[64]\ninout z: f32[64]\n\n"
    text += "64 y[{0}] = x[{0}] if y[{0}] > 0\n| z[{0}] = x[{0}] if z[{0}] > 0\n"
    assert prefetches(text) == ["x[i0 + 8]", "x[i0 + 8]"]
    assert prefetches(text.replace(" if y[{0}] > 0", "").replace(" if z[{0}] > 0", "")) == ["x[i0 + 8]"]
