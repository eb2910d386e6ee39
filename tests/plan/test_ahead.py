"""What the planner fetches ahead: large arguments read by twos, and rows of the products of a batch."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import plan
from perfdojo.compiler.text.parse import parse
from tests.kernels.library import program
from tests.plan.targets import TARGETS


def distances(kernel: str, target: str, **sizes: int) -> dict[str, int]:
    made = plan(bind(program(kernel), sizes), TARGETS[target], "reassoc", 1)
    return {b.name: b.prefetch for b in made.buffers if b.prefetch}


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_large_squares_are_fetched_ahead(target: str) -> None:
    assert distances("maxpool2", target, N=8, C=16, H=64, W=64) == {"x": 3072}
    assert distances("maxpool2", target, N=1, C=1, H=64, W=64) == {}


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_rows_of_a_batch_are_fetched_a_tile_ahead(target: str) -> None:
    assert distances("bmm", target, B=64, M=96, N=64, K=128) == {"a": 6 * 128}
    assert distances("bmm", target, B=2, M=96, N=64, K=128) == {}, "small enough for a cache"
    assert distances("matmul", target, M=2048, N=64, K=256) == {}, "all products use the same rows"


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_the_next_slice_is_fetched_while_one_is_padded(target: str) -> None:
    assert distances("dwconv3x3", target, N=8, C=128, H=56, W=56) == {"x": 56 * 56}
    assert distances("dwconv3x3", target, N=1, C=128, H=56, W=56) == {}, "small enough for a cache"
    assert distances("dwconv3x3", target, N=1, C=32, H=400, W=400) == {}, "one slice fills a cache"
    assert distances("dwconv3x3", "c", N=8, C=128, H=56, W=56) == {}


def test_what_the_writer_said_stays() -> None:
    text = (
        "kernel k\nin x: f32[1024, 1024] prefetch(64)\nout y: f32[1024, 512]\n\n"
        "1024 512 y[{0},{1}] = x[{0},2*{1}] + x[{0},2*{1}+1]\n"
    )
    made = plan(bind(parse(text, "k.ir"), {}), TARGETS["avx512"], "reassoc", 1)
    assert made.buffer("x").prefetch == 64
