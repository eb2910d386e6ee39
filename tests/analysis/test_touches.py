"""Whether an iteration may run twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfdojo.compiler import ir
from perfdojo.compiler.analysis.touches import repeatable
from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse

HEADER = "kernel k\nin x: f32[8]\ninout y: f32[8]\ntmp q: f32[]\n\n8 "


def _scope(line: str) -> ir.Scope:
    (scope,) = bind(parse(f"{HEADER}{line}\n")).body
    assert isinstance(scope, ir.Scope)
    return scope


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y[{0}] = x[{0}]", True),
        ("q[] = x[{0}]\n| y[{0}] = q[]", True),
        ("y[{0}] += x[{0}]", False),
        ("y[{0}] = x[{0}] if x[{0}] < 0", False),
        ("y[{0}] = y[{0}] + x[{0}]", False),
        ("y[{0}] = q[]\n| q[] = x[{0}]", False),
        ("2 y[{0}] = x[{0}]\n| 2 y[7-{0}] = x[{0}]", True),
        ("2 q[] = x[{0}]\n| 2 y[{0}] = q[]", False),
    ],
)
def test_what_is_written_anew_may_run_twice(line: str, expected: bool) -> None:
    assert repeatable(_scope(line)) == expected


def test_a_read_is_none_the_less_a_read_when_it_is_the_written_access_itself() -> None:
    scope = _scope("y[{0}] = y[{0}] + x[{0}]")
    (s,) = scope.body
    assert isinstance(s, ir.Statement)
    shared = replace(s, value=ir.Op("fma", (s.value, s.value, s.target)))
    assert not repeatable(replace(scope, body=(shared,)))
