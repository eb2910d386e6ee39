"""Steps of a reduction: when those of @unroll become one loop, and which short loops stay loops."""

from __future__ import annotations

import pytest

from perfdojo.compiler.lowering.lir import For, If, Stmt
from tests.backends.direct import checked, disagreements, emitted
from tests.lowering.machines import EIGHT, SCALAR, lowered

HEAD = "kernel k\nin x: f32[64]\nin i: i32[64] values(0, 64)\nin w: f32[16, 4]\ninout s: f32[8]\n\n"
ONE_LOOP = [
    "16 4@unroll s[0] += x[{0} * 4 + {1}]",
    "16 4@unroll s[0] max= x[{0} * 4 + {1}]\n| | s[1] = x[{0} * 4 + {1}]",
    "16 4@unroll 8@unroll s[{2}] += x[({0} * 4 + {1}) // 3 + {2}] * x[63 - {1} - 4 * {0}]",
    "16 4@unroll s[0] += x[({0} * 4 + {1}) % 7] * f32(4 * {0} + {1})",
    "16 4@unroll s[0] += x[i[{0} * 4 + {1}]] if {0} * 4 + {1} < 50",
    "15 4@unroll s[0] += {0} * 4 + {1} > 2 ? x[{0} * 4 + {1} - 3] : 0",
    "16 4@unroll 1 8@vector s[{3}] += x[{0} * 4 + {1}]",
]
"""Statements behind `HEAD` whose steps are numbered through."""

TWO_SCOPES = {
    "no reduction": "2 4@unroll s[{0} * 4 + {1}] = x[{0} * 4 + {1}]",
    "the element depends on the step": "2 4@unroll s[{0} * 4 + {1}] += x[{0} * 4 + {1}]",
    "other strides": "8 4@unroll s[0] += x[{0} * 8 + {1}]",
    "other strides in a quotient": "16 4@unroll s[0] += x[({0} * 4 + 2 * {1}) // 2]",
    "other strides in a gather": "16 4@unroll s[0] += x[i[{1}]] * x[{0} * 4 + {1}]",
    "other strides in a guard": "16 4@unroll s[0] += x[{0} * 4 + {1}] if {1} < 2",
    "two dimensions": "16 4@unroll s[0] += w[{0},{1}] * w[{0},3 - {1}]",
    "the number alone": "16 4@unroll s[0] += x[{0} * 4 + {1}] * f32({1})",
    "a statement beside it": "16 4@unroll s[0] += x[{0} * 4 + {1}]\n| s[1] += 1",
    "a loop in it": "16 4@unroll 9 s[0] += x[({0} * 4 + {1}) // 8 + {2}]",
    "a scope that is not in order": "16@unroll 4@unroll s[0] += x[{0} * 4 + {1}]",
}


def loops(body: tuple[Stmt, ...]) -> list[For]:
    found: list[For] = []
    for s in body:
        if isinstance(s, For):
            found.append(s)
        if isinstance(s, For | If):
            found += loops(s.body)
    return found


@pytest.mark.parametrize("line", ONE_LOOP)
def test_steps_that_are_numbered_through_are_one_loop(line: str) -> None:
    assert [f.unroll for f in loops(lowered(HEAD + line + "\n", EIGHT).body)] == [4]
    # without lanes the vector scope is a loop
    assert loops(lowered(HEAD + line + "\n", SCALAR).body)[0].unroll == (0 if "@vector" in line else 4)


@pytest.mark.parametrize("why", TWO_SCOPES)
def test_steps_that_are_not_stay_written_out(why: str) -> None:
    assert [f.unroll for f in loops(lowered(HEAD + TWO_SCOPES[why] + "\n").body) if f.unroll] == []


def test_short_loops_around_many_accumulators_stay_loops() -> None:
    head = "kernel k\nin x: f32[4, 4]\nin w: f32[17, 16]\nout y: f32[4, 16]\nout z: f32[16]\n\n"
    few = "3 16@vector z[{1}] += w[{0},{1}]\n"
    tile = "3 4@unroll 16@vector y[{1},{2}] += x[{1},{0}] * w[{0},{2}]\n"
    around = "4 3 4@unroll 16@vector y[{2},{3}] += x[{2},{1}] * w[{0},{3}]\n"
    # gcc leaves longer ones alone
    long = "17 4@unroll 16@vector y[{1},{2}] += x[{1},{0} % 3] * w[{0},{2}]\n"
    for text, expected in ((tile, [1]), (around, [1, 1]), (long, [0])):
        assert [f.unroll for f in loops(lowered(head + text + few).body)] == [*expected, 0]
    assert "#pragma GCC unroll 1\n" in emitted(checked(head + tile + few), "avx2").emitted.files[0][1]


def test_both_compute_the_same() -> None:
    lines = [*ONE_LOOP, *TWO_SCOPES.values()]
    programs = [checked(HEAD.replace("kernel k", f"kernel k{n}") + f"{s}\n") for n, s in enumerate(lines)]
    cases = [emitted(p, target) for target in ("c", "avx2") for p in programs]
    for target in range(2):
        some = cases[target * len(lines) : (target + 1) * len(lines)]
        assert "#pragma GCC unroll 4" in some[0].emitted.files[0][1]
        assert not disagreements(some, kinds=("normal",))
