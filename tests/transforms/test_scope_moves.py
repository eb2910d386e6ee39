"""Moves of scopes and siblings: each condition by a program that violates just it, and random sequences."""

from __future__ import annotations

import pytest

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import legal
from tests.transforms.scope_sequences import fault
from tests.transforms.states import applied, body, reason, setting, state

HEAD = (
    "kernel k\nin x: f32[4, 6]\nin u: f32[1, 6]\nin g: i64[6] values(0, 4)\n"
    "out y: f32[4, 6]\ninout z: f32[9, 6]\ntmp s: f32[]\ntmp t: f32[9]\n"
)
COPY = "a:4 b:6 y[{0},{1}] = x[{0},{1}]"
SCOPES = ("reorder", "join_scopes", "fission_scope", "swap_siblings", "collapse_scopes", "peel_scope")
ALL = (*SCOPES, "unroll", "sequential", "drop_scope", "add_scope", "simplify_conditions", "tile_scope")

REFUSED = {
    "reorder: the inner scope is not alone": (
        ("i:4 z[{0},0] = 1", "| j:6 z[{0},{1}] = x[{0},{1}]"),
        "reorder i j",
        "1: scope j is not all that is directly in scope i",
    ),
    "reorder: an element is written before it is read, in another order": (
        ("i:4 j:4 z[{0}+1,{1}] = z[{0},{1}+1]",),
        "reorder i j",
        "2: z writes z[1,1] at i = 0, j = 1 and z reads it at i = 1, j = 0; they would change places",
    ),
    "reorder: one storage for all elements": (
        ("i:4 j:6 s[] = x[{0},{1}]", "| | z[{0},{1}] = s[]"),
        "reorder i j",
        "2: s writes s[] at i = 0, j = 1 and s writes it at i = 1, j = 0; they would change places",
    ),
    "reorder: a scope inside does not run in parallel outside": (
        ("i:4 j:4@parallel z[{0} - {1} + 4,0] = x[{0},{1}]",),
        "reorder i j",
        "3: scope j could not stay @parallel: iterations 0 and 1 both write z[4,0]",
    ),
    "reorder: threads in lanes": (
        ("i:4@parallel j:6@vector z[{0},{1}] = x[{0},{1}]",),
        "reorder i j",
        "3: scope i is @parallel and would lie in j, which is @vector",
    ),
    "join: something is between": (
        ("i:4 z[{0},0] = 1", "s[] = 0", "j:4 z[{0},1] = s[]"),
        "join_scopes i j",
        "1: scope j does not stand directly behind scope i",
    ),
    "join: the wrong way round": (
        ("i:4 z[{0},0] = 1", "j:4 z[{0},1] = 2"),
        "join_scopes j i",
        "1: scope i does not stand directly behind scope j",
    ),
    "join: no common iteration": (
        ("i:4 z[{0},0] = 1", "j:4 z[{0},1] = 2"),
        "join_scopes i j shift 4",
        "2: shifted by 4, scope j shares none of the 4 iterations of scope i",
    ),
    "join: a read ahead": (
        ("i:5 z[{0},0] = 1", "j:4 z[{0},1] = z[{0}+1,0]"),
        "join_scopes i j",
        "3: z writes z[1,0] at i = 1 and z_2 reads it at j = 0; they would change places",
    ),
    "join: a gather may read anything": (
        ("i:4 z[{0},0] = 1", "j:4 z[{0},1] = z[g[{0}],0]"),
        "join_scopes i j shift 2",
        "3: z can write z[3,0] at i = 3 and z_2 can read it at j = 0; they would change places",
    ),
    "join: other marks": (
        ("i:4@parallel z[{0},0] = 1", "j:4 z[{0},1] = 2"),
        "join_scopes i j",
        "4: scopes i and j run in different ways, @parallel and unmarked",
    ),
    "join: the shift makes iterations depend on each other": (
        ("i:5@parallel z[{0},0] = 1", "j:4@parallel z[{0},1] = z[{0}+1,0]"),
        "join_scopes i j shift 1 -> r",
        "",
    ),
    "join: iterations that hand on what is shifted": (
        ("i:4@parallel z[{0},0] = 1", "j:4@parallel z[{0},1] = z[{0},0]"),
        "join_scopes i j shift 1",
        "4: scope i could not stay @parallel: iteration 0 writes z[0,0] and iteration 1 reads it",
    ),
    "fission: nothing before": (
        ("i:4 z[{0},0] = 1", "| r: z[{0},1] = 2"),
        "fission_scope i at z",
        "1: nothing stands before z in scope i",
    ),
    "fission: deeper": (
        ("i:4 z[{0},0] = 1", "| j:2 r: z[{0},{1}+1] = 2"),
        "fission_scope i at r",
        "1: r stands in scope j, not directly in scope i",
    ),
    "fission: at the top": (
        ("s[] = 1", "i:4 z[{0},0] = s[]", "| r: z[{0},1] = 2"),
        "fission_scope i at s",
        "1: s stands in no scope, not directly in scope i",
    ),
    "fission: a scalar holds one value at a time": (
        ("i:4 s[] = x[{0},0]", "| z[{0},0] = s[]"),
        "fission_scope i at z",
        "2: z reads s[] at i = 0 and s writes it at i = 1; they would change places",
    ),
    "fission: what was private is shared": (
        ("i:8@parallel t[{0}%2] = u[0,0]", "| r: z[{0},0] = {0} > 8 ? t[5] : 0"),
        "fission_scope i at r",
        "3: scope i could not stay @parallel: iterations 0 and 2 both write t[0]",
    ),
    "swap: not neighbours": (
        ("i:4 z[{0},0] = 1", "j:4 z[{0},1] = 2", "s[] = 3"),
        "swap_siblings i s",
        "1: s does not stand directly behind i",
    ),
    "swap: a value is used": (
        ("s[] = 1", "i:4 z[{0},0] = s[]"),
        "swap_siblings s i",
        "2: s writes s[] and z reads it at i = 0; they would change places",
    ),
    "swap: a reduction comes first": (
        ("i:4 t[{0}] = 0", "j:5 t[{0} + 4] = 0", "l:4 t[{0}] = 1", "m:4 r: t[{0} + 4] += 1"),
        "swap_siblings l m",
        "",
    ),
    "swap: a reduction comes first and would start": (
        ("i:4 t[{0}] = 0", "j:4 r: t[{0}+4] += 1 if {0} > 4"),
        "swap_siblings i j",
        "3: r would be the first in the text to write t, and so start it",
    ),
    "collapse: the inner scope is not alone": (
        ("i:4 z[{0},0] = 1", "| j:6 z[{0},{1}] = x[{0},{1}]"),
        "collapse_scopes i j",
        "1: scope j is not all that is directly in scope i",
    ),
    "collapse: other marks": (
        ("i:4@parallel j:6 z[{0},{1}] = x[{0},{1}]",),
        "collapse_scopes i j",
        "2: scopes i and j run in different ways, @parallel and unmarked",
    ),
    "collapse: lanes": (
        ("i:4@vector j:6@vector z[{0},{1}] = x[{0},{1}]",),
        "collapse_scopes i j",
        "2: scope i is @vector",
    ),
    "collapse: too many": (
        ("i:4294967296 j:4294967296 z[0,0] = 1",),
        "collapse_scopes i j",
        "3: scopes i and j have over 2^62 iterations together",
    ),
    "peel: all of it": ((COPY,), "peel_scope a at 4", "1: 4 does not cut the 4 iterations of scope a in two"),
    "peel: again more than there are": (
        (COPY,),
        "peel_scope a at 2 again 3",
        "2: 3 iterations cannot be repeated, as 2 stand before the cut",
    ),
    "peel: a sum counts twice": (
        ("i:4 z[{0},0] += 1",),
        "peel_scope i at 2 again 1",
        "3: an iteration of scope i cannot run twice: it uses what it writes later",
    ),
    "peel: what is private cannot be copied": (
        ("i:4 j:4@parallel s[] = x[{0},{1}]", "| | z[{0},{1}] = s[]"),
        "peel_scope i at 2",
        "4: s is private to the iterations of j, which is @parallel; a copy of it would share that",
    ),
    "unroll: marked": (
        ("i:4@parallel z[{0},0] = 1",),
        "unroll i",
        "2: scope i is marked @parallel",
    ),
    "unroll: too much": (
        ("i:40 j:6@unroll k:5@unroll z[0,0] = 1",),
        "unroll i",
        "3: a statement in scope i would be written out 1200 times, over 1024",
    ),
    "sequential: no mark": ((COPY,), "sequential a", "1: scope a has no mark"),
    "drop: too many iterations": ((COPY,), "drop_scope a", "1: scope a has 4 iterations"),
    "add: too deep": (
        (" ".join(f"d{n}:1" for n in range(64)) + " z[0,0] = 1",),
        "add_scope d5",
        "1: d5 is part of 64 nested scopes already",
    ),
    "simplify: nothing is decided": (
        ("i:4 z[{0},0] = 1 if {0} < 3",),
        "simplify_conditions i",
        "1: no condition in i is the same in all iterations",
    ),
    "simplify: a reduction comes first": (
        ("i:4 t[{0}] = 0 if {0} > 5", "j:4 r: t[{0}] += 1 if {0} > 4"),
        "simplify_conditions t",
        "2: r would be the first in the text to write t, and so start it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_says_why(name: str) -> None:
    lines, move, expected = REFUSED[name]
    found = reason(_state(*lines), move)
    assert found.startswith(expected) if expected else not found


def _state(*lines: str) -> Program:
    whole = ("o:4 p:6 y[{0},{1}] = x[{0},{1}]", *lines) if lines != (COPY,) else lines
    return state("\n".join((HEAD, *whole)) + "\n")


MADE = {
    "a shifted join reads what was just written": (
        ("i:5 z[{0},0] = 1", "j:4 z[{0},1] = z[{0}+1,0]"),
        "join_scopes i j shift 1",
        ("i:5 z[{0},0] = 1.0", "| z[{0} - 1,1] = z[{0},0] if {0} >= 1"),
    ),
    "a join of other extents": (
        ("i:3 z[{0},0] = 1", "j:5 z[{0},1] = 2 if {0} > 1"),
        "join_scopes i j",
        ("i:5 z[{0},0] = 1.0 if {0} < 3", "| z[{0},1] = 2.0 if {0} > 1"),
    ),
    "a cut of 1, no scope left": (
        ("i:4 z[{0},0] = x[{0} // 3,{0} * 2 % 5]",),
        "peel_scope i at 1 ; drop_scope i ; peel_scope i_t at 2 ; drop_scope i_t_t",
        (
            "z[0,0] = x[0,0]",
            "i_t:2 z_t: z[{0} + 1,0] = x[({0} + 1) // 3,({0} * 2 + 2) % 5]",
            "z_t_t: z[3,0] = x[1,1]",
        ),
    ),
    "a statement joins a scope": (
        ("s[] = 1", "i:4 z[{0},0] = s[]"),
        "add_scope s -> j ; join_scopes j i",
        ("j:4 s[] = 1.0 if {0} < 1", "| z[{0},0] = s[]"),
    ),
    "iterations that cancel out": (
        ("i:3 j:2 z[{0} * 2 + {1},({0} - {0}) // 2] = x[{1} - {1},{1} * 0 + {0}]",),
        "collapse_scopes i j",
        ("i_j:6 z[{0},0] = x[0,{0} // 2]",),
    ),
    "there and back": (
        ("i:6 z[{0},0] = x[{0} % 4,{0}]",),
        "tile_scope i 3 ; reorder i_o i_i ; reorder i_i i_o ; collapse_scopes i_o i_i -> i",
        ("i:6 z[{0},0] = x[{0} % 4,{0}]",),
    ),
    "a border cut off": (
        ("i:6 z[{0},0] = {0} > 0 and {0} < 5 ? x[0,{0} - 1] + x[0,{0} + 1] : 0",),
        "peel_scope i at 1 ; peel_scope i_t at 4 ; simplify_conditions i ; simplify_conditions i_t"
        " ; simplify_conditions i_t_t",
        (
            "i:1 z[{0},0] = 0.0",
            "i_t:4 z_t: z[{0} + 1,0] = x[0,{0}] + x[0,{0} + 2]",
            "i_t_t:1 z_t_t: z[{0} + 5,0] = 0.0",
        ),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_result(name: str) -> None:
    lines, moves, expected = MADE[name]
    made = applied(_state(*lines), *(m.strip() for m in moves.split(";")))
    assert body(made).endswith("\n\no:4 p:6 y[{0},{1}] = x[{0},{1}]\n" + "\n".join(expected))


def test_literal_keeps_its_type_where_a_choice_goes() -> None:
    """`1 < 1.5` alone would compare f64s."""
    program = _state("i:4 z[{0},0] = ({0} < 9 ? 0.1 : x[{0},0]) < 0.1 ? 1 : 2")
    assert reason(program, "simplify_conditions i").startswith("1: ")


def test_sums_of_floats_change_places_at_reassoc_only() -> None:
    program = _state("i:4 j:6 r: z[{0},0] += x[{0},{1}]", "| l:6 q: z[{0},0] += x[{0},{1}]")
    exact = setting(fp="strict")
    assert reason(program, "swap_siblings j l", exact).startswith("2: r updates z[0,0]")
    assert not reason(program, "swap_siblings j l")
    assert reason(program, "fission_scope i at l", exact) == ""
    scattered = _state("i:4 j:6 r: z[0,0] += x[{0},{1}]")
    assert reason(scattered, "reorder i j", exact).startswith("2: r updates z[0,0]")
    assert not reason(scattered, "reorder i j")


@pytest.mark.parametrize("seed", range(24))
def test_random_sequences_keep_the_meaning(seed: int) -> None:
    assert fault(seed, ALL) == ""


@pytest.mark.parametrize("name", SCOPES)
def test_random_moves_keep_the_meaning(name: str) -> None:
    for seed in range(500, 508):
        assert fault(seed, (name,), 2) == ""


def test_candidates_are_legal() -> None:
    program, at = _state(*MADE["a border cut off"][0], "j:6 z[{0},1] = z[{0},0]"), setting()
    found = [m for name in ALL for m in get_transform(name).candidates(program, at)]
    assert len(found) > 20
    assert list(legal(found, program, at)) == found
