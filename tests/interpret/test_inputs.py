"""Inputs that do not fit are refused with a clear message; random ones are reproducible and of their kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import KINDS, interpret, random_inputs, reference
from tests.interpret.texts import program, text_program

TEXT = """
in x: f32[3]
in k: u8[2] values(1, 4)
inout z: f32[2]
out y: f32[2]
2 y[{0}] = x[k[{0}]-1] + z[{0}]
"""
GOOD: dict[str, Any] = {
    "x": np.zeros(3, np.float32),
    "k": np.array([1, 3], np.uint8),
    "z": np.zeros(2, np.float32),
}


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"x": None}, "input 'x' is missing", ""),
        ({"xx": np.zeros(3)}, "'k' has no input 'xx'", "did you mean 'x'?"),
        ({"y": np.zeros(2, np.float32)}, "'k' has no input 'y'", "inputs are x k z"),
        ({"x": np.zeros(3)}, "input 'x' is f32, but a float64 array was given", "dtype float32"),
        ({"x": [0.0, 0.0, 0.0]}, "input 'x' is f32, but a list was given", "dtype float32"),
        ({"x": np.zeros((3, 1), np.float32)}, "input 'x' has shape [3], but the given array has [3, 1]", ""),
        (
            {"k": np.array([1, 4], np.uint8)},
            "input 'k' promises values(1, 4), but its element [1] is 4",
            "",
        ),
        (
            {"k": np.array([0, 3], np.uint8)},
            "input 'k' promises values(1, 4), but its element [0] is 0",
            "",
        ),
    ],
)
@pytest.mark.parametrize("run", [interpret, reference])
def test_inputs_are_checked(run: Any, change: dict[str, Any], message: str, hint: str) -> None:
    inputs = {name: array for name, array in {**GOOD, **change}.items() if array is not None}
    with pytest.raises(PerfDojoError) as caught:
        run(text_program(TEXT), inputs)
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_good_inputs_pass_and_stay_as_they_are() -> None:
    inputs = {**GOOD, "z": np.array([1.0, 2.0], np.float32)}
    result = interpret(text_program(TEXT + "2 z[{0}] += 1\n"), inputs)
    assert sorted(result) == ["y", "z"]
    assert inputs["z"].tolist() == [1.0, 2.0]


def test_an_unverified_index_is_an_error_not_a_wrong_element() -> None:
    bound = text_program("in x: f32[3]\nout y: f32[3]\n3 y[{0}] = x[{0}+1]\n")
    with pytest.raises(PerfDojoError, match=r"an index of 'x' leaves its shape \[3\]"):
        interpret(bound, {"x": np.zeros(3, np.float32)})


@pytest.mark.parametrize("kind", KINDS)
def test_random_inputs_depend_on_seed_and_kind_alone(kind: str) -> None:
    bound = program("gather")
    first, again, other = (random_inputs(bound, seed, kind) for seed in (3, 3, 4))
    assert all(np.array_equal(first[n], again[n], equal_nan=True) for n in first)
    assert not np.array_equal(first["t"], other["t"], equal_nan=True)
    assert ((first["k"] >= 0) & (first["k"] < 6)).all()


def test_random_inputs_are_of_their_kind() -> None:
    text = "in a: f32[1000]\nin b: f64[1000]\nin i: i16[1000]\nin g: bool[1000]\nout y: f32[]\ny[] = a[0]\n"
    bound = text_program(text)
    drawn = {kind: random_inputs(bound, 0, kind) for kind in KINDS}
    assert (np.abs(drawn["denormal"]["a"]) < 2.0**-126).mean() > 0.5
    assert (np.abs(drawn["denormal"]["b"]) < 2.0**-1022).mean() > 0.5
    assert 1e29 < np.abs(drawn["huge"]["a"]).max() < 1e33
    assert np.abs(drawn["huge"]["b"]).max() > 1e240
    assert len(set(drawn["equal"]["a"].tolist())) == 1
    assert (drawn["positive"]["a"] >= 0.5).all()
    assert np.abs(drawn["uniform"]["a"]).max() <= 1.0
    assert abs(float(drawn["cancel"]["a"].sum())) < np.abs(drawn["cancel"]["a"]).sum() / 1000
    special = drawn["special"]["a"]
    assert np.isnan(special).any()
    assert np.isposinf(special).any()
    assert np.isneginf(special).any()
    assert (np.signbit(special) & (special == 0)).any()
    assert np.abs(drawn["normal"]["i"]).max() <= 8
    assert np.abs(drawn["huge"]["i"].astype(int)).max() > 30000
    assert set(drawn["special"]["g"].tolist()) == {False, True}


def test_unknown_kinds_and_levels_are_our_own_errors() -> None:
    bound = program("gather")
    with pytest.raises(ValueError, match="unknown kind odd"):
        random_inputs(bound, 0, "odd")
    with pytest.raises(ValueError, match="unknown floating-point level quick"):
        reference(bound, random_inputs(bound, 0), "quick")
