"""oneDNN through its C interface: its matrix product.

The package's other primitives want a SYCL device, which an AMD processor is not for it; PyTorch's
convolutions are oneDNN's.
"""

from __future__ import annotations

import ctypes
from typing import Any

from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported
from benchmarks.peers.systems.mkl import ONE, ZERO, library


class OneDnn(Peer):
    """A batch of products is a call for each."""

    @classmethod
    def available(cls) -> str:
        return "" if library("libdnnl.so*") else "onednn"

    def __init__(self) -> None:
        self.library: Any = ctypes.CDLL(str(library("libdnnl.so*")))

    def version(self) -> str:
        self.library.dnnl_version.restype = ctypes.POINTER(ctypes.c_int)
        return ".".join(str(self.library.dnnl_version()[n]) for n in range(3))

    def prepare(self, task: Task, threads: int) -> Prepared:
        if task.benchmark.kernel not in ("matmul", "bmm"):
            raise Unsupported("the matrix product only, see onednn.py")
        a, b = task.inputs.values()
        plain, sizes = ctypes.c_char(b"N"), (*a.shape[-2:], b.shape[-1])
        m, k, n = map(ctypes.c_longlong, sizes)
        given = []
        for each in range(a.shape[0] if a.ndim == 3 else 1):
            at = [
                ctypes.c_void_p(v.ctypes.data + each * v.strides[0] * (v.ndim - 2))
                for v in (a, b, task.output)
            ]
            given.append((plain, plain, m, n, k, ONE, at[0], k, at[1], n, ZERO, at[2], n))
        product = self.library.dnnl_sgemm

        def call() -> None:
            for arguments in given:
                product(*arguments)

        return Prepared(call, lambda: (task.output, task)[0])
