"""Which large results the planner has stored past the caches: sums only where rows begin at lines."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import plan
from tests.kernels.library import program
from tests.plan.targets import TARGETS


@pytest.mark.parametrize(
    ("kernel", "sizes", "targets"),
    [
        ("add", {"M": 2048, "N": 2050}, "avx2 avx512"),
        ("add", {"M": 1024, "N": 1024}, ""),
        ("matmul", {"M": 2048, "N": 2064, "K": 64}, "avx512"),
        ("matmul", {"M": 2048, "N": 2056, "K": 64}, ""),
        ("matmul", {"M": 1024, "N": 1024, "K": 64}, ""),
        ("dwconv3x3", {"N": 8, "C": 64, "H": 112, "W": 112}, "avx512"),
        ("sum_last", {"B": 5_000_000, "N": 32}, ""),
    ],
)
def test_large_results_pass_by_the_caches(kernel: str, sizes: dict[str, int], targets: str) -> None:
    for name in ("c", "avx2", "avx512"):
        made = plan(bind(program(kernel), sizes), TARGETS[name], "reassoc", 1)
        (result,) = [b for b in made.buffers if b.role == "out"]
        assert result.nontemporal == (name in targets.split()), name
