"""Large transposed results whose lines meet in memory are written in blocks; others are not."""

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.plan import plan, stores
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.walk import scopes
from tests.plan.meaning import assert_same_meaning
from tests.plan.targets import TARGETS

BODIES = {
    "copy": "m:128 n:49 y[{1},{0}] = x[{0},{1}]",
    "more_operands": "m:128 n:49 y[{1},{0}] = 2 * x[{0},{1}] + r[{0}] - c[{1}]",
    "other_order": "n:49 m:128 y[{0},{1}] = x[{1},{0}]",
    "conditional": "m:128 n:49 y[{1},{0}] = {0} < {1} ? x[{0},{1}] : r[{0}]",
}


def _program(body: str, dtype: str) -> Program:
    text = f"kernel k\nin x: {dtype}[128, 49]\nin r: {dtype}[128]\nin c: {dtype}[49]\n"
    return bind(parse(f"{text}out y: {dtype}[49, 128]\n\n{body}\n", "k.ir"))


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32", "i8"])
def test_blocks_keep_the_bits(name: str, target: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LARGE_BYTES", 64)
    assert_same_meaning(_program(BODIES[name], dtype), TARGETS[target], "strict")


@pytest.mark.parametrize(
    ("sizes", "blocks", "ahead"),
    [((512, 512), False, 0), ((4000, 4000), False, 0), ((4096, 4096), True, 64), ((4224, 4000), True, 64)],
)
def test_which_transposes_are_done_in_blocks(sizes: tuple[int, int], blocks: bool, ahead: int) -> None:
    m, n = sizes
    text = f"kernel k\nin x: f32[{m}, {n}]\nout y: f32[{n}, {m}]\n\nm:{m} n:{n} y[{{1}},{{0}}] ="
    made = plan(bind(parse(text + " x[{0},{1}]\n", "k.ir")), TARGETS["avx512"], "reassoc", 1)
    names = [s.name for s in scopes(made)]
    assert (names[:4] == ["m_o_o", "n_o_o", "m_o_i", "n_o_i"]) == blocks
    assert made.buffer("x").prefetch == ahead
