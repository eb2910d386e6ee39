"""The planner keeps the meaning, bit for bit: the library at odd sizes, random products, random programs."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import contractions, packing, plan
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import scopes
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes
from tests.plan.meaning import assert_same_meaning
from tests.plan.products import product
from tests.plan.targets import TARGETS
from tests.random_programs.generate import generate

REMAINDERS = (1, 3, 7, 8, 9, 13, 25, 31, 40)
"""Below a vector, whole vectors, a vector and a rest, for 8 and for 16 lanes."""

WIDE = ("avx2", "avx512")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", texts())
def test_every_kernel_keeps_its_bits_at_1_and_at_primes(name: str, target: str) -> None:
    ones, primes, *_ = odd_sizes(name)
    assert_same_meaning(bind(program(name), ones), TARGETS[target], "reassoc")
    assert_same_meaning(bind(program(name), primes), TARGETS[target], "strict")
    assert_same_meaning(bind(program(name), primes), TARGETS[target], "reassoc", threads=2)


@pytest.mark.parametrize("target", WIDE)
@pytest.mark.parametrize("name", ["matmul", "matmul_nt", "matmul_tn", "matmul_bias_gelu", "gemm_f64"])
def test_products_keep_their_bits_with_every_remainder(name: str, target: str) -> None:
    for n in REMAINDERS:
        rows = 1 + n % 7
        assert_same_meaning(bind(program(name), {"M": rows, "N": n, "K": 5}), TARGETS[target], "reassoc")
        assert_same_meaning(bind(program(name), {"M": n, "N": 16 + rows, "K": 3}), TARGETS[target], "reassoc")


@pytest.mark.parametrize("target", WIDE)
def test_blocks_of_rows_keep_their_bits(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contractions, "ROWS_BYTES", 2048)
    monkeypatch.setattr(packing, "SMALL_BYTES", 0)
    before = bind(program("matmul_bias_relu"), {"M": 80, "N": 560, "K": 20})
    made = plan(before, TARGETS[target], "reassoc", 1)
    assert {"m_o", "m_i_o"} <= {s.name for s in scopes(made)}, "the rows are not blocked"
    assert_same_meaning(before, TARGETS[target], "reassoc")


@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("target", WIDE)
def test_random_products_keep_their_bits(target: str, part: int) -> None:
    for seed in range(part * 6, (part + 1) * 6):
        before = bind(parse(product(seed), f"product {seed}"))
        verify(before)
        assert_same_meaning(before, TARGETS[target], "reassoc", threads=1 + seed % 2)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("target", WIDE)
def test_random_programs_keep_their_bits(target: str, part: int) -> None:
    for seed in range(part * 6, (part + 1) * 6):
        before = bind(generate(seed))
        assert_same_meaning(before, TARGETS[target], "strict")
        assert_same_meaning(before, TARGETS[target], "reassoc", threads=2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(50))
@pytest.mark.parametrize("target", WIDE)
def test_many_random_products_and_programs_keep_their_bits(target: str, part: int) -> None:
    for seed in range(1000 + part * 40, 1000 + (part + 1) * 40):
        assert_same_meaning(bind(parse(product(seed), f"product {seed}")), TARGETS[target], "reassoc")
        assert_same_meaning(bind(generate(seed)), TARGETS[target], "strict")


@pytest.mark.parametrize("target", WIDE)
@pytest.mark.parametrize("kind", ["special", "denormal", "huge"])
@pytest.mark.parametrize("name", ["conv3x3", "dwconv3x3", "softmax", "max_last", "maxpool2d"])
def test_infinities_nans_and_zeros_stay_where_they_were(name: str, kind: str, target: str) -> None:
    _, primes, *_ = odd_sizes(name)
    assert_same_meaning(bind(program(name), primes), TARGETS[target], "strict", kind=kind)


def test_marks_of_the_writer_stay() -> None:
    text = "kernel k\nin x: f32[64, 64]\nout y: f32[64, 64]\n\nn:64@unroll m:64 y[{0},{1}] = x[{1},{0}]\n"
    before = bind(parse(text, "k.ir"))
    assert plan(before, TARGETS["avx2"], "reassoc", 1) == before


def test_at_strict_a_float_sum_keeps_its_order_and_the_rest_still_gets_lanes() -> None:
    made = plan(bind(program("softmax"), {"B": 4, "N": 16}), TARGETS["avx2"], "strict", 1)
    marks = {s.name: s.mark for s in made.body[0].body if hasattr(s, "mark")}  # type: ignore[union-attr]
    assert marks == {"n": "", "n_2": "vector", "n_2_2": "", "n_3": "vector"}
