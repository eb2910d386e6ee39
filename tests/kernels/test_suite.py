"""The benchmark suite agrees with the library and with the figures that were published for it."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.suite import KERNELS, Benchmark, benchmarks, named
from perfdojo.compiler.bind import bind
from perfdojo.compiler.walk import const_int
from tests.kernels.library import program

FIGURES = Path(__file__).with_name("suite_figures.csv")
SUITE = {b.name: b for b in benchmarks()}


def test_work_and_traffic_are_the_published_figures() -> None:
    with FIGURES.open(encoding="utf-8") as file:
        rows = [(r["benchmark"], *(int(v) for v in list(r.values())[1:])) for r in csv.DictReader(file)]
    assert rows == [(b.name, b.flops, b.transcendental, b.read_bytes, b.write_bytes) for b in benchmarks()]


def test_every_kernel_of_the_suite_is_measured() -> None:
    assert {b.kernel for b in benchmarks()} == set(KERNELS)


@pytest.mark.parametrize("benchmark", SUITE.values(), ids=SUITE)
def test_arguments_are_those_of_the_library_kernel(benchmark: Benchmark) -> None:
    bound = bind(program(benchmark.kernel), benchmark.sizes)
    arguments = {b.name: (b.role, b.dtype.name, math.prod(map(const_int, b.shape))) for b in bound.arguments}
    inputs = {n: ("in", "f32", math.prod(shape)) for n, shape in benchmark.inputs.items()}
    outputs = {n: ("out", "f32", math.prod(shape)) for n, shape in benchmark.outputs.items()}
    assert list(arguments.items()) == list({**inputs, **outputs}.items())


def test_inputs_are_the_same_each_time_and_of_their_scale() -> None:
    first, second = SUITE["softmax_8x1000"].generate(), SUITE["softmax_8x1000"].generate()
    assert (first["x"] == second["x"]).all()
    assert first["x"].dtype == np.float32
    weights = SUITE["ffn_swiglu_64x256x1024"].generate()
    assert weights["w1"].std() == pytest.approx(256**-0.5, rel=0.05)
    assert weights["w2"].std() == pytest.approx(1024**-0.5, rel=0.05)
    small = Benchmark("b", "batchnorm", "", {}, {"var": (1000,)}, {}, 0, 0)
    assert small.generate()["var"].min() >= 0.5


def test_a_name_is_a_benchmark_or_a_kernel_at_sizes() -> None:
    assert named("matmul_64x64x64") == SUITE["matmul_64x64x64"]
    other = named("matmul_M7_N512_K33")
    assert (other.kernel, other.sizes, other.inputs["b"]) == (
        "matmul",
        {"M": 7, "N": 512, "K": 33},
        (33, 512),
    )
    assert named("mean_last_B3_N5").kernel == "mean_last"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("matmul", "matmul has the sizes M K N: matmul_M64_K64_N64"),
        ("matmul_M7", "matmul has the sizes M K N"),
        ("matmul_M7_M8_N8_K9", "matmul has the sizes M K N"),
        ("matmul_M7_N8_K9_Z3", "matmul has the sizes M K N"),
        ("matmul_M0_N1_K1", "matmul has the sizes M K N"),
        ("matmul_64x64", "matmul has the sizes M K N"),
        ("nope_B1", "the suite has no kernel that nope_B1 begins with: add mul"),
        (f"matmul_M{10**20}_N1_K1", "takes over 16 GiB"),
    ],
)
def test_a_name_that_is_neither_is_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        named(name)
