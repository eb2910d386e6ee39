"""What is not measured cannot win: bounds lie below costs, and what is too large or too slow has a reason."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import parse_schedule
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.roofline import Rate, Roofline, Stream
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.tuning.limits import accumulators, host_limit, snitch_limit, written_out
from perfdojo.tuning.pruning import BEHIND, Pruner
from perfdojo.tuning.runners.replay import ReplayRunner
from perfdojo.tuning.runners.snitch import SnitchRunner
from perfdojo.tuning.space import Point, Space
from perfdojo.tuning.tune import Tuner
from tests.tuning.problems import problem

MATMUL = """kernel mm
in  a: f32[64, 64]
in  b: f32[64, 64]
out c: f32[64, 64]

i:64 j:64 k:64 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""
MACHINE = Roofline(
    "one that computes 100 G/s and moves 10 GB/s",
    (Rate(1, "f32", 64, 100e9),),
    tuple(Stream(1, access, 1 << 20, 10e9) for access in ("write", "copy", "triad", "read")),
)


def made(moves: str, target: str = "avx512", text: str = MATMUL) -> Point:
    space = Space(problem(text, target), random.Random(0))
    return space.of_schedule(parse_schedule(f"schedule mm\n{moves}\nend\n"))


def test_code_that_is_written_out_is_counted() -> None:
    target = problem(MATMUL, "avx512").setting.target
    assert written_out(made("unroll j").program, target) == 64 + 2 * 64
    assert written_out(made("vectorize j").program, target) == 4 + 2 * 4


def test_registers_of_a_tile_are_counted() -> None:
    target = problem(MATMUL, "avx512").setting.target
    tile = "tile_scope j 32 -> jo ji\ntile_scope i {} -> io ii\nreorder ii jo\nplan rows {} vectors 2"
    assert accumulators(made("plan rows 6 vectors 2").program, target) == 12
    assert accumulators(made(tile.format(4, 4)).program, target) <= 8


def test_bounds_of_a_host_follow_operations_and_lanes() -> None:
    target, cpu = problem(MATMUL, "avx512").setting.target, find_host().cpu
    plain = host_limit(made("").program, target, MACHINE, cpu, 1)
    lanes = host_limit(made("plan").program, target, MACHINE, cpu, 1)
    assert lanes == pytest.approx(2 * 64**3 / 100e9, rel=0.01)
    assert plain == pytest.approx(16 * lanes, rel=0.01), "a sum that keeps its order runs one by one"


@dataclass
class Bounded(ReplayRunner):
    """A program costs at least ten, or a thousand with a loop over 64 that no lanes run."""

    def least(self, program: Program) -> float:
        return 10.0 if any(p.node.mark == "vector" for p in program.scopes.values()) else 1000.0


def test_reasons() -> None:
    pruner = Pruner(problem(MATMUL, "avx512"), Bounded())
    assert pruner.why_not(made("plan"), 20.0) == ""
    exps = MATMUL.replace("a[{0},{2}]", "exp(sin(exp(sin(exp(sin(exp(sin(exp(a[{0},{2}])))))))))")
    assert pruner.why_not(made("unroll j", text=exps), None) == "code size"
    assert pruner.why_not(made("reorder j k\nunroll i\nvectorize j"), None) == "registers"
    assert pruner.why_not(made(""), 20.0) == "cost model"
    assert pruner.why_not(made(""), 1000.0 / BEHIND) == ""


def test_a_bound_that_was_wrong_is_believed_less() -> None:
    pruner = Pruner(problem(MATMUL, "avx512"), Bounded())
    pruner.learn(made("plan"), 8.0)
    pruner.learn(made("plan"), 12.0)
    assert pruner.trust == pytest.approx(0.8)
    assert pruner.why_not(made("plan"), 7.5) == ""


def test_a_search_says_what_it_removed() -> None:
    found = Tuner(problem(MATMUL, "avx512"), Bounded(), "random", 1).run(1e9, 40)
    assert found.progress.removed.keys() <= {"code size", "registers", "cost model"}
    assert found.progress.removed.total() > 0


@pytest.mark.parametrize("text", [MATMUL.replace("64", "8"), None])
def test_bounds_of_snitch_lie_below_cycles(text: str | None) -> None:
    asked = (
        problem(target="snitch", unit="cycles") if text is None else problem(text, "snitch", unit="cycles")
    )
    runner = SnitchRunner(asked, find_tools())
    space = Space(asked, random.Random(3))
    points = [space.planned, space.start, *(space.longer(space.start, 3) for _ in range(4))]
    for point, tried in zip(points, runner.measure(points, None), strict=True):
        if tried.outcome == "ok":
            assert runner.least(point.program) <= tried.samples[0], point.text
            assert snitch_limit(point.program, asked.setting.target, 1) > 0
