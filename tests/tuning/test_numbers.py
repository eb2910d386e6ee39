"""Numbers of the planner: those that a target has no use for are refused, the others make a difference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.plan.knobs import known_knobs
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.transforms.plan import Plan
from tests.backends.direct import checked

TEXT = """\
kernel k
in a: f32[16, 12]
in b: f32[12, 24]
in x: f32[64, 96]
out c: f32[16, 24]
out y: f32[64, 96]
out s: f32[2]
out t: f32[96]
16 24 12 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
64 96 y[{0},{1}] = x[{0},{1}] * 2 + 1
2 96 s[{0}] += x[{0},{1}]
64 96 t[{1}] += x[{0},{1}]
"""
NUMBERS: dict[str, Callable[[int], Plan]] = {
    "rows": lambda n: Plan(rows=n),
    "vectors": lambda n: Plan(vectors=n),
    "passes": lambda n: Plan(passes=n),
    "sums": lambda n: Plan(sums=n),
}
TARGETS = ("avx2", "avx512", "neon", "cuda", "snitch")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_is_no_use_is_refused_and_every_other_changes_the_code(
    number: str, target: str
) -> None:
    setting = Setting(get_target(target), "reassoc")
    program = checked(TEXT)
    plans = [NUMBERS[number](n) for n in (1, 2, 3)]
    made = {p.rewrite_for(program, setting) for p in plans if p.why_not(program, setting) is None}
    known = number in known_knobs(setting.target)
    assert (len(made) > 1) == known


def test_the_reason_names_the_target_and_what_it_has() -> None:
    why = Plan(vectors=2).why_not(checked(TEXT), Setting(get_target("snitch"), "reassoc"))
    assert why is not None
    assert "the planner of snitch has no number 'vectors'" in str(why)
    assert "it has rows, passes, sums" in str(why)
