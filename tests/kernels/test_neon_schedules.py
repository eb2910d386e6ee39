"""Schedules for NEON are no worse than the planner's code, by instructions and the model of a core."""

from __future__ import annotations

import platform
import shutil

import pytest

from benchmarks.neon_schedules import Figures, made, shipped, worse
from perfdojo.toolchains.loops import Loop
from perfdojo.toolchains.mca import NEWEST, OLDEST, Estimate, Model
from tests.native import can_run

needs_tools = pytest.mark.skipif(
    not can_run("neon")
    or platform.machine() == "aarch64"
    or not any(shutil.which(f"llvm-mca-{n}") for n in range(OLDEST, NEWEST + 1)),
    reason="needs gcc-aarch64-linux-gnu, qemu-user and llvm-19, on another machine than AArch64",
)
V1 = Model("neoverse-v1", "aarch64", 4)


def figures(instructions: int, share: float, busy: float) -> Figures:
    return Figures(instructions, {V1.name: Estimate(V1, Loop(".L1", (), 1, 0, 1), 1.0, share, "L", busy)})


def test_what_is_worse_is_told() -> None:
    planned = figures(100, 0.5, 1.0)
    assert worse(planned, figures(100, 0.5, 0.2)) == ""
    assert worse(planned, figures(101, 0.9, 1.0)).startswith("101 instructions")
    assert worse(planned, figures(90, 0.4, 1.0)).startswith("40% of the pipes")
    assert worse(figures(100, 0.0, 1.0), figures(90, 0.0, 0.8)).startswith("80% of the units L")


@needs_tools
@pytest.mark.slow
@pytest.mark.parametrize("kernel", shipped())
def test_schedule_is_no_worse_than_the_planner(kernel: str) -> None:
    planned, ours = (made(kernel, scheduled).figures for scheduled in (False, True))
    assert worse(planned, ours) == ""
