"""CUDA: each nest is a kernel whose blocks and threads are marked scopes; a launcher calls them in turn."""

from __future__ import annotations

from perfdojo.backends.cuda.emission import emitted as emit
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.lowering.target import Target

__all__ = ["FLAGS", "TARGET", "emit"]

FLAGS = ("-fmad=false",)
"""Products are fused into sums where the code says so, and nowhere else."""


def _supports(op: str, dtype: DType, lanes: int) -> bool:
    return False


TARGET = Target(
    name="cuda",
    title="NVIDIA GPUs, compute capability 8.0 and newer",
    vector_bits=0,
    registers=0,
    masked_memory=False,
    supports=_supports,
    machine="cuda",
    marks=frozenset(
        ("unroll", "warp", "mma", "vector", "async", *(f"{w}_{d}" for w in ("grid", "block") for d in "xyz"))
    ),
    spaces=frozenset(("heap", "stack", "shared", "fragment")),
    shared_bytes=48 << 10,  # static, on all devices (CUDA C++ Programming Guide)
    wide_copies=True,
    rolls=True,
)
