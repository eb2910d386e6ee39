"""Temporaries that the iterations of a parallel scope share by index, but not by content."""

from __future__ import annotations

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.lowering.lir import Allocate, For
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

OVERLAPPING = """\
kernel k
size N = 5000
in  x: f32[N]
out y: f32[N]
tmp t: f32[N + 1]

N@parallel 2 t[{0}+{1}] = x[{0}] * (f32({1}) + 1)
| y[{0}] = t[{0}] + t[{0}+1]
"""


def _allocations(text: str) -> tuple[int, tuple[str, ...]]:
    program = bind(parse(text))
    verify(program)
    body = lower(program, get_target("c"), "strict", threads=2).body
    copies = [s.copies for s in body if isinstance(s, Allocate)]
    return copies[0], next(s.private for s in body if isinstance(s, For))


def test_overlapping_windows_of_a_temporary_get_a_copy_for_each_thread() -> None:
    assert _allocations(OVERLAPPING) == (2, ("t",))


def test_elements_of_their_own_need_no_copies() -> None:
    apart = OVERLAPPING.replace("t: f32[N + 1]", "t: f32[N, 2]").replace("t[{0}+{1}]", "t[{0},{1}]")
    assert _allocations(apart.replace("t[{0}] + t[{0}+1]", "t[{0},0] + t[{0},1]")) == (1, ())
