"""Problems: an extension of a target counts where a kernel has types for it, else its code is the same."""

from __future__ import annotations

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.transforms.base import Setting
from perfdojo.finding import read_kernel
from perfdojo.tuning.machines import narrowed


@pytest.mark.parametrize(
    ("kernel", "target", "kept"),
    [("relu", "avx512:vnni,bf16", "avx512"), ("matmul_i8", "avx512:vnni", "avx512:vnni"), ("relu", "c", "c")],
)
def test_extensions_without_types_are_left_out(kernel: str, target: str, kept: str) -> None:
    setting = Setting(get_target(target))
    assert narrowed(bind(read_kernel(kernel), {}), setting).target.spelled == kept
