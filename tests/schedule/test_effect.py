"""What a move does is told in words."""

from __future__ import annotations

import pytest

from perfdojo import Session
from perfdojo.compiler.schedule.difference import effect

TEXT = """
kernel k
in  x: f32[64, 1000]
out y: f32[64, 1000]
tmp s: f32[64] reuse(0)

b:64 n:1000 s[{0}] += x[{0},{1}]
| m:1000 y[{0},{1}] = s[{0}] * x[{0},{1}] + 1
"""


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("tile_scope m 8", "m -> m_o:125, m_i:8"),
        ("tile_scope m 16 remainder peel", "m -> m_o:62, m_i:16, m_t:8; new statement y_t"),
        ("vectorize m", "m runs @vector"),
        ("prefetch x 64", "x: prefetch(64)"),
        ("nontemporal y", "y: nontemporal"),
        ("set_space s stack", "s: space(stack)"),
        ("materialize_dims s [0]", "s: without reuse(0)"),
        ("expand_buffer s by b", "s[64] reuse(0) -> s[64, 64] reuse(1)"),
        ("contract_fma y", "y = fma(s[{0}], x[{0},{1}], 1.0)"),
    ],
)
def test_the_effect_of_a_move(move: str, words: str) -> None:
    s = Session(TEXT, target="avx2")
    before = s.program
    assert effect(before, s.apply(move)) == words


def test_what_only_moved_is_told_by_its_new_order() -> None:
    s = Session("kernel k\nout y: f32[4]\nout z: f32[1]\n\ni:4 y[{0}] = 1\nz[0] = 2\n", target="c")
    assert effect(s.start, s.apply("swap_siblings i z")) == "order z, i, y"
