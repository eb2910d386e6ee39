"""Moves that mark scopes: what they allow the verifier accepts and lowering follows, on random programs."""

from __future__ import annotations

import random

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.schedule import parse_move, prepare
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.nontemporal import Nontemporal
from perfdojo.compiler.transforms.vectorize import Vectorize
from tests.random_programs.generate import generate
from tests.transforms.states import applied, check_state, reason, setting, state

SEEDS = range(40)


def drawn(seed: int) -> Program:
    return prepare(bind(generate(seed)))


def drawn_wide(seed: int) -> Program:
    """Return a random program whose floats fill the words of streams."""
    return state(render(drawn(seed)).replace("f32", "f64"))


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_lowering_puts_in_lanes_what_vectorize_allows_and_nothing_that_it_calls_scalar(target: str) -> None:
    at = setting(target)
    allowed = refused = 0
    for seed in SEEDS:
        program = drawn(seed)
        for name in program.scopes:
            move = Vectorize(name)
            found = move.why_not(program, at)
            if found is not None and found.condition < 6:
                continue
            made = move.rewrite(program)
            assert (name in dict(lower(made, at.target, at.fp).lanes)) == (found is None), (seed, name, found)
            allowed += found is None
            refused += found is not None
            if found is None:
                check_state(made)
    assert allowed > 15
    assert refused > 15


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("vectorize", "avx2"),
        ("parallelize", "c"),
        ("grid", "cuda"),
        ("block", "cuda"),
        ("core", "snitch"),
        ("stream", "snitch"),
        ("frep", "snitch"),
    ],
)
def test_marked_programs_are_proved_and_read_back(name: str, target: str) -> None:
    at, cls, count = setting(target), get_transform(name), 0
    for seed in SEEDS:
        program = drawn_wide(seed) if target == "snitch" else drawn(seed)
        rng = random.Random(seed)
        outer = {"block": "grid", "frep": "stream"}.get(name)
        first = list(get_transform(outer).candidates(program, at)) if outer else []
        if first:
            program = (first[0] if name == "frep" else rng.choice(first)).rewrite(program)
        for move in list(cls.candidates(program, at))[:4]:
            check_state(move.apply(program, at))
            count += 1
    assert count > (4 if name == "frep" else 10)


def test_sums_of_floats_keep_their_order_at_strict() -> None:
    program = state(
        "kernel k\nin x: f32[64]\nout s: f32[]\nin i: i32[64]\nout t: i32[]\n"
        "64 s[] += x[{0}]\n64 t[] += i[{0}]\n"
    )
    strict = setting("avx2", "strict")
    assert reason(program, "vectorize i0_2", strict) == ""
    assert reason(program, "vectorize i0", strict) == (
        "5: s sums floats over the lanes of i0, which strict keeps in order"
    )
    assert reason(program, "vectorize i0") == ""
    assert [str(m) for m in Vectorize.candidates(program, strict)] == ["vectorize i0_2"]


CARRIED = (
    "kernel k\nin x: f32[9]\nout y: f32[9]\n9 y[{0}] = x[{0}] if {0} < 1\n| y[{0}] = y[{0}-1] if {0} > 0\n"
)


@pytest.mark.parametrize(
    ("move", "target", "expected"),
    [
        ("vectorize i0", "c", "1: target c has no @vector"),
        (
            "vectorize i0",
            "avx2",
            "4: scope i0 cannot run in lanes: iteration 0 writes y[0] and iteration 1 reads it",
        ),
        ("parallelize i0", "cuda", "1: target cuda has no @parallel"),
        ("grid i0 x", "avx2", "1: target avx2 has no @grid_x"),
        ("block i0 z", "avx2", "1: target avx2 has no @block_z"),
        ("core i0", "avx2", "1: target avx2 has no @core"),
        ("stream i0", "avx2", "1: target avx2 has no @stream"),
        ("frep i0", "avx2", "1: target avx2 has no @frep"),
        ("nontemporal y", "c", "1: y_2 reads y, which would come back from memory"),
    ],
)
def test_conditions_that_the_goldens_do_not_show(move: str, target: str, expected: str) -> None:
    assert reason(state(CARRIED), move, setting(target)) == expected


