"""What no move may do: take words of the language for names, outgrow a text, have fields of wrong types."""

from __future__ import annotations

import pytest

from perfdojo.compiler.schedule import parse_move
from perfdojo.compiler.text.header import RESERVED
from perfdojo.compiler.text.resolve import MAX_SCOPES
from perfdojo.compiler.transforms import candidates
from perfdojo.compiler.transforms.base import MAX_STATEMENTS, Transform
from perfdojo.compiler.transforms.create_temporary import CreateTemporary
from perfdojo.compiler.transforms.drop_scope import DropScope
from perfdojo.compiler.transforms.pad_dims import PadDims
from perfdojo.compiler.transforms.peel_scope import PeelScope
from perfdojo.compiler.transforms.reuse_dims import ReuseDims
from perfdojo.compiler.transforms.spelling import misfit
from perfdojo.compiler.transforms.tile_scope import TileScope
from tests.transforms.states import setting, state


def _nest(scopes: int, extent: int) -> str:
    opened = " ".join(f"a{n}:{extent}" for n in range(scopes))
    indices = ",".join(f"{{{n}}}" for n in range(scopes))
    return f"kernel k\nout y: f32[{', '.join([str(extent)] * scopes)}]\n{opened} y[{indices}] = 1\n"


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_new_names_are_no_words_of_the_language(word: str) -> None:
    program = state("kernel k\nin x: f32[8]\nout y: f32[8]\ni:8 y[{0}] = x[{0}]\n")
    for text in ("tile_scope i 4 -> {}", "create_temporary x at i -> {}", "tile_scope i 4 -> a {}"):
        found = parse_move(text.format(word)).why_not(program, setting())
        assert found is not None
        assert found[:2] == (0, f"{word} is a word of the language and names nothing new")


def test_peeling_again_and_again_ends_at_a_limit() -> None:
    program = state(_nest(16, 3))
    for n in reversed(range(16)):
        move = PeelScope(f"a{n}", 1)
        found = move.why_not(program, setting())
        if found is not None:
            break
        program = move.rewrite(program)
    assert len(program.statements) == MAX_STATEMENTS
    assert found is not None
    assert found.reason == f"there would be {2 * MAX_STATEMENTS} statements, over {MAX_STATEMENTS}"


def test_no_move_nests_deeper_than_a_text_may() -> None:
    program = state(_nest(MAX_SCOPES, 1))
    found = TileScope("a0", 1).why_not(program, setting())
    assert found is not None
    assert found.reason == f"there would be {MAX_SCOPES + 1} nested scopes, over {MAX_SCOPES}"
    near = state(_nest(MAX_SCOPES - 1, 1))
    assert TileScope("a0", 1).apply(near, setting()).depth == MAX_SCOPES


def test_what_is_offered_stays_within_the_limits() -> None:
    scopes = " ".join(f"a{n}:1" for n in range(MAX_SCOPES - 1))
    program = state(f"kernel k\nout y: f32[4]\n{scopes} b:4 y[{{b}}] = 1\n")
    listed = list(candidates(program, setting()))
    assert any(isinstance(m, DropScope) for m in listed)
    assert not any(isinstance(m, TileScope) for m in listed)


@pytest.mark.parametrize(
    "move",
    [
        TileScope("i", -3),
        TileScope("i", 4.0),  # type: ignore[arg-type]
        TileScope("i", "4"),  # type: ignore[arg-type]
        TileScope("i", True),
        TileScope(None, 4),  # type: ignore[arg-type]
        TileScope("i", 5, "some"),  # type: ignore[arg-type]
        TileScope("i", 4, names=("a b",)),
        TileScope("i", 4, names=("a", "b", "c", "d")),
        TileScope("i", 4, names="ab"),  # type: ignore[arg-type]
        PeelScope("i", 4, -2),
        PadDims("t", 0, -5),
        ReuseDims("t", [0]),  # type: ignore[arg-type]
        CreateTemporary("x", "i", writes=1),  # type: ignore[arg-type]
        CreateTemporary("x", "i", space="attic"),
        "tile_scope i 4",
        TileScope,
    ],
)
def test_a_record_that_no_text_says_is_no_move(move: object) -> None:
    assert misfit(move)


def test_a_record_that_a_text_says_is_a_move() -> None:
    texts = (
        "tile_scope i 4 remainder peel over 8 -> a b",
        "create_temporary x at i layout [j k] writes in stack -> c",
        "reuse_dims t [0 1]",
        "create_temporary x at i layout []",
        "prefetch x 0",
    )
    moves: list[Transform] = [parse_move(t) for t in texts]
    assert [misfit(m) for m in moves] == [""] * len(texts)
