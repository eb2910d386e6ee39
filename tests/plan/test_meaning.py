"""The planner keeps the meaning: every kernel of the library, at odd sizes, bit for bit."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan import plan
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.verify import verify
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes
from tests.plan.targets import TARGETS

REMAINDERS = (1, 3, 7, 8, 9, 13, 25, 31, 40)
"""Below a vector, whole vectors, a vector and a rest, for 8 and for 16 lanes."""


def assert_same_meaning(before: Program, target: Target, fp: FpLevel, threads: int = 1) -> None:
    after = plan(before, target, fp, threads)
    assert parse(render(after), "planned.ir") == after
    verify(after)
    inputs = random_inputs(before, zlib.crc32(before.name.encode()), "normal")
    expected, got = interpret(before, inputs), interpret(after, inputs)
    for name, values in expected.items():
        assert values.tobytes() == got[name].tobytes(), f"{name} differs:\n{render(after)}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", texts())
def test_every_kernel_keeps_its_bits_at_1_and_at_primes(name: str, target: str) -> None:
    ones, primes, *_ = odd_sizes(name)
    assert_same_meaning(bind(program(name), ones), TARGETS[target], "reassoc")
    assert_same_meaning(bind(program(name), primes), TARGETS[target], "strict")
    assert_same_meaning(bind(program(name), primes), TARGETS[target], "reassoc", threads=2)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("name", ["matmul", "matmul_nt", "matmul_tn", "matmul_bias_gelu", "gemm_f64"])
def test_products_keep_their_bits_with_every_remainder(name: str, target: str) -> None:
    for n in REMAINDERS:
        rows = 1 + n % 7
        assert_same_meaning(bind(program(name), {"M": rows, "N": n, "K": 5}), TARGETS[target], "reassoc")
        assert_same_meaning(bind(program(name), {"M": n, "N": 16 + rows, "K": 3}), TARGETS[target], "reassoc")


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("kind", ["special", "denormal", "huge"])
@pytest.mark.parametrize("name", ["conv3x3", "dwconv3x3", "softmax", "max_last", "maxpool2d"])
def test_infinities_and_nans_stay_where_they_were(name: str, kind: str, target: str) -> None:
    _, primes, *_ = odd_sizes(name)
    before = bind(program(name), primes)
    after = plan(before, TARGETS[target], "strict", 1)
    inputs = random_inputs(before, 7, kind)
    expected, got = interpret(before, inputs), interpret(after, inputs)
    for buffer, values in expected.items():
        np.testing.assert_array_equal(values, got[buffer])


def test_marks_of_the_writer_stay() -> None:
    text = "kernel k\nin x: f32[64, 64]\nout y: f32[64, 64]\n\nn:64@unroll m:64 y[{0},{1}] = x[{1},{0}]\n"
    before = bind(parse(text, "k.ir"))
    assert plan(before, TARGETS["avx2"], "reassoc", 1) == before
