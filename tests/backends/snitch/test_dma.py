"""@dma scopes on the simulated cluster: orders for the DMA engine, overlap with the cores, tiles."""

from __future__ import annotations

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.lir import Copy, Stmt
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.text import render
from perfdojo.compiler.lowering.walk import BLOCKS
from perfdojo.compiler.recipes import run_recipe
from perfdojo.compiler.recipes.tcdm_tiles import fits
from perfdojo.compiler.schedule import History, prepare
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import measure
from tests.backends.direct import checked
from tests.backends.snitch.clusters import built, disagreement
from tests.backends.snitch.test_cores import shared
from tests.toolchains.snitch.conftest import tools
from tests.transforms.states import setting

__all__ = ["tools"]

SNITCH = get_target("snitch")


def orders(text: str) -> list[Copy]:
    return _orders(lower(checked(text), SNITCH, "strict").body)


def _orders(body: tuple[Stmt, ...]) -> list[Copy]:
    found: list[Copy] = []
    for s in body:
        found += [s] if isinstance(s, Copy) else _orders(s.body) if isinstance(s, BLOCKS) else []
    return found


@pytest.mark.parametrize(
    ("copy", "shape", "order"),
    [
        ("4@dma 8 t[{0},{1}] = x[{0},{1}]", "4, 8", (256, 1, 0, 0)),
        ("4@dma 4 t[{0},{1}] = x[{0} + 1,{1} + 2]", "4, 4", (32, 4, 32, 64)),
        ("8@dma 4 t[{1},{0}] = x[{1},{0}]", "4, 8", (256, 1, 0, 0)),
        ("4@dma t[{0},0] = x[{0},3]", "4, 1", (8, 4, 8, 64)),
        ("4@dma 2 t[{0},{1}] = x[7 - {0},{1}]", "4, 2", (16, 4, 16, -64)),
        ("2@dma 4 t[{0},{1}] = x[{0} + 3,2 * {1}]", "2, 4", (8, 8, 8, 16)),
    ],
)
def test_neighbours_are_rows_and_rows_at_equal_distances_one_order(
    copy: str, shape: str, order: tuple[int, ...], tools: Tools
) -> None:
    first, second = shape.split(", ")
    text = f"kernel k\nin x: f64[8, 8]\nout y: f64[{shape}]\ntmp t: f64[{shape}] space(tcdm)\n"
    text += f"{copy}\n{first} {second} y[{{0}},{{1}}] = t[{{0}},{{1}}] * 2\n"
    found = orders(text)
    assert [(c.bytes, c.rows, c.to_step, c.from_step) for c in found] == [order]
    made = built(checked(text), tools)
    assert (made.emitted.cores, made.emitted.dma, made.emitted.memory) == (1, True, "main")
    assert disagreement(made, checked(text)) == ""


TILES = """kernel tiles
in x: f64[6, 64]
out y: f64[6, 64]
tmp t: f64[2, 64] space(tcdm)
tmp u: f64[2, 64] space(tcdm)

64@dma t[0,{0}] = x[0,{0}]
b:6 64@dma t[({b} + 1) % 2,{1}] = x[{b} + 1,{1}] if {b} + 1 < 6
| h:8@core 8@stream u[{b} % 2,{h}*8 + {2}] = t[{b} % 2,{h}*8 + {2}] * 2
| 64@dma y[{b},{1}] = u[{b} % 2,{1}]
"""


def test_a_tile_is_copied_while_the_one_before_is_used(tools: Tools) -> None:
    assert shared(TILES) == "d|(dc|d)d"
    assert disagreement(built(checked(TILES), tools), checked(TILES)) == ""


def test_the_engine_waits_for_what_it_has_written_itself() -> None:
    text = "kernel k\nin x: f64[8]\nout y: f64[8]\ntmp t: f64[8] space(tcdm)\n"
    text += "8@dma t[{0}] = x[{0}]\n8@dma y[{0}] = t[7 - {0}]\n"
    function = lower(checked(text), SNITCH, "strict")
    assert shared(text) == "ddd"
    assert "wait for copies" in render(function).split("copy y")[0]


def test_what_is_no_copy_is_done_by_a_core_and_says_why(tools: Tools) -> None:
    text = "kernel k\nin x: f64[8]\nout y: f64[8]\n8@dma y[{0}] = x[{0}] + 1\n"
    notes = lower(checked(text), SNITCH, "strict").notes
    assert notes == ("scope i0: not copied by the DMA engine, what it writes to y is computed",)
    assert disagreement(built(checked(text), tools), checked(text)) == ""


def test_arguments_in_main_memory_are_not_streamed() -> None:
    text = TILES.replace("= t[{b} % 2,{h}*8 + {2}] * 2", "= x[{b},{h}*8 + {2}]")
    found = lower(checked(text), SNITCH, "strict")
    assert (
        "scope i2: not streamed, x lies in main memory, as arguments do where a scope is @dma" in found.notes
    )


def test_products_too_large_for_the_tcdm_pass_through_it_in_tiles(tools: Tools) -> None:
    text = "kernel p\nin a: f64[32, 128]\nin b: f64[128, 128]\nout c: f64[32, 128]\n"
    text += "32 128 128 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]\n"
    assert not fits(checked(text))
    program = _tiled(text)
    assert [s for s, p in program.scopes.items() if p.node.mark == "dma"] == [
        *("a_t_0", "b_t_0_f", "b_t_0", "c_t_0_out")
    ]
    made = built(program, tools, "reassoc")
    assert disagreement(made, program) == ""
    found = measure(made, random_inputs(program, 0, "normal"))
    # and the waits for the FPU, which move a register
    assert found.fpu_issues is not None
    assert 0 < found.fpu_issues - 32 * 128 * 128 < 2000
    assert found.utilisation is not None
    # tiles of 16 rows: the first ones come in, the last ones go out while no core computes
    assert found.utilisation > 0.85


def test_elementwise_arrays_pass_through_the_tcdm_in_tiles(tools: Tools) -> None:
    text = "kernel e\nin a: f64[]\nin x: f64[9000]\ninout y: f64[9000]\n9000 y[{0}] = a[] * x[{0}] + y[{0}]\n"
    program = _tiled(text)
    made = built(program, tools, "reassoc")
    assert (made.emitted.cores, made.emitted.dma) == (8, True)
    assert disagreement(made, program) == ""


def test_the_default_plan_takes_tiles_where_arguments_do_not_fit(tools: Tools) -> None:
    text = "kernel r\nin x: f64[N]\nout y: f64[N]\nN y[{0}] = maxnum(x[{0}], 0)\n"
    small, large = (checked(text.replace("kernel r\n", f"kernel r\nsize N = {n}\n")) for n in (1024, 16384))
    assert [(e.dma, e.memory) for e in (emit(small, "snitch"), emit(large, "snitch"))] == [
        (False, "tcdm"),
        (True, "main"),
    ]


def _tiled(text: str) -> Program:
    history = History(prepare(checked(text)), setting("snitch"))
    run_recipe(history, "tcdm_tiles")
    return history.program
