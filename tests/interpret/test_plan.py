"""Which scopes run as axes: the usual kernels do, and nothing does where it would change a result."""

from __future__ import annotations

import time

import numpy as np
import pytest

from perfdojo.compiler.interpret import interpret, random_inputs
from perfdojo.compiler.interpret.engine import CHUNK, blocks, shape_of
from perfdojo.compiler.interpret.plan import plan
from perfdojo.compiler.interpret.tree import Loop, Node, Step, loops
from tests.interpret.texts import program, text_program


def in_order(name: str) -> list[str]:
    """Return the scopes that run one iteration after another."""
    return [loop.scope for loop in loops(plan(program(name)).body) if not loop.axis and loop.extent > 1]


@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "matmul",
        "matmul_outer_product_order",
        "reductions_under_guards",
        "start_of_a_reused_row",
        "continues_from_a_statement",
        "overlap_add",
        "histogram",
        "in_place_butterfly",
        "last_write_stays",
        "scratch_rows",
        "padding_by_select",
        "padding_by_guard",
        "window",
        "reshape",
        "reshape_of_tiles",
        "gather_of_a_gather",
        "scatter_of_rows",
        "int8_matmul",
        "attention",
    ],
)
def test_every_scope_is_an_axis(name: str) -> None:
    assert in_order(name) == []


@pytest.mark.parametrize(
    ("name", "scopes"),
    [
        ("start_within_an_outer_scope", ["i1"]),
        ("cumulative_sum", ["i1"]),
        ("cumulative_sum_by_a_scalar", ["i1"]),
        ("start_of_a_scalar_by_an_inner_scope", ["i0"]),
        ("recurrence_between_columns", ["i0_2"]),
        ("in_place_neighbour", ["i0", "i0_2"]),
        ("scratch_that_remembers", ["i0_2"]),
        ("reuse_between_iterations", ["i0"]),
        ("online_softmax", ["i1"]),
        ("argmax", ["i1"]),
        ("sum_over_a_loop_that_cannot_be_an_axis", ["i0_2", "i1"]),
    ],
)
def test_scopes_that_carry_values_run_in_order(name: str, scopes: list[str]) -> None:
    assert in_order(name) == scopes


def test_a_large_reshape_needs_no_enumeration() -> None:
    text = "in x: f32[1000, 1000]\nout y: f32[500, 2000]\n"
    bound = text_program(text + "1000 1000 y[({0}*1000+{1})//2000, ({0}*1000+{1})%2000] = x[{0},{1}]\n")
    assert all(loop.axis for loop in loops(plan(bound).body))


def _steps(body: tuple[Node, ...], axes: tuple[str, ...]) -> list[tuple[Step, tuple[str, ...]]]:
    found = []
    for node in body:
        if isinstance(node, Loop):
            found += _steps(node.body, (*axes, node.scope) if node.axis else axes)
        else:
            found.append((node, axes))
    return found


def test_reductions_fold_or_loop_by_their_lanes() -> None:
    text = "in x: f32[{0}, {1}]\nout y: f32[{0}]\n{0} {1} y[{{0}}] += x[{{0}},{{1}}]\n"
    few, many = (plan(text_program(text.format(*shape))) for shape in ((8, 5000), (5000, 8)))
    step, axes = _steps(few.body, ())[-1]
    assert shape_of(step, axes, few.extents).folded == ("i1",)
    step, axes = _steps(many.body, ())[-1]
    assert shape_of(step, axes, many.extents).loops == ("i1",)


def test_blocks_are_small_and_cover_every_iteration_in_order() -> None:
    text = "in x: f32[3, 700, 900]\nout y: f32[3, 700, 900]\n3 700 900 y[{0},{1},{2}] = x[{0},{1},{2}]\n"
    planned = plan(text_program(text))
    step, axes = _steps(planned.body, ())[0]
    sizes, total = [], 0
    for block in blocks(shape_of(step, axes, planned.extents), planned.extents):
        size = int(np.prod([length for _, _, length in block]))
        sizes.append(size)
        total += size
    assert total == 3 * 700 * 900
    assert max(sizes) <= CHUNK


def test_ten_million_executions_take_seconds() -> None:
    text = "in a: f32[216, 216]\nin b: f32[216, 216]\nout c: f32[216, 216]\n"
    bound = text_program(text + "216 216 216 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]\n")
    inputs = random_inputs(bound, 0, "normal")
    start = time.process_time()
    interpret(bound, inputs)
    assert time.process_time() - start < 5.0
