"""The emitted file is what NVRTC, and so CuPy's RawModule, compiles; checked where the library is."""

from __future__ import annotations

import ctypes
import ctypes.util
from importlib.util import find_spec
from pathlib import Path

import pytest

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.verify import verify
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes
from tests.kernels.test_cuda_schedules import made

OPTIONS = ("-arch=sm_80", "-std=c++17", "-fmad=false", "-I/usr/local/cuda/include")


def _library() -> ctypes.CDLL | None:
    found = find_spec("nvidia.cuda_nvrtc") if find_spec("nvidia") else None
    wheels = [Path(p) for p in found.submodule_search_locations or ()] if found else []
    names = [str(f) for p in wheels for f in sorted(p.glob("lib/libnvrtc.so.*"))]
    for name in [*names, ctypes.util.find_library("nvrtc")]:
        if name:
            return ctypes.CDLL(name)
    return None


NVRTC = _library()
pytestmark = pytest.mark.skipif(NVRTC is None, reason="needs libnvrtc (pip install nvidia-cuda-nvrtc-cu12)")


def log_of(emitted: EmittedSource) -> str:
    """Return what NVRTC says of a file; "" when it compiles it and says nothing."""
    assert NVRTC is not None
    handle = ctypes.c_void_p()
    text = emitted.files[0][1].encode()
    assert NVRTC.nvrtcCreateProgram(ctypes.byref(handle), text, b"kernel.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * len(OPTIONS))(*(o.encode() for o in OPTIONS))
    status = NVRTC.nvrtcCompileProgram(handle, len(OPTIONS), options)
    size = ctypes.c_size_t()
    NVRTC.nvrtcGetProgramLogSize(handle, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    NVRTC.nvrtcGetProgramLog(handle, log)
    NVRTC.nvrtcDestroyProgram(ctypes.byref(handle))
    said = log.value.decode().strip()
    return said or f"status {status}" if status else said


@pytest.mark.parametrize("name", ["matmul", "matmul_f16", "matmul_bf16"])
def test_schedule_with_asynchronous_copies_and_tensor_cores(name: str) -> None:
    assert not log_of(made(name, {}))


@pytest.mark.parametrize("name", sorted(texts()))
def test_kernels_without_a_schedule(name: str) -> None:
    bound = bind(program(name), list(odd_sizes(name))[1])
    verify(bound)
    assert not log_of(emit(bound, "cuda"))
