"""The planner's quick tests of independence never claim more than the exact analysis."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from perfdojo.compiler.analysis.dependence import is_parallel, is_vectorizable
from perfdojo.compiler.analysis.touches import repeatable
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.plan.legal import can_fission, can_join, can_vectorize, independent
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.tree import find
from perfdojo.compiler.walk import scopes
from tests.kernels.library import program, texts
from tests.kernels.sizes import SIZES
from tests.random_programs.generate import generate


def programs() -> Iterator[Program]:
    for name in texts():
        yield explicit_starts(bind(program(name), dict(SIZES[name].prime)))
    for seed in range(60):
        yield explicit_starts(bind(generate(seed)))


def test_what_is_called_independent_is_parallel() -> None:
    claims = 0
    for p in programs():
        for scope in scopes(p):
            if independent(p, scope):
                claims += 1
                assert is_parallel(p, scope.name) is None
            if can_vectorize(p, scope, "reassoc"):
                assert is_vectorizable(p, scope.name) is None
    assert claims > 200


HEADER = """kernel k
in  x: f32[8, 9]
out y: f32[8, 9]
out z: f32[8, 9]
tmp t: f32[8, 9]
tmp r: f32[8, 9] reuse(0)

"""


def body(text: str) -> Program:
    return bind(parse(HEADER + text + "\n", "k.ir"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i:8 j:9 y[{0},{1}] = x[{0},{1}]", True),
        ("i:8 j:9 y[0,{1}] += x[{0},{1}]", False),
        ("i:8 j:9 r[{0},{1}] = x[{0},{1}]\n| | y[{0},{1}] = r[{0},{1}]", True),
        ("i:8 j:9 r[{0},{1}] = x[{0},{1}]\n| k:9 y[{0},{1}] = r[{0},{1}]", False),
        ("i:8 j:8 y[{0},{1}] = {0} > 0 ? y[{0}-1,{1}] : x[{0},{1}]", False),
        ("i:4 j:2 y[{0}*2+{1},0] = x[{0},{1}]", True),
        ("i:4 j:3 y[{0}*2+{1},0] = x[{0},{1}]", False),
    ],
)
def test_independence(text: str, expected: bool) -> None:
    p = body(text)
    assert independent(p, find(p, "i")) is expected


def test_fission_keeps_what_hands_over_in_one_iteration() -> None:
    handed = body("i:8 j:9 t[{0},{1}] = x[{0},{1}]\n| k:9 y[{0},{1}] = t[{0},{1}]")
    reused = body("i:8 j:9 r[{0},{1}] = x[{0},{1}]\n| k:9 y[{0},{1}] = r[{0},{1}]")
    assert can_fission(handed, find(handed, "i"), 1)
    assert not can_fission(reused, find(reused, "i"), 1)


def test_join_refuses_to_read_ahead() -> None:
    same = body("i:8 j:9 t[{0},{1}] = x[{0},{1}]\nk:8 l:9 y[{0},{1}] = t[{0},{1}]")
    ahead = body("i:8 j:9 t[{0},{1}] = x[{0},{1}]\nk:8 l:9 y[{0},{1}] = t[7-{0},{1}]")
    for p, expected in ((same, True), (ahead, False)):
        first, second = p.body
        assert isinstance(first, Scope)
        assert isinstance(second, Scope)
        assert can_join(p, first, second) is expected


def test_an_iteration_that_accumulates_may_not_run_twice() -> None:
    started = body("i:8 j:9 y_start: y[{0},{1}] = 0\n| | k:9 y[{0},{1}] += x[{0},{2}]")
    going_on = body("i:8 j:9 y[{0},{1}] = 0\nk:8 l:9 y2: y[{0},{1}] += x[{0},{1}]")
    assert repeatable(find(started, "i"))
    assert not repeatable(find(going_on, "k"))
