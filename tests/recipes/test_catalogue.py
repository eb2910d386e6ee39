"""Recipes are found by name, refuse what they cannot take, and are one change."""

from __future__ import annotations

import inspect

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.recipes import get_recipe, parameters, recipe_names
from perfdojo.compiler.schedule import History, parse_schedule, replay
from perfdojo.session import Session
from tests.recipes.cases import CASES


def test_every_recipe_has_a_case_and_a_picture() -> None:
    assert set(recipe_names()) == {c.recipe for c in CASES}
    for name in recipe_names():
        text = inspect.getdoc(get_recipe(name)) or ""
        assert "->" in text, name
        assert all(f"{p}" in text for p in parameters(get_recipe(name))), name


def session() -> Session:
    return Session("matmul", "avx2", sizes={"M": 12, "N": 32, "K": 8})


@pytest.mark.parametrize(
    ("recipe", "given", "message"),
    [
        ("matmull", {}, "no recipe 'matmull'"),
        ("matmul", {"mrr": 4}, "recipe matmul has no parameter 'mrr'"),
        ("matmul", {"mr": "four"}, "mr='four' of recipe matmul is not an integer"),
        ("matmul", {"mr": True}, "mr=True of recipe matmul is not an integer"),
        ("matmul", {"kc": -1}, "kc=-1 of recipe matmul is below 0"),
        ("matmul", {"statement": "d"}, "there is no statement d"),
        ("matmul", {"statement": "c_start"}, "statement c_start is no contraction"),
        ("pack", {"buffer": "b"}, "recipe pack needs at, a name"),
        ("pack", {"buffer": "b", "at": "q"}, "there is no scope q"),
        ("pack", {"buffer": "c", "at": "m"}, "nothing in scope m reads c along a scope in it"),
        ("pack", {"buffer": "b", "at": "m", "fastest": "m"}, "scope m does not index b in m"),
        ("tile", {"scopes": ("m",), "sizes": (4, 4)}, "1 scopes have 2 sizes of blocks"),
        ("tile", {"scopes": ("q",), "sizes": (4,)}, "there is no scope q"),
        ("tile", {"scopes": ("n", "k"), "sizes": (8, 4)}, "scopes n and k are not perfectly nested"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_changes(
    recipe: str, given: dict[str, object], message: str
) -> None:
    s = session()
    s.apply("tile_scope m 4")
    s.remove(1)
    with pytest.raises(PerfDojoError) as error:
        s.run(recipe, **given)
    assert error.value.message == message
    assert s.states == ()
    s.undo()
    assert len(s.states) == 1


def test_a_step_that_is_refused_takes_the_others_back() -> None:
    def half(h: History) -> None:
        h.apply("tile_scope m 4")
        h.apply("tile_scope n 5")

    s = session()
    with pytest.raises(PerfDojoError, match="5 does not divide"):
        s.run(half)
    assert s.states == ()
    with pytest.raises(PerfDojoError, match="nothing to undo"):
        s.undo()


def test_a_recipe_is_one_change() -> None:
    s = session()
    s.apply("sequential m")
    s.run("matmul")
    made = s.states
    assert len(made) > 10
    assert len(s.states[:1]) == 1
    s.undo()
    assert [str(state.step) for state in s.states] == ["sequential m"]
    s.redo()
    assert s.states == made


def test_a_reduction_that_keeps_its_order_is_told() -> None:
    s = Session("sum_last", "avx2", "strict")
    with pytest.raises(PerfDojoError, match="y cannot be split: y sums floats, which strict keeps in order"):
        s.run("reduce")


def test_the_schedule_of_a_recipe_is_text_that_replays() -> None:
    s = session()
    s.run("matmul", kc=4)
    assert replay(s.original, parse_schedule(s.text()), s.setting).program == s.program
