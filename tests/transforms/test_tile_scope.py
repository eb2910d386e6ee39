"""tile_scope: tails that run iterations once more, on a kernel and on random programs."""

from __future__ import annotations

import random

import pytest

from perfdojo.compiler.analysis.touches import repeatable
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.transforms.base import extent_of
from perfdojo.compiler.transforms.tile_scope import TileScope
from tests.random_programs.generate import generate
from tests.transforms.states import applied, body, check_state, reason, setting, state

MATMUL = """kernel matmul
in a: f32[8, 5]
in b: f32[5, 11]
out c: f32[8, 11]

m:8 n:11 k:5 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""


def test_a_tail_is_as_wide_as_a_block() -> None:
    tiled = body(applied(state(MATMUL), "tile_scope n 4 remainder again"))
    assert "n_o:2 n_i:4 c_start: c[{0},{1} * 4 + {2}] = 0.0" in tiled
    assert "n_t:4 c_start_t: c[{0},{1} + 7] = 0.0" in tiled


def test_scopes_side_by_side_run_twice_as_one_does() -> None:
    moves = ("tile_scope m 6 remainder again", "reorder m_i n", "reorder m_o n", "reorder m_t n_t")
    program = applied(state(MATMUL), *moves, "join_scopes n n_t", "tile_scope n 4 remainder again")
    assert extent_of(program, "n_t") == 4


def test_a_sum_that_goes_on_does_not_run_twice() -> None:
    program = applied(state(MATMUL), "fission_scope n at k -> n2", "fission_scope m at n2 -> m2")
    assert reason(program, "tile_scope n2 4 remainder again").startswith("5: an iteration of scope n2")
    assert not reason(program, "tile_scope n2 4 remainder peel")


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_random_programs_keep_every_bit(part: int) -> None:
    made = 0
    for seed in range(part * 25, part * 25 + 25):
        program = prepare(bind(generate(seed)))
        rng = random.Random(f"again {seed}")
        scopes = [s for s, p in program.scopes.items() if extent_of(program, s) > 2 and repeatable(p.node)]
        for name in scopes:
            move = TileScope(name, rng.randint(2, extent_of(program, name) - 1), "again")
            if move.why_not(program, setting()) is not None:
                continue
            after = move.apply(program, setting())
            check_state(after)
            inputs = random_inputs(program, seed)
            assert not first_difference(interpret(program, inputs), interpret(after, inputs)), str(move)
            made += 1
    assert made > 20
