"""The planned text of a product, rows and a convolution, as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import plan
from perfdojo.compiler.text.render import render
from tests.kernels.library import program
from tests.plan.targets import TARGETS

HERE = Path(__file__).parent
SIZES = {
    "matmul": {"M": 50, "N": 60, "K": 300},
    "matmul_bias_relu": {"M": 6, "N": 16, "K": 8},
    "softmax": {"B": 4, "N": 100},
    "conv3x3": {"N": 2, "C": 3, "H": 9, "W": 20, "O": 10},
    "dwconv3x3": {"N": 1, "C": 2, "H": 9, "W": 24},
    "gemv": {"M": 9, "N": 64},
    "mean_first": {"B": 18, "N": 40},
    "transpose": {"M": 33, "N": 48},
    "maxpool2": {"N": 1, "C": 2, "H": 3, "W": 20},
}


def test_planned_text_of_products_of_bytes(golden: Callable[[Path, str], None]) -> None:
    bound = bind(program("matmul_i8"), {"M": 26, "N": 80, "K": 67})
    golden(HERE / "matmul_i8.avx512_vnni.golden", render(plan(bound, get_target("avx512:vnni"), "strict", 1)))


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("name", SIZES)
def test_planned_text(name: str, target: str, golden: Callable[[Path, str], None]) -> None:
    made = plan(bind(program(name), SIZES[name]), TARGETS[target], "reassoc", 1)
    golden(HERE / f"{name}.{target}.golden", render(made))
