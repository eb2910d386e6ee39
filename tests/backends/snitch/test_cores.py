"""@core scopes on the simulated cluster: what harts share, where they wait, that results are right."""

from __future__ import annotations

import random

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.lir import Barrier, For, Share, Stmt
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.recipes import run_recipe
from perfdojo.compiler.schedule import History, Scheduled, prepare
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import CycleMeasurement, measure
from tests.backends.direct import checked
from tests.backends.snitch.clusters import built, disagreement, spread
from tests.random_programs.generate import generate
from tests.toolchains.snitch.conftest import tools
from tests.transforms.states import setting

__all__ = ["tools"]

SNITCH = get_target("snitch")
SUMS = """kernel sums
in x: f64[8, 24]
out y: f64[8, 24]
out r: f64[]
tmp s: f64[8]
tmp t: f64[24]

h:8@core 24 s[{0}] += x[{0},{1}]
r[] = s[7] + s[0]
b:8@core 24 t[{1}] = x[{0},{1}] * r[]
| 24 y[{0},{1}] = t[23 - {1}] + s[{0}]
"""


def waits(body: tuple[Stmt, ...]) -> str:
    """Return the shares of a function: f first core, c cores, d DMA hart; | is a barrier, () a loop."""
    out = ""
    for s in body:
        match s:
            case Share():
                out += s.who[0]
            case Barrier():
                out += "|"
            case For():
                out += f"({waits(s.body)})"
    return out


def shared(text: str, cores: int = 8) -> str:
    return waits(lower(checked(text), SNITCH, "strict", cores=cores).body)


@pytest.mark.parametrize("cores", [1, 3, 8])
def test_all_harts_compute_what_one_would(cores: int, tools: Tools) -> None:
    program = checked(SUMS)
    made = built(program, tools, cores=cores)
    assert (made.emitted.cores, made.emitted.dma) == (cores, False)
    for kind in ("normal", "special"):
        assert disagreement(made, program, kind) == ""


def test_harts_wait_only_where_one_touches_what_another_wrote() -> None:
    head = "kernel k\nin x: f64[16]\nout y: f64[16]\nout z: f64[16]\n"
    own = "a:16@core y[{0}] = x[{0}]\nb:16@core z[{0}] = y[{0}]\n"
    # iteration i of both is the same hart's, iterations i and 15 - i are not
    assert shared(head + own) == "cc"
    assert shared(head + own.replace("y[{0}]\n", "y[15 - {0}]\n")) == "c|c"
    assert shared(head + own.replace("= y[{0}]\n", "= x[15 - {0}]\n")) == "cc"
    assert shared(head + own.replace("a:16@core", "a:16")) == "f|c"
    assert shared(head + own.replace("b:16@core", "b:16")) == "c|f"


def test_iterations_of_a_loop_around_wait_for_each_other_once() -> None:
    head = "kernel k\nin x: f64[4, 16]\nout y: f64[16]\ntmp t: f64[2, 16]\n16@core y[{0}] = 0\n"
    body = "4 16@core t[T,{1}] = x[{0},15 - {1}]\n| 16@core y[{1}] += t[T,15 - {1}]\n"
    assert shared(head + body.replace("T", "0")) == "c(|c|c)"
    # two halves by turns: what iteration n + 1 writes, n does not read
    assert shared(head + body.replace("T", "{0} % 2")) == "c(c|c)"
    # a sum stays with its hart in all iterations
    assert shared(head.replace("tmp t: f64[2, 16]\n", "") + "4 16@core y[{1}] += x[{0},{1}]\n") == "c(c)"


def test_private_temporaries_have_a_copy_for_each_core(tools: Tools) -> None:
    large = SUMS.replace("24", "240").replace("23", "239")
    source = dict(emit(checked(large), "snitch", scheduled=_as_it_is(checked(large))).files)["sums.c"]
    # 240 words and 20 more: copies start 4 banks apart
    assert "static _Alignas(64) double t_all[8][260];" in source
    assert "double *restrict const t = t_all[hart];" in source
    assert disagreement(built(checked(large), tools), checked(large)) == ""


def test_harts_write_nothing_back_that_others_have_changed(tools: Tools) -> None:
    # gcc's predictive commoning of stores would: rows lie four steps of a core's loop apart
    text = "kernel k\nin b: f32[]\nout y: f32[4, 4, 7]\nn:4@core m:7@unroll i:4@unroll y[{2},{0},{1}] = b[]\n"
    assert disagreement(built(checked(text), tools, cores=3), checked(text)) == ""


@pytest.mark.parametrize("seed", range(14))
def test_random_programs_mean_the_same_on_a_cluster(seed: int, tools: Tools) -> None:
    _random(seed, tools)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1600))
def test_many_random_programs_mean_the_same_on_a_cluster(seed: int, tools: Tools) -> None:
    _random(seed, tools)


def _random(seed: int, tools: Tools) -> None:
    rng = random.Random(seed)
    program = spread(prepare(bind(generate(seed, functions=False))), rng, rng.randint(2, 8))
    made = built(program, tools, cores=rng.choice((0, 0, 3)))
    for kind in ("normal", "special"):
        assert disagreement(made, program, kind, seed) == "", kind


PRODUCT = """kernel product
in a: f64[16, 16]
in b: f64[16, 16] pad(0, 8)
out c: f64[16, 16]
m:16 n:16 k:16 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""


def test_the_recipe_gives_each_core_rows_of_a_product(tools: Tools) -> None:
    found = _recipe(PRODUCT, "cores", tools)
    # each core computes 2 rows of 16 results in 512 cycles; about 150 pass before and behind
    assert found.fpu_issues is not None
    assert 0 < found.fpu_issues - 16**3 < 32
    assert found.cycles < 700


def test_the_recipe_takes_elements_by_turns_and_sums_by_parts(tools: Tools) -> None:
    add = "kernel add\nin x: f64[512]\nin y: f64[512]\nout z: f64[512]\n512 z[{0}] = x[{0}] + y[{0}]\n"
    dot = "kernel dot\nin x: f64[512]\nin y: f64[512]\nout z: f64[]\n512 z[] += x[{0}] * y[{0}]\n"
    assert _recipe(add, "cores", tools).cores == 8
    assert _recipe(dot, "cores", tools).cores == 8


def _recipe(text: str, recipe: str, tools: Tools) -> CycleMeasurement:
    history = History(prepare(checked(text)), setting("snitch"))
    run_recipe(history, recipe)
    made = built(history.program, tools, "reassoc")
    assert disagreement(made, history.program) == ""
    return measure(made, random_inputs(history.program, 0, "normal"))


def _as_it_is(program: Program) -> Scheduled:
    return Scheduled(program, "", "")


def test_a_core_scope_inside_of_what_one_core_runs_is_told() -> None:
    for mark in ("stream", "core"):
        text = "kernel k\nin x: f64[4, 8]\nout y: f64[4, 8]\n"
        text += f"m:4@{mark} n:8@core y[{{0}},{{1}}] = x[{{0}},{{1}}]\n"
        notes = lower(checked(text), SNITCH, "strict").notes
        assert notes == (f"scope n: not shared by cores, it is inside of @{mark}",)
        assert lower(checked(text), SNITCH, "strict", cores=1).notes == ()
