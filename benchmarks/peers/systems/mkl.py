"""Intel MKL through its C interface: products, transposition, and its vector functions."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.buffers import Array
from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported

ROW_MAJOR, PLAIN = 101, 111
"""CBLAS's numbers: by rows, not transposed."""

ONE, ZERO = ctypes.c_float(1), ctypes.c_float(0)
INT = ctypes.c_int


def library(pattern: str) -> Path | None:
    """Return a shared library that a package put into this interpreter's environment."""
    return next(iter(sorted((Path(sys.prefix) / "lib").glob(pattern))), None)


class Mkl(Peer):
    """On AMD processors its products take 256-bit code, half of the peak where vectors have 512 bits."""

    @classmethod
    def available(cls) -> str:
        return "" if library("libmkl_rt.so*") else "mkl"

    def __init__(self) -> None:
        if os.environ.get("MKL_THREADING_LAYER") == "GNU":
            ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)  # MKL counts on it being there
        self.library: Any = ctypes.CDLL(str(library("libmkl_rt.so*")), mode=ctypes.RTLD_GLOBAL)

    def version(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.library.MKL_Get_Version_String(text, len(text))
        return text.value.decode().strip()

    def prepare(self, task: Task, threads: int) -> Prepared:
        self.library.MKL_Set_Num_Threads(threads)
        arrays = [*task.inputs.values(), task.output]
        function, arguments = self._call(task.benchmark.kernel, arrays)
        return Prepared(lambda: function(*arguments), lambda: (task.output, arrays)[0])

    def _call(self, kernel: str, arrays: list[Array]) -> tuple[Any, list[Any]]:
        """Return the function and its arguments; sizes stay below 2^31."""
        at = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        shape = arrays[0].shape
        orders = [INT(ROW_MAJOR), INT(PLAIN), INT(PLAIN)]
        match kernel:
            case "add" | "mul":
                return getattr(self.library, f"vs{kernel.capitalize()}"), [INT(arrays[0].size), *at]
            case "transpose":
                scaled = [ctypes.c_char(b"R"), ctypes.c_char(b"T"), *map(ctypes.c_size_t, shape), ONE]
                ld = ctypes.c_size_t(shape[1]), ctypes.c_size_t(shape[0])
                return self.library.MKL_Somatcopy, [*scaled, at[0], ld[0], at[1], ld[1]]
            case "gemv":
                m, n = map(INT, shape)
                vector = [at[1], INT(1), ZERO, at[2], INT(1)]
                return self.library.cblas_sgemv, [*orders[:2], m, n, ONE, at[0], n, *vector]
            case "matmul":
                m, k, n = map(INT, (*shape, arrays[1].shape[1]))
                rest = [m, n, k, ONE, at[0], k, at[1], n, ZERO, at[2], n]
                return self.library.cblas_sgemm, [*orders, *rest]
            case "bmm":
                m, k, n = map(INT, (*shape[1:], arrays[1].shape[2]))
                steps = [INT(a.shape[1] * a.shape[2]) for a in arrays]
                rest = [m, n, k, ONE, at[0], k, steps[0], at[1], n, steps[1], ZERO, at[2], n, steps[2]]
                return self.library.cblas_sgemm_batch_strided, [*orders, *rest, INT(shape[0])]
        raise Unsupported("products, transposition, addition and multiplication only")
