"""Moves on the values of statements: what they must not evaluate, types of literals, random programs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.numpy_types import NUMPY
from tests.transforms.random_moves import wrong_moves
from tests.transforms.states import applied, body, reason, setting, state

HEAD = (
    "kernel k\nin x: f32[4, 4]\nin v: f32[4]\nin g: i64[4] values(0, 4)\ninout h: f32[4]\n"
    "out y: f32[4, 4]\ntmp t: f32[4]\ntmp s: f32[]\ntmp b: bool[4]\n\n"
)


@pytest.mark.parametrize(
    ("text", "move", "why"),
    [
        # a value of another iteration
        (
            "i:4 s[] = x[{0},0]\nj:4 k:4 y[{0},{1}] = s[]\n",
            "inline s",
            "3: the value of s depends on scope i, which does not index s and is not around each read "
            "in one iteration",
        ),
        # an alias of storage
        (
            "i:4 t[{0}] = h[{0}]\nj:4 h[3-{0}] = t[{0}]\nk:4 l:4 y[{0},{1}] = h[{0}]\n",
            "inline t",
            "4: h can write h, which t loads, before h reads t",
        ),
        # a concurrent scope in which the loaded element would be written
        (
            "i:4 t[{0}] = h[{0}] * 2.0\nj:4@parallel u: y[{0},0] = t[{0}]\n| h[3-{0}] = 0.0\n"
            "k:4 l:3 y_2: y[{0},{1}+1] = v[{0}]\n",
            "inline t",
            "4: h can write h, which t loads, before u reads t",
        ),
        (
            "i:4 t[{0}] = {0} < 3 ? h[{0}+1] : 1.0\nj:4@parallel u: y[{0},0] = t[{0}]\n| h[{0}] = 0.0\n"
            "k:4 l:3 y_2: y[{0},{1}+1] = v[{0}]\n",
            "inline t",
            "6: scope j is marked @parallel, but then iteration 0 reads h[1] and iteration 1 writes it",
        ),
        # a condition that keeps an index inside cannot be read from memory
        (
            "i:4 j:4 y[{0},{1}] = {0} > 0 ? x[{0}-1,{1}] : 0.0\n",
            "hoist y at j",
            "2: no operation of y is the same in all iterations of j",
        ),
        # what a guard leaves out may be outside, or not written
        (
            "i:4 j:4 y[{0},{1}] = 0.0\n| | u: y[{0},{1}] = v[{0}+1] * 2.0 if {0} < 3\n",
            "hoist u at j",
            "2: no operation of u is the same in all iterations of j",
        ),
        (
            "i:4 t[{0}] = v[{0}] if {0} < 3\n| j:4 y[{0},{1}] = {0} < 3 and {1} < 3 ? t[{0}] * 2.0 : 0.0\n",
            "hoist y at j",
            "2: no operation of y is the same in all iterations of j",
        ),
        # what a condition leaves out another thread may be writing
        (
            "i:4@parallel h[{0}] = v[{0}]\n| j:4 y[{0},{1}] = {0} < 1 and {1} < 2 ? h[0] * 2.0 : 0.0\n",
            "hoist y at j",
            "2: no operation of y is the same in all iterations of j",
        ),
        # a condition on data may be another one each time
        (
            "i:4 j:4 y[{0},{1}] = 0.0\n| | u: y[{0},{1}] = v[{0}] * 2.0 + 1.0 if h[{0}] < 1.0\n",
            "outline u number 2",
            "4: data decide whether u happens",
        ),
        # what is private to a scope is not, where there are two such scopes
        (
            "i:4 k:4@vector t[0] = v[{0}]\n4 4 y[{0},{1}] = 0.0\n",
            "double_buffer t by i ahead",
            "4: t can be private to the iterations of k, which is @vector",
        ),
        # the guard keeps the target inside, or where something was written
        (
            "i:4 t[{0}] = v[{0}]\ni2:3 j2:4 k:4 t[{0}+{1}] += x[{0},{2}] if {0} + {1} < 4\n"
            "4 4 y[{0},{1}] = t[{0}]\n",
            "split_reduction t_2 by k",
            "6: only the guard of t_2 keeps its target inside t",
        ),
        (
            "i:4 t[{0}] = v[{0}] if {0} < 3\ni2:4 k:4 t[{0}] += x[{0},{1}] if {0} < 3\n"
            "4 4 y[{0},{1}] = {0} < 3 ? t[{0}] : 0.0\n",
            "split_reduction t_2 by k",
            "6: without the guard of t_2, t_2_c would read elements of t that nothing wrote",
        ),
    ],
)
def test_refused(text: str, move: str, why: str) -> None:
    assert reason(state(HEAD + text), move) == why


def test_outlining_under_a_guard_of_iterations() -> None:
    text = "i:4 j:4 y[{0},{1}] = 0.0\n| | u: y[{0},{1}] = v[{0}] * 2.0 + 1.0 if {0} != 1 and {1} < 2\n"
    assert "u_v[] = v[{0}] * 2.0 if {0} != 1 and {1} < 2" in body(
        applied(state(HEAD + text), "outline u number 2")
    )


def test_recomputing_what_an_index_of_the_buffer_itself_reads() -> None:
    text = "i:1 u[{0}] = 3\nj:4 k:4 y[{0},{1}] = x[u[min(max(u[{0} % 1], 0), 0)] % 4,{1}] + f32(u[0])\n"
    program = state(HEAD.replace("tmp b", "tmp u: i64[1]\ntmp b") + text)
    after = applied(program, "recompute u at k")
    assert "u[" not in body(after)
    inputs = random_inputs(program, 0, "normal")
    assert first_difference(interpret(after, inputs), interpret(program, inputs)) == ""


def test_hoisting_tells_zeros_apart() -> None:
    program = state(HEAD + "i:4 j:4 y[{0},{1}] = x[{0},{1}] + v[{0}] * 0.0 + v[{0}] * -0.0\n")
    assert "y_h[] + y_h_2[]" in body(applied(program, "hoist y at j"))


def test_what_a_condition_asks_stays() -> None:
    text = "i:4 j:4 y[{0},{1}] = f32({0} * 2) + ({0} * 2 + {1} >= 1 ? x[({0} * 2 + {1} - 1) // 4,0] : 0.0)\n"
    assert ">= 1" in body(applied(state(HEAD + text), "hoist y at j"))


def test_levels_are_asked() -> None:
    program = state(HEAD + "s[] = 0.0\ni:4 s[] += v[{0}] * v[{0}]\n4 4 y[{0},{1}] = x[{0},{1}] / s[]\n")
    strict = setting(fp="strict")
    moves = ("split_reduction s_2 by i", "contract_fma s_2", "reciprocal y")
    assert [reason(program, m, strict)[0] for m in moves] == ["4", "1", "1"]
    assert [reason(program, m, setting(fp="fast")) for m in moves] == ["", "", ""]


def test_a_literal_keeps_its_type() -> None:
    program = state(HEAD + "s[] = 0.1\ni:4 b[{0}] = s[] < 0.1\n4 4 y[{0},{1}] = b[{0}] ? 1.0 : 2.0\n")
    assert "f32(0.1) < 0.1" in body(applied(program, "inline s"))


def test_an_index_that_data_decide_is_inlined() -> None:
    program = state(HEAD + "i:4 t[{0}] = v[{0}] * 2.0\nj:4 k:4 y[{0},{1}] = t[g[{0}]]\n")
    assert "v[g[{0}]] * 2.0" in body(applied(program, "inline t"))


def test_constants_in_indices_are_folded() -> None:
    text = "i:4 j:2 t2[{0},{1}] = x[{0},{1} * 2]\nk:4 l:4 y[{0},{1}] = t2[{0} * 3 % 4,1]\n"
    program = state(HEAD.replace("tmp s", "tmp t2: f32[4, 2]\ntmp s") + text)
    assert "x[{0} * 3 % 4,2]" in body(applied(program, "recompute t2 at k"))
    assert "x[{0} * 3 % 4,2]" in body(applied(program, "inline t2"))


def test_chains_do_not_explode() -> None:
    names = [f"t{n}" for n in range(9)]
    text = "kernel k\nin x: f32[4]\nout y: f32[4]\n" + "".join(f"tmp {n}: f32[4]\n" for n in names)
    text += "\n4 t0[{0}] = x[{0}] + x[{0}]\n"
    text += "".join(f"4 {b}[{{0}}] = {a}[{{0}}] * {a}[{{0}}]\n" for a, b in pairwise(names))
    program = state(text + "4 y[{0}] = t8[{0}]\n")
    reasons = []
    for name in names:
        reasons.append(reason(program, f"inline {name}"))
        if not reasons[-1]:
            program = applied(program, f"inline {name}")
    assert any(r.startswith("5") and "the limit is 256" in r for r in reasons)


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_a_reciprocal_stays_in_the_bound_of_a_division(kind: str) -> None:
    header = "kernel k\nin a: f32[500]\nin b: f32[500]\nout y: f32[500]\n\n".replace("f32", kind)
    program = state(header + "500 y[{0}] = a[{0}] / b[{0}]\n")
    after = applied(program, "reciprocal y", at=setting(fp="fast"))
    rng = np.random.default_rng(7)
    for low, high in ((-2, 2), (-7, 4), (-40, 40)):
        with np.errstate(all="ignore"):
            a, b = (
                (rng.standard_normal(500) * 10.0 ** rng.uniform(low, high, 500)).astype(NUMPY[kind])
                for _ in range(2)
            )
            got = interpret(after, {"a": a, "b": b})
            verdict = compare(got, reference(program, {"a": a, "b": b}, "fast"))
        assert verdict.passed, verdict.message


EXACT = ("inline", "recompute", "hoist")
BOUNDED: tuple[tuple[str, FpLevel], ...] = (
    ("split_reduction", "reassoc"),
    ("contract_fma", "contract"),
    ("reciprocal", "fast"),
)


@pytest.mark.parametrize("name", EXACT)
def test_random_programs_keep_their_bits(name: str) -> None:
    made, wrong = wrong_moves(name, range(24))
    assert not wrong, "\n".join(wrong[:2])
    assert made > 5


@pytest.mark.parametrize(("name", "fp"), BOUNDED)
def test_random_programs_stay_in_the_bound(name: str, fp: FpLevel) -> None:
    made, wrong = wrong_moves(name, range(24), fp, exact=False)
    assert not wrong, "\n".join(wrong[:2])
    assert made > 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fp"), [*((n, "reassoc") for n in EXACT), *BOUNDED])
def test_thousands_of_random_programs(name: str, fp: FpLevel) -> None:
    made, wrong = wrong_moves(name, range(10_000, 12_000), fp, exact=name in EXACT)
    assert not wrong, "\n".join(wrong[:2])
    assert made > 100


def test_a_guard_that_keeps_a_mark_true_is_not_dropped() -> None:
    program = state(
        "kernel k\nin x: i64[2, 3]\nout y: i64[1]\n\ny[0] = 0\n"
        "i:2@parallel j:3 y[0] += x[{0},{1}] if {0} != {0}\n"
    )
    why = reason(program, "split_reduction y_2 by j around j")
    assert why.startswith("6: without the guard of y_2, scope i is marked @parallel")
