"""Small programs and their target IR: what is kept in registers, runs in lanes, has no memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.lowering.text import render
from tests.lowering.machines import EIGHT, MASKED, SCALAR, lowered

HERE = Path(__file__).parent
CASES: dict[str, tuple[Target, FpLevel]] = {
    "softmax_row": (EIGHT, "reassoc"),
    "matmul_tile": (EIGHT, "contract"),
    "steps_of_a_sum": (EIGHT, "contract"),
    "convolution_scalar": (SCALAR, "strict"),
    "tail_masked": (MASKED, "reassoc"),
    "tail_narrower": (EIGHT, "strict"),
    "rows_masked": (MASKED, "contract"),
    "rows_narrower": (MASKED, "contract"),
    "guarded_lanes": (MASKED, "strict"),
    "gather_lanes": (MASKED, "strict"),
    "outer_lanes": (EIGHT, "reassoc"),
    "sum_around_blocks": (EIGHT, "reassoc"),
    "transposed": (EIGHT, "strict"),
    "every_second": (MASKED, "strict"),
    "temporaries": (SCALAR, "strict"),
    "fast_division": (SCALAR, "fast"),
    "products_of_bytes": (MASKED, "strict"),
    "products_of_bf16": (MASKED, "fast"),
}


@pytest.mark.parametrize("name", CASES)
def test_target_ir(name: str, golden: Callable[[Path, str], None]) -> None:
    target, fp = CASES[name]
    text = (HERE / f"{name}.ir").read_text("utf-8")
    golden(HERE / f"{name}.golden", render(lowered(text, target, fp)))
