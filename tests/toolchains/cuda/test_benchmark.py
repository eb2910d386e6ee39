"""The benchmark for machines with a GPU: what it says without one, its cases, its limits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.cuda import CASES, Call, Case, interleaved, limit_s, made, ratio
from perfdojo.toolchains.cuda.gpu import find_gpu

A100 = {"MultiProcessorCount": 108, "ClockRate": 1_410_000}
"""Of the SXM4 form: 19.5 TFLOP/s of f32, 312 of f16 on tensor cores, 1555 GB/s."""


@pytest.mark.skipif(not find_gpu(), reason="there is a GPU")
def test_without_a_gpu_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cuda"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "nothing is timed" in done.stdout


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.kernel)
def test_cases_are_emitted(case: Case) -> None:
    program, emitted = made(case)
    assert emitted.kernel == program.name
    given = {a.name for a in emitted.arguments if a.role == "in"}
    names = {"cp", "torch", "nn", "o"} | given
    for text in filter(None, (case.cupy, case.torch)):
        assert set(compile(text, "peer", "eval").co_names) & given, "a peer works on the inputs"
        assert {n for n in compile(text, "peer", "eval").co_names if len(n) == 1} <= names


def test_limits_are_those_of_the_device() -> None:
    product, _, rows = CASES[0], CASES[1], CASES[2]
    emitted = made(product)[1]
    assert limit_s(product, emitted, 1 / 1555e9, A100, "80") == pytest.approx(2 * 4096**3 / 19.5e12, rel=0.01)
    assert limit_s(rows, made(rows)[1], 1 / 1555e9, A100, "80") == pytest.approx(
        8 * 4096**2 / 1555e9, rel=0.01
    )


def test_contenders_run_in_turn() -> None:
    order: list[int] = []

    def timed(call: Call) -> float:
        call()
        return 1.0

    times = interleaved([lambda: order.append(0), lambda: order.append(1)], timed, 3)
    assert order == [0, 1, 1, 0, 0, 1]
    assert times == [[1.0] * 3, [1.0] * 3]
    assert ratio([1.0] * 9, [2.0] * 9) == "2.00 (2.00 to 2.00)"
