"""Backends agree with the interpreter on random programs; `make check-long` runs 5,000 of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.parse import parse
from tests.native import build, case, disagreement
from tests.random_programs.coverage import coverage
from tests.random_programs.differential import disagreements
from tests.random_programs.generate import generate

SHARE = 48
"""Programs in one library: one test."""


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize(
    ("target", "fp"), [("c", "strict"), ("avx2", "strict"), ("avx2", "reassoc"), ("avx512", "reassoc")]
)
def test_random_programs_mean_the_same(target: str, fp: FpLevel, part: int) -> None:
    wrong = disagreements(range(part * SHARE, (part + 1) * SHARE), target, fp)
    assert not wrong, f"{len(wrong)} of {SHARE} programs\n" + "\n".join(wrong[:3])


FAULTS = (("x[n] + 1.0f", "x[n] + 1.0000001f"), ("n < 100", "n < 99"), ("x[n] +", "x[n ^ 1] +"))


@pytest.mark.parametrize(("right", "wrong"), FAULTS)
@pytest.mark.parametrize("fp", ["strict", "reassoc"])
def test_a_planted_fault_is_found(right: str, wrong: str, fp: FpLevel) -> None:
    text = "kernel k\nsize N = 100\nin x: f32[N]\nout y: f32[N]\n\nN y[{0}] = x[{0}] + 1.0\n"
    good = case("k", bind(parse(text)), "c", fp)
    (name, source), header = good.emitted.files
    assert right in source
    bad = replace(good, emitted=replace(good.emitted, files=((name, source.replace(right, wrong)), header)))
    inputs = random_inputs(good.program, 3, "normal")
    assert disagreement(build([good]), good, inputs, fp) == ""
    assert disagreement(build([bad]), bad, inputs, fp)


PARTS = {
    ("c", "strict"): 100,
    ("c", "reassoc"): 100,
    ("avx2", "strict"): 20,
    ("avx2", "reassoc"): 20,
    ("avx512", "reassoc"): 20,
}
"""Libraries of 50 programs for each target and level: 5,000 programs on c, 1,000 on the others."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "fp", "part"), [(*k, part) for k, n in PARTS.items() for part in range(n)]
)
def test_thousands_of_random_programs_mean_the_same(target: str, fp: FpLevel, part: int) -> None:
    wrong = disagreements(range(10_000 + part * 50, 10_000 + (part + 1) * 50), target, fp)
    assert not wrong, f"{len(wrong)} of 50 programs\n" + "\n".join(wrong[:3])


@pytest.mark.slow
def test_coverage_of_the_language_by_random_programs(capsys: pytest.CaptureFixture[str]) -> None:
    rows: Counter[str] = Counter()
    for seed in range(10_000, 15_000):
        rows.update(coverage(generate(seed)).keys())
    with capsys.disabled():
        print("\nprograms of 5,000 that use each row of the language:")
        print("\n".join(f"{n:6d}  {row}" for row, n in sorted(rows.items())))
    assert min(rows.values()) >= 20