def test_what_cannot_follow_is_refused_with_its_reason() -> None:
    text = "kernel k\nin x: f32[9,9]\nout y: f32[9,9]\n9 9 y[{0},{1}] = x[{0},{1}]\n"
    assert reason(state(text), "nontemporal y", setting("c")) == (
        "3: target c has no store past the caches for f32"
    )
    assert reason(state(text.replace("9]\n9", "9] nontemporal\n9")), "nontemporal y") == (
        "2: y is nontemporal already"
    )
    wide = "kernel k\nin x: f64[8]\nout y: f64[8]\n2@stream 8 y[{1}] = " + " + ".join(["x[{1}]"] * 34) + "\n"
    assert reason(state(wide), "frep i1", setting("snitch")) == (
        "5: scope i1 cannot be repeated: the body of i1 takes 33 instructions, over 32"
    )
    whole = "kernel k\nout y: i32[8]\n8 y[{0}] = 1\n"
    assert reason(state(whole), "frep i0", setting("snitch")) == "4: no scope around i0 is @stream"
    assert reason(state(whole), "stream i0", setting("snitch")) == (
        "4: scope i0 cannot be streamed: y is i32, and streams feed the FPU"
    )
    one = "kernel k\nout y: f64[]\nin x: f64[]\n1 y[] = x[] + 1\n"
    assert reason(state(one), "stream i0", setting("snitch")) == (
        "4: scope i0 cannot be streamed: nothing in it moves"
    )
    nest = "kernel k\nout y: f32[70000]\n70000 y[{0}] = 1\n"
    assert (
        reason(state(nest), "grid i0 z", setting("cuda")) == "5: 70000 blocks are over the 65535 of @grid_z"
    )


TILE = """\
kernel k
in x: f32[64, N]
out y: f32[64, N]

a:A b:B@unroll c:N@vector s: y[{0} * B + {1},{2}] = 0.0
| d:64 e:B@unroll f:N@vector t: y[{0} * B + {2},{3}] += x[{1},{3}]
"""


def tile(rows: int, columns: int) -> str:
    return TILE.replace("A", str(64 // rows)).replace("B", str(rows)).replace("N", str(columns))


@pytest.mark.parametrize(
    ("text", "target", "condition"),
    [
        (tile(4, 64), "avx512", 0),
        (tile(4, 64).replace("f:64@vector", "f:64"), "avx512", 1),
        (tile(4, 64).replace("e:4@unroll", "e:4"), "avx512", 1),
        (tile(4, 64).replace("| d", "g:16 d"), "avx512", 1),
        (tile(8, 64), "avx512", 1),
        (tile(4, 16), "avx2", 3),
    ],
    ids=["tile", "no lanes", "a loop", "start elsewhere", "too many", "half lines"],
)
def test_sums_pass_by_the_caches_where_they_stay_in_registers(text: str, target: str, condition: int) -> None:
    refused = Nontemporal("y").why_not(state(text), setting(target))
    assert (refused.condition if refused else 0) == condition


def test_a_stream_does_not_read_what_a_later_pass_has_written() -> None:
    head = "kernel k\nin a: f64[4,4]\nin b: f64[4,4]\nout c: f64[4,4]\n"
    text = head + "4 4 4 c[{0},{2}] += a[{0},{1}] * b[{1},{2}]\n"
    program = state(text)
    assert "c is read again after it was written" in reason(program, "stream i1", setting("snitch"))
    assert reason(program, "stream i2", setting("snitch")) == ""
    assert parse_move("stream i2") in list(get_transform("stream").candidates(program, setting("snitch")))


def test_every_vector_of_a_scope_is_tried_where_they_can_differ() -> None:
    # only the third vector of four lanes crosses a multiple of 9, and there is no gather of bytes
    text = "kernel k\nin t: i8[2]\nout y: i8[16]\n16 y[{0}] = t[{0}//9]\n"
    program, at = state(text), setting("avx2")
    found = Vectorize("i0").why_not(program, at)
    assert found is not None
    assert found.condition == 6
    assert "i0" not in dict(lower(Vectorize("i0").rewrite(program), at.target, at.fp).lanes)
    wide = state(text.replace("//9", "//16"))
    assert Vectorize("i0").why_not(wide, at) is None


def test_lanes_that_tensor_cores_need_are_threads_of_the_block() -> None:
    text = (
        "kernel k\nout c: f32[64,16,16]\ntmp s: f32[64,16,16] space(fragment)\n"
        "1@grid_x 64 16 16 s[{1},{2},{3}] = 0.0\n| | 16 16 c[{1},{2},{3}] = s[{1},{2},{3}]\n"
    )
    at, program = setting("cuda", "fast"), state(text)
    many = "the block would have 2048 threads, over 1024"
    assert reason(applied(program, "block i1 y", at=at), "mma i2", at) == f"4: {many}"
    assert reason(applied(program, "mma i2", at=at), "block i1 y", at) == f"5: {many}"
