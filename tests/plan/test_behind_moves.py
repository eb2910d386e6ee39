"""The planner takes whatever moves have made: it never fails, and what it makes means the same."""

from __future__ import annotations

import random

import pytest

from perfdojo.compiler.interpret import compare, interpret, random_inputs, reference
from perfdojo.compiler.transforms.plan import Plan
from perfdojo.session import Session
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.space import Space

SMALL = {"transpose": {"M": 34, "N": 18}, "matmul": {"M": 12, "N": 20, "K": 16}, "softmax": {"B": 5, "N": 40}}


@pytest.mark.parametrize(
    ("kernel", "fp", "moves"),
    [
        ("transpose", "strict", ["tile_scope m 16", "tile_scope m_o 6 remainder mask"]),
        ("transpose", "fast", ["tile_scope m 64", "peel_scope m_i at 1"]),
        (
            "matmul",
            "fast",
            ["tile_scope n 12 remainder mask", "tile_scope n_o 6 remainder mask", "contract_fma c"],
        ),
    ],
)
def test_what_has_no_tiles_of_a_cluster_stays(kernel: str, fp: str, moves: list[str]) -> None:
    session = Session(kernel, "snitch", fp)  # type: ignore[arg-type]
    for move in moves:
        session.apply(move)
    session.apply("plan")


@pytest.mark.parametrize("target", ["avx2", "avx512", "neon", "cuda", "snitch", "c"])
@pytest.mark.parametrize("kernel", SMALL)
def test_random_moves_then_the_planner(kernel: str, target: str) -> None:
    session = Session(kernel, target, sizes=SMALL[kernel])
    space = Space(Problem(session.original, session.setting), random.Random(f"{kernel} {target}"))
    inputs = random_inputs(session.original, 1, "normal")
    bound = reference(session.original, inputs, "reassoc")
    for _ in range(6):
        point = space.longer(space.start, 3)
        planned = space.made((*point.moves, Plan(rows=space.rng.randrange(5), sums=space.rng.randrange(4))))  # type: ignore[misc]
        verdict = compare(interpret(planned.program, inputs), bound)
        assert verdict.passed, f"{planned.text}{verdict.message}"
