"""Each rewrite makes the program of its picture, and refuses what breaks its conditions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Load, Op, Program
from perfdojo.compiler.plan.rewrites.drop_single import drop_single
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.join import join
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.stage_packed import stage_packed
from perfdojo.compiler.plan.rewrites.stage_padded import padded_box, stage_padded
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.tree import extents, find, path
from perfdojo.compiler.walk import statements

HEADER = "kernel k\nin  x: f32[12, 20]\nout y: f32[12, 20]\nout z: f32[12, 20]\n"


def program(*body: str) -> Program:
    return bind(parse("\n".join((HEADER, *body)) + "\n", "k.ir"))


def shown(made: Program) -> str:
    return render(made).partition("\n\n")[2]


COPY = "i:12 j:20 y[{0},{1}] = x[{0},{1}]"
TWO = ("i:12 y[{0},3] = x[{0},4]", "| z[{0},3] = x[{0},5]")
CASES: dict[str, tuple[tuple[str, ...], Callable[[Program], Program], str]] = {
    "tile": (
        (COPY,),
        lambda p: tile(p, "j", 5)[0],
        "i:12 j_o:4 j_i:5 y[{0},{1} * 5 + {2}] = x[{0},{1} * 5 + {2}]\n",
    ),
    "tile keeps the mark outside": (
        ("i:12@parallel j:20 y[{0},{1}] = x[{0},{1}]",),
        lambda p: tile(p, "i", 4)[0],
        "i_o:3@parallel i_i:4 j:20 y[{0} * 4 + {1},{2}] = x[{0} * 4 + {1},{2}]\n",
    ),
    "peel": (
        (COPY,),
        lambda p: peel(p, "i", 8)[0],
        "i:8 j:20 y[{0},{1}] = x[{0},{1}]\ni_t:4 j_t:20 y_t: y[{0} + 8,{1}] = x[{0} + 8,{1}]\n",
    ),
    "peel with a part done again": (
        (COPY,),
        lambda p: peel(p, "j", 16, 4)[0],
        "i:12 j:16 y[{0},{1}] = x[{0},{1}]\n| j_t:8 y_t: y[{0},{1} + 12] = x[{0},{1} + 12]\n",
    ),
    "interchange": (
        (COPY,),
        lambda p: interchange(p, "i"),
        "j:20 i:12 y[{1},{0}] = x[{1},{0}]\n",
    ),
    "fission": (
        TWO,
        lambda p: fission(p, "i", [1])[0],
        "i:12 y[{0},3] = x[{0},4]\ni_2:12 z[{0},3] = x[{0},5]\n",
    ),
    "join": (
        ("i:12 y[{0},3] = x[{0},4]", "j:12 z[{0},3] = x[{0},5]"),
        lambda p: join(p, "i"),
        "i:12 y[{0},3] = x[{0},4]\n| z[{0},3] = x[{0},5]\n",
    ),
    "mark": ((COPY,), lambda p: mark(p, "j", "vector"), "i:12 j:20@vector y[{0},{1}] = x[{0},{1}]\n"),
    "drop_single": (
        ("i:12 j:1 y[{0},{1}+2] = x[{0},{1}*3+{0}]",),
        drop_single,
        "i:12 y[{0},2] = x[{0},{0}]\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_picture(name: str) -> None:
    body, rewrite, expected = CASES[name]
    made = rewrite(program(*body))
    assert shown(made) == expected
    assert parse(render(made), "made.ir") == made


def test_stage_packed_copies_in_the_order_of_use() -> None:
    before = program("n:3 j:20 k:4 y[{0}*4+{2},{1}] = x[{0}*4+{2},{1}]")
    _, statement = next(iter(statements(before)))
    assert isinstance(statement.value, Load)
    after, name = stage_packed(before, path(before, "n"), "j", statement.value, ["j", "k"])
    assert shown(after) == (
        "n:3 j_p:20 k_p:4 x_pack[{0},{1},{2}] = x[{0} * 4 + {2},{1}]\n"
        "| j:20 k:4 y[{0} * 4 + {2},{1}] = x_pack[{0},{1},{2}]\n"
    )
    assert after.buffer(name).reuse == (0,)


def test_stage_padded_fills_the_border_and_drops_the_test() -> None:
    before = program("i:12 j:20 r:3 y[{0},{1}] += {1}+{2} >= 1 and {1}+{2} <= 20 ? x[{0},{1}+{2}-1] : 0.5")
    _, statement = next(iter(statements(before)))
    assert isinstance(statement.value, Op)
    box = padded_box(statement.value, extents((find(before, "j"),)), {"i": 12}, (12, 20))
    assert box is not None
    assert (box.extents, box.inside) == ((1, 22), ((0, 1), (1, 21)))
    after = stage_padded(before, path(before, "i"), "j", statement.value, box)
    assert shown(drop_single(after)) == (
        "i:12 x_pad[{0},0,0] = 0.5\n"
        "| x_pad[{0},0,21] = 0.5\n"
        "| x_pad_i1_3:20 x_pad[{0},0,{1} + 1] = x[{0},{1}]\n"
        "| j:20 r:3 y[{0},{1}] += x_pad[{0},0,{1} + {2}]\n"
    )


def test_a_test_that_is_not_about_the_border_is_left() -> None:
    before = program("i:12 j:20 y[{0},{1}] = {0} >= 3 ? x[{0},{1}] : 0")
    _, statement = next(iter(statements(before)))
    assert padded_box(statement.value, {"j": 20}, {"i": 12}, (12, 20)) is None


def test_a_border_that_one_index_keeps_from_another_is_left() -> None:
    before = program("i:12 j:20 y[{0},{1}] = {0} >= 2 and {0} < 10 ? x[{0},{0}+10] : 0.5")
    _, statement = next(iter(statements(before)))
    assert padded_box(statement.value, {"i": 12, "j": 20}, {}, (12, 20)) is not None
    assert padded_box(statement.value, {"i": 12, "j": 20}, {}, (12, 19)) is None


@pytest.mark.parametrize(
    ("rewrite", "message"),
    [
        (lambda p: tile(p, "j", 3), "tile: 3 does not divide the extent 20 of scope j"),
        (lambda p: peel(p, "j", 20), "peel: 20 is not inside the range of scope j, 0 to 20"),
        (lambda p: peel(p, "j", 4, 5), "peel: 5 iterations of scope j cannot be repeated before 4"),
        (lambda p: interchange(p, "j"), "interchange: scope j holds more than one scope"),
        (lambda p: fission(p, "i", [1]), r"fission: \[1\] are not cuts of the 1 nodes in scope i"),
        (lambda p: join(p, "i"), "join: no scope of the same extent follows i"),
        (lambda p: mark(p, "i", "fast"), "mark: fast is not a mark"),
    ],
)
def test_broken_conditions_are_named(rewrite: Callable[[Program], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rewrite(program(COPY))
