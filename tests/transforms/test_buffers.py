"""Moves on the storage of buffers: marks that have to stay true, exact verdicts, random programs."""

from __future__ import annotations

import pytest

from tests.transforms.random_moves import wrong_moves
from tests.transforms.states import applied, body, reason, state

HEAD = (
    "kernel k\nin x: f32[4, 4]\nout y: f32[4, 4]\n"
    "tmp a: f32[4, 4]\ntmp b: f32[4, 4]\ntmp t: f32[4]\ntmp s: f32[]\ntmp q: f32[]\n\n"
)


@pytest.mark.parametrize(
    ("text", "move", "why"),
    [
        # each iteration of i reads what it wrote, but not before another one of a concurrent scope writes
        (
            "4@parallel t[{0}] = x[{0},0]\n4 4 y[{0},{1}] = t[0] + x[{0},{1}]\n",
            "reuse_dims t [0]",
            "3: without dimension 0 of t, y at i0_2 = 0, i1 = 0 would see what t wrote at i0 = 1",
        ),
        (
            "i:4@vector y[{0},0] = 0.0\n| t[{0}] = x[{0},0]\nj:3 k:4 y[{1},{0}+1] = t[{1}]\n",
            "reuse_dims t [0]",
            "3: without dimension 0 of t, y_2 at j = 0, k = 0 would see what t wrote at i = 1",
        ),
        # sequentially the element is dead, but a concurrent iteration may overwrite it
        (
            "i:4@parallel t[{0}] = x[{0},0]\nk:4 l:4 y[{0},{1}] = t[3]\n",
            "reuse_dims t [0]",
            "4: scope i is marked @parallel, but then iterations 0 and 1 both write t[*]",
        ),
        (
            "i:4@parallel j:4 a[{0},{1}] = x[{0},{1}]\n| l:4 y[{0},{1}] = a[{0},{1}]\n"
            "i2:4 j2:4 b[{1},{0}] = x[{0},{1}]\n| l2:4 y_2: y[{0},{1}] = b[{1},{0}]\n",
            "reuse_buffers a b",
            "",
        ),
        (
            "s[] = 1.0\ni:4 j:4 y[{0},{1}] = s[]\n| s[] = x[{0},0]\n",
            "expand_buffer s by i",
            "1: s is accessed outside scope i",
        ),
        (
            "s[] = 1.0\nz:1 s_2: s[] = 2.0\n| i:4 j:4 y[{1},{2}] = s[]\n| | u: s[] = x[{1},0]\n",
            "expand_buffer s by i",
            "1: s is accessed outside scope i",
        ),
        (
            "z:4 i:4 s[] = {0} + {1} == 0 ? 1.0 : s[] + 1.0\n| | y[{0},{1}] = s[]\n",
            "expand_buffer s by z",
            "2: an iteration of z can read what an earlier one wrote to s",
        ),
        # what an iteration of an outer scope left is read in the next one
        (
            "z:2 i:4 t[{1}] = {0} > 0 ? t[{1}] + 1.0 : x[0,{1}]\n| | y[{1},{0}] = t[{1}]\n"
            "j:4 k:2 y_2: y[{0},{1}+2] = x[{0},0]\n",
            "reuse_dims t [0]",
            "3: without dimension 0 of t, t at z = 1, i = 0 would see what t wrote at z = 0, i = 1",
        ),
        (
            "z:4 s[] = x[{0},0]\n| j:4 y[{0},{1}] = s[] + ({0} > 0 ? q[] : 0.0)\n| q[] = x[{0},1]\n",
            "reuse_buffers s q",
            "3: with one storage for s and q, y at z = 1, j = 0 would see what s wrote at z = 1",
        ),
        (
            "z:4 i:4 s[] = x[{0},{1}]\n| | y[{0},{1}] = s[]\n| q[] = x[{0},0]\n"
            "| j:4 t[{1}] = q[]\n| | s_2: s[] = t[{1}]\n| | y_2: y[{0},{1}] = s[]\n",
            "reuse_buffers s q",
            "3: with one storage for s and q, t at z = 0, j = 1 would see what s_2 wrote at z = 0, j = 0",
        ),
    ],
)
def test_refused(text: str, move: str, why: str) -> None:
    assert reason(state(HEAD + text), move) == why


def test_an_element_wise_chain_shares_one_buffer() -> None:
    text = "4 4 a[{0},{1}] = x[{0},{1}] * 2.0\n4 4 b[{0},{1}] = a[{0},{1}] + 1.0\n"
    program = state(HEAD + text + "4 4 y[{0},{1}] = b[{0},{1}]\n")
    assert "b" not in {b.name for b in applied(program, "reuse_buffers a b").buffers}


def test_a_scan_needs_one_element() -> None:
    text = "4 t[{0}] = {0} > 0 ? t[{0}-1] + x[{0},0] : 0.0\n| 4 y[{0},{1}] = t[{0}]\n"
    program = state(HEAD + text)
    after = applied(program, "reuse_dims t [0]")
    assert "tmp t: f32[4] reuse(0)" in body(after)
    assert applied(after, "materialize_dims t [0]") == program


def test_what_fission_needs() -> None:
    program = state(HEAD + "i:4 s[] = x[{0},0] * 2.0\n| j:4 y[{0},{1}] = s[]\n")
    assert reason(program, "fission_scope i at j").startswith("2")
    applied(program, "expand_buffer s by i", "fission_scope i at j")


MOVES = ("reuse_dims", "materialize_dims", "expand_buffer", "reuse_buffers", "delete_dead")


@pytest.mark.parametrize("name", MOVES)
def test_random_programs_keep_their_bits(name: str) -> None:
    made, wrong = wrong_moves(name, range(24))
    assert not wrong, "\n".join(wrong[:2])
    assert made > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_thousands_of_random_programs_keep_their_bits(name: str) -> None:
    made, wrong = wrong_moves(name, range(10_000, 12_000))
    assert not wrong, "\n".join(wrong[:2])
    assert made > 100
