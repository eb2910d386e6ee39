"""Points are legal and read back; edits lead from one to another and lose nothing."""

from __future__ import annotations

import pytest

from perfdojo.compiler.interpret import compare, interpret, random_inputs, reference
from perfdojo.compiler.schedule import parse_schedule, replay
from perfdojo.tuning.space import Point, Space
from tests.tuning.problems import problem, space


def is_sound(s: Space, point: Point) -> None:
    """Check that a point's text makes its program, and that this computes what the kernel does."""
    assert point.moves is not None
    done = replay(s.problem.bound, parse_schedule(point.text, "point"), s.problem.setting)
    assert done.program == point.program
    assert not done.skipped if hasattr(done, "skipped") else True
    inputs = random_inputs(s.problem.bound, 1, "normal")
    verdict = compare(interpret(point.program, inputs), reference(s.problem.bound, inputs, "reassoc"))
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("seed", range(12))
def test_edits_are_legal_schedules(seed: int) -> None:
    s = space(seed, "avx2")
    point = s.longer(s.start, 4)
    for _ in range(6):
        point = s.edited(point)
        is_sound(s, point)


@pytest.mark.parametrize("seed", range(6))
def test_children_are_legal_schedules(seed: int) -> None:
    s = space(seed, "avx2")
    one, two = s.longer(s.start, 4), s.longer(s.start, 4)
    is_sound(s, s.crossed(one, two))


def test_moves_that_are_not_legal_any_more_are_left_out() -> None:
    s = space()
    point = s.of_schedule(parse_schedule("schedule rows\ntile_scope k 8\nunroll k_i\nunroll k_i\nend\n"))
    assert [str(m) for m in point.moves or ()] == ["tile_scope k 8", "unroll k_i"]
    assert s.made(m for m in (point.moves or ())[1:]).moves == ()


def test_the_same_seed_walks_the_same_way() -> None:
    walks = []
    for _ in range(2):
        s = space(5)
        point = s.start
        for _ in range(8):
            point = s.edited(point)
        walks.append(point.text)
    assert walks[0] == walks[1]


def test_recipes_are_points() -> None:
    s = space(0, "avx2")
    found = s.recipes()
    assert found
    for point in found:
        is_sound(s, point)


def test_keys_tell_problems_apart() -> None:
    one = problem()
    assert one.key == problem().key
    others = [problem(target="avx2"), problem(fp="strict"), problem(unit="cycles")]
    others.append(problem(one.text.replace("40", "48").replace("kernel rows", "kernel rows")))
    assert len({one.key, *(p.key for p in others)}) == 5
