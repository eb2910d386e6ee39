"""set_space, pad_dims, reorder_dims, split_dims: where elements lie changes, and nothing else."""

from __future__ import annotations

import random

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.split_dims import SplitDims
from perfdojo.compiler.walk import const_int
from tests.random_programs.generate import generate
from tests.transforms.states import applied, body, check_state, reason, setting, state

MOVES = ("set_space", "pad_dims", "reorder_dims")


def test_an_index_that_does_not_come_apart_and_is_not_proved_is_refused() -> None:
    program = state(
        "kernel k\nin h: i64[8]\nout y: f32[8]\ntmp t: f32[8]\n\n8 t[{0}] = 1\n"
        "8 y[{0}] = h[{0}] >= 0 and h[{0}] < 8 ? t[h[{0}]] : 0\n"
    )
    why = "4: with two dimensions t[h[{0}] // 4,h[{0}] % 4]: the index of dimension 0 can be"
    assert reason(program, "split_dims t 0 4").startswith(why)


def test_a_gather_is_split_with_the_type_of_an_iteration() -> None:
    program = state(
        "kernel k\nin h: i32[8] values(0, 8)\nout y: f32[8]\ntmp t: f32[8]\n\n8 t[{0}] = 1\n"
        "8 y[{0}] = t[h[{0}]]\n"
    )
    assert "t[i64(h[{0}]) // 4,i64(h[{0}]) % 4]" in body(applied(program, "split_dims t 0 4"))


def test_a_packed_panel_is_split_along_the_vectors() -> None:
    program = state("kernel k\nin x: f32[64]\nout y: f32[3, 64]\n\nn:3 i:64 y[{0},{1}] = x[{1}]\n")
    program = applied(program, "create_temporary x at n", "tile_scope x_t_0 8", "tile_scope i 8")
    assert SplitDims("x_t", 0, 8) in SplitDims.candidates(program, setting())
    after = body(applied(program, "split_dims x_t 0 8", "reorder_dims x_t [1 0]"))
    assert "tmp x_t: f32[8, 8] order(1, 0)" in after
    assert "x_t[{0},{1}] = x[{0} * 8 + {1}]" in after
    assert "= x_t[{1},{2}]" in after


def split_somewhere(program: Program, rng: random.Random) -> SplitDims | None:
    found = [
        SplitDims(b.name, d, f)
        for b in program.buffers
        for d, n in enumerate(b.shape)
        for f in range(2, const_int(n))
    ]
    legal = [m for m in found if m.why_not(program, setting()) is None]
    return rng.choice(legal) if legal else None


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_random_programs_keep_every_bit(part: int) -> None:
    made = 0
    for seed in range(part * 50, part * 50 + 50):
        rng = random.Random(f"layout {seed}")
        start = program = prepare(bind(generate(seed)))
        for name in (*MOVES, "split_dims"):
            found = list(get_transform(name).candidates(program, setting()))
            move = rng.choice(found) if found else None
            if name == "split_dims" and (move is None or rng.random() < 0.7):
                move = split_somewhere(program, rng)
            if move is None:
                continue
            made += 1
            program = move.apply(program, setting())
            check_state(program)
        inputs = random_inputs(start, seed, "normal")
        assert not first_difference(interpret(program, inputs), interpret(start, inputs)), seed
    assert made > 50
