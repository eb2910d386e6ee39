"""NumPy's matrix product as a call that is timed: one thread, kernels as OpenBLAS chooses them itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.limits import Call
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import const_int

MISLEADING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""They make OpenBLAS take kernels or block sizes of another processor."""

WANTED = {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
"""One thread for NumPy; threads of ours that wait take no processor time, so that it tells what each did."""


def environment_is_clean() -> bool:
    """Tell whether OpenBLAS and OpenMP, which read it when they are loaded, are set up correctly."""
    wanted = all(os.environ.get(name) == value for name, value in WANTED.items())
    return wanted and not any(name in os.environ for name in MISLEADING)


def run_in_clean_environment(module: str, arguments: Sequence[str]) -> int:
    """Run a module in a process of its own whose libraries are set up correctly; return its status."""
    environment = {k: v for k, v in os.environ.items() if k not in MISLEADING}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, env=environment | WANTED, check=False).returncode


def kernel_name() -> str:
    """Return which kernels OpenBLAS has chosen, as threadpoolctl says it; "" without threadpoolctl."""
    if find_spec("threadpoolctl") is None:
        return ""
    pools = import_module("threadpoolctl").threadpool_info()
    return "; ".join(f"{p['internal_api']} {p['version']}, {p.get('architecture', '')}" for p in pools)


def numpy_call(
    kernel: str, bound: Program, arrays: Mapping[str, np.ndarray[Any, np.dtype[Any]]]
) -> Call | None:
    """Return NumPy's a @ b on the same buffers for a matmul kernel; None for others."""
    if kernel not in ("matmul", "gemm_f64"):
        return None
    a, b = (arrays[n].reshape([const_int(e) for e in bound.buffer(n).shape]) for n in "ab")
    out = a @ b

    def call(calls: int) -> float:
        start = time.thread_time()
        for _ in range(calls):
            np.matmul(a, b, out=out)
        return time.thread_time() - start

    return call
