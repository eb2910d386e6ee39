"""Schedules that ship for CUDA: the emulation's results, and registers alone for what threads keep."""

from __future__ import annotations

import shutil

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.schedule import replay
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule
from perfdojo.toolchains.cuda.nvcc import compile_for, find_nvcc
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import Failure
from tests.kernels.library import program
from tests.kernels.test_cuda import why_wrong
from tests.kernels.test_schedules import ALL_SHIPPED

KERNELS = tuple(kernel for kernel, target in ALL_SHIPPED if target == "cuda")
OTHERS = {
    "matmul": ({"M": 64, "N": 192, "K": 16}, {"M": 128, "N": 64, "K": 48}),
    "matmul_f16": ({"M": 128, "N": 256, "K": 32}, {"M": 256, "N": 128, "K": 96}),
    "matmul_bf16": ({"M": 128, "N": 128, "K": 64}, {"M": 128, "N": 256, "K": 96}),
    "attention": ({"B": 1, "S": 32, "D": 64}, {"B": 2, "S": 96, "D": 128}),
    "causal_attention": ({"B": 1, "S": 64, "D": 128}, {"B": 3, "S": 32, "D": 64}),
}
"""Sizes beside the kernel's own that the schedule is for."""
LARGE = {
    "matmul": {"M": 4096, "N": 4096, "K": 4096},
    "matmul_f16": {"M": 4096, "N": 4096, "K": 4096},
    "matmul_bf16": {"M": 4096, "N": 4096, "K": 4096},
    "softmax": {"B": 4096, "N": 4096},
    "layernorm": {"B": 16384, "N": 1024},
    "attention": {"B": 64, "S": 256, "D": 64},
    "causal_attention": {"B": 64, "S": 256, "D": 64},
}
"""Kernels that are to use no local memory, at sizes of a model; without a schedule the recipe is meant."""


def made(kernel: str, sizes: dict[str, int]) -> EmittedSource:
    """Return what `perfdojoc` emits, at the level that a schedule needs."""
    bound = bind(program(kernel), sizes)
    verify(bound)
    schedule = default_schedule(kernel, "cuda")
    if schedule is None:
        return emit(bound, "cuda")
    fp = schedule.fp or "reassoc"
    done = replay(bound, schedule, Setting(get_target("cuda"), fp))
    return emit(bound, "cuda", fp=fp, scheduled=Scheduled(done.program, ""))


needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@needs_cxx
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
def test_schedule_keeps_the_meaning(kernel: str, number: int) -> None:
    sizes = ({}, *OTHERS[kernel])[number]
    bound = bind(program(kernel), sizes)
    verify(bound)
    assert not why_wrong(bound, made(kernel, sizes), ("tamed",))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kernel", [*LARGE])
def test_threads_keep_all_in_registers(kernel: str, architecture: str) -> None:
    compiled = compile_for(made(kernel, LARGE[kernel]), find_nvcc(), find_host(), architecture)
    assert not isinstance(compiled, Failure), compiled
    assert not compiled.warnings
    for used in compiled.usage.values():
        assert (used.spill_store_bytes, used.spill_load_bytes, used.stack_bytes) == (0, 0, 0)
