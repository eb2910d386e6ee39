"""Schedules of contractions take every remainder of rows, columns and steps: no planner has to step in."""

from __future__ import annotations

from functools import cache

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Statement
from perfdojo.compiler.schedule import replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.finding import default_schedule
from tests.kernels.library import program
from tests.transforms.states import check_state

# whole tiles; remainders of rows, columns and blocks; few columns; many steps, in blocks and whole; one step
MATRICES = (
    (96, 512, 64),
    (1021, 1021, 1021),
    (13, 5, 33),
    (2048, 2048, 2048),
    (31, 1300, 1031),
    (31, 271, 1),
)
IMAGES = ((64, 64, 56, 56), (23, 39, 13, 17), (24, 48, 5, 28), (16, 33, 3, 101))
KERNELS = {
    "matmul": ("MNK", MATRICES),
    "gemm_f64": ("MNK", MATRICES),
    "matmul_bias_relu": ("MNK", MATRICES),
    "matmul_tn": ("MNK", MATRICES[:3]),
    "matmul_i8": ("MNK", MATRICES),
    "matmul_f16": ("MNK", MATRICES[:3]),
    "matmul_bf16": ("MNK", MATRICES[:3]),
    "bmm": ("MNK", MATRICES[:3]),
    "conv1x1": ("OLC", MATRICES[:3]),
    "conv3x3": ("COHW", IMAGES),
}
NARROW = ("matmul_i8", "matmul_f16", "matmul_bf16")
PLANNED = {
    ("bmm", "neon"),
    ("bmm", "avx512"),
    ("matmul", "avx512"),
    ("conv1x1", "avx512"),
    ("gemm_f64", "avx512"),
    ("conv3x3", "neon"),
    *((k, t) for k in NARROW for t in ("avx2", "avx512")),
}
"""What has no schedule."""
CASES = [
    (kernel, dict(zip(names, values, strict=True)))
    for kernel, (names, sizes) in KERNELS.items()
    for values in sizes
]


_schedule = cache(default_schedule)


@pytest.mark.parametrize("target", ["avx2", "avx512", "neon"])
@pytest.mark.parametrize(("kernel", "sizes"), CASES, ids=str)
def test_schedule_applies_and_puts_every_product_in_lanes(
    kernel: str, sizes: dict[str, int], target: str
) -> None:
    if (kernel, target) in PLANNED:
        pytest.skip("the planner does it")
    schedule = _schedule(kernel, target)
    assert schedule is not None
    made = replay(bind(program(kernel), sizes), schedule, Setting(get_target(target))).program
    check_state(made)
    sums = [p for p in made.statements.values() if isinstance(p.node, Statement) and p.node.op == "+="]
    assert sums
    for place in sums:
        assert place.around[-1].mark == "vector", place.node.name
