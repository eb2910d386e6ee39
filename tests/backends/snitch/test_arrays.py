"""Loops of f32 exp over neighbouring elements become one call; all others stay loops."""

from __future__ import annotations

import numpy as np
import pytest

from perfdojo.backends import emit
from perfdojo.backends.snitch.arrays import FUNCTIONS
from perfdojo.compiler.interpret import first_difference, interpret
from perfdojo.compiler.recipes._apart import ARRAY_FUNCTIONS
from perfdojo.compiler.schedule import Scheduled
from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import Built, build, run
from tests.backends.direct import checked


def source(body: str, declared: str = "in x: f32[8, 64]\nout z: f32[8, 64]\n") -> str:
    """Return the lines of C of a kernel that call the function of arrays, or are its loops."""
    as_it_is = Scheduled(checked(f"kernel k\n{declared}{body}\n"), "")
    text = dict(emit(as_it_is.program, "snitch", fp="strict", scheduled=as_it_is).files)["k.c"]
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line.startswith(("for", "snitch_exp", "z[")))


def test_a_nest_over_neighbours_is_one_call() -> None:
    assert source("8 64 z[{0},{1}] = exp(x[{0},{1}])") == "snitch_exp_f32_array(x, z, 512);"


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid"])
def test_each_function_has_its_call(name: str) -> None:
    declared = "in x: f32[8, 64]\nout z: f32[8, 64]\n"
    as_it_is = Scheduled(checked(f"kernel k\n{declared}8 64 z[{{0}},{{1}}] = {name}(x[{{0}},{{1}}])\n"), "")
    files = dict(emit(as_it_is.program, "snitch", scheduled=as_it_is).files)
    assert f"  snitch_{name}_f32_array(x, z, 512);" in files["k.c"].splitlines()
    assert {f for f in files if f.startswith("snitch")} == {
        "snitch_runtime.c",
        "snitch_runtime.h",
        f"snitch_{name}.S",
    }


def test_recipes_know_the_same_functions() -> None:
    assert FUNCTIONS.keys() == ARRAY_FUNCTIONS


def test_the_innermost_loop_alone_is_called_where_rows_are_apart() -> None:
    declared = "in x: f32[8, 70]\nout z: f32[8, 64]\n"
    text = source("8 64 z[{0},{1}] = exp(x[{0},{1}+6])", declared)
    loop, call = text.splitlines()
    assert loop.startswith("for (int32_t")
    assert call.startswith("snitch_exp_f32_array(x + i0 * 70 + 6, z + i0 * 64, 64);"), call


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        ("8 64 z[{0},{1}] = exp(x[{0},{1}] - 1)", "in x: f32[8, 64]\nout z: f32[8, 64]\n"),
        ("8 64 z[{0},{1}] = exp(x[{0},63-{1}])", "in x: f32[8, 64]\nout z: f32[8, 64]\n"),
        ("8 64 z[{0},{1}] = exp(x[{1},{0}])", "in x: f32[64, 8]\nout z: f32[8, 64]\n"),
        ("8 64 z[{0},{1}] = exp(x[{0},{1}])", "in x: f64[8, 64]\nout z: f64[8, 64]\n"),
        ("8 64 z[{0},{1}] = log(x[{0},{1}])", "in x: f32[8, 64]\nout z: f32[8, 64]\n"),
        ("8 64 z[{0},{1}] = exp(z[{0},{1}])", "inout z: f32[8, 64]\n"),
        ("4 4 z[{0},{1}] = exp(x[{0},{1}])", "in x: f32[4, 4]\nout z: f32[4, 4]\n"),
    ],
    ids=["not alone", "backwards", "across rows", "f64", "another function", "in place", "few"],
)
def test_other_loops_stay(body: str, declared: str) -> None:
    assert "snitch_exp" not in source(body, declared)


def test_temporaries_leave_room_for_the_stack_of_a_function() -> None:
    try:
        tools = find_tools()
    except MissingTool as error:
        pytest.skip(str(error))
    temporaries = "".join(f"tmp t{k}: f32[256]\n" for k in range(4))
    text = f"kernel k\nin x: f32[256]\nout z: f32[256]\n{temporaries}256 t0[{{0}}] = exp(x[{{0}}])\n"
    text += "".join(f"256 t{k}[{{0}}] = exp(-t{k - 1}[{{0}}])\n" for k in (1, 2, 3))
    program = checked(f"{text}256 z[{{0}}] = t0[{{0}}] + t1[{{0}}] + t2[{{0}}] + t3[{{0}}]\n")
    built = build(emit(program, "snitch", fp="strict"), tools)
    assert isinstance(built, Built), built
    inputs = {"x": np.random.default_rng(6).normal(size=256).astype(np.float32)}
    ran = run(built, inputs)
    assert ran.outcome == "ok", ran.text
    assert first_difference(ran.outputs, interpret(program, inputs)) == ""
