"""What `--doctor` says of CUDA: the compiler, the emulation, the GPU."""

from __future__ import annotations

from typing import Literal

from perfdojo.toolchains.cuda.gpu import architecture, find_gpu
from perfdojo.toolchains.cuda.nvcc import find_nvcc
from perfdojo.toolchains.gcc import Compiler, accepts_cxx
from perfdojo.toolchains.results import MissingTool

Line = tuple[str, Literal["ok", "missing", "limited"], str, str]


def examine_cuda(compiler: Compiler | None) -> list[Line]:
    """Return name, state, one sentence, what to do; `compiler` is that of the host, or None."""
    lines: list[Line] = []
    try:
        nvcc = find_nvcc()
        lines.append(("cuda", "ok", f"{nvcc.version}, {nvcc.path}", ""))
    except MissingTool as error:
        lines.append(("cuda", "limited", f"{error.message}: kernels for cuda are checked only", error.hint))
    if compiler is not None and not accepts_cxx(compiler):
        text = f"{compiler.path} compiles no C++: kernels for cuda cannot be checked by emulation"
        lines.append(("cuda", "limited", text, "on Debian and Ubuntu: apt-get install g++"))
    why = find_gpu()
    if why:
        lines.append(("gpu", "limited", f"{why}: kernels for cuda are checked by emulation, not timed", ""))
    else:
        lines.append(("gpu", "ok", f"one of architecture {architecture()}", ""))
    return lines
