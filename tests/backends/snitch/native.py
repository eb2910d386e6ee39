"""Snitch's runtime compiled for this machine, with its flags, and called on arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends.helpers import helper_text
from perfdojo.backends.snitch.runtime import ARRAYS, public_names, runtime, runtime_files

Array = NDArray[Any]

GCC = shutil.which("gcc")
RISCV_GCC = "riscv64-unknown-elf-gcc"
# As for Snitch; without -fno-builtin gcc takes the functions for those that it knows.
FLAGS = (
    "-O3",
    "-std=c11",
    "-ffp-contract=off",
    "-frounding-math",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffreestanding",
    "-fno-builtin",
    "-march=native",
)
QUOTIENTS_F32 = ("__divsf3", "snitch_divf", "snitch_rare_divf")
QUOTIENTS_F64 = ("__divdf3", "snitch_div", "snitch_rare_div")
SINGLE = (*QUOTIENTS_F32, "sqrtf", "snitch_rsqrtf", "rintf", "floorf", "ceilf")
SIGMOID = "pd_sigmoid_f64"
"""A helper of C code, made of exp."""
TWO = (*QUOTIENTS_F32, *QUOTIENTS_F64, "pow", "fmin", "fmax")


def write(folder: Path, names: Iterable[str]) -> Path:
    """Write the runtime with some functions to `folder`; return the path of its C source."""
    calls = " ".join(f"{name}()" for name in names)
    for name, text in runtime_files(calls):
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "snitch_runtime.c"


def compile_c(text: str, output: Path, *flags: str) -> None:
    """Compile a program or library of one file that may include the runtime's header."""
    assert GCC is not None
    source = output.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    command = [GCC, *FLAGS, *flags, str(source), "-o", str(output)]
    built = subprocess.run(command, cwd=output.parent, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


class Native:
    """All functions of the runtime, on arrays of one shape."""

    def __init__(self, folder: Path) -> None:
        scalar = public_names() - ARRAYS.keys()
        write(folder, scalar)
        loops = []
        for name in sorted((*scalar, SIGMOID)):
            type = "float" if name in SINGLE else "double"
            more, second = (f", const {type} *z", ", z[i]") if name in TWO else ("", "")
            loops.append(
                f"void run_{name}(long n, {type} *restrict y, const {type} *x{more}) {{\n"
                f"  for (long i = 0; i < n; i++) y[i] = {name}(x[i]{second});\n}}"
            )
        text = "\n".join((runtime(scalar), helper_text([SIGMOID]), *loops))
        # -Bsymbolic: the process has a sqrt already
        compile_c(text, folder / "runtime.so", "-shared", "-fPIC", "-Wl,-Bsymbolic")
        self._library = ctypes.CDLL(str(folder / "runtime.so"))

    def __call__(self, name: str, *arguments: Array) -> Array:
        """Return function `name` of each element."""
        dtype = np.float32 if name in SINGLE else np.float64
        inputs = [np.ascontiguousarray(a, dtype) for a in arguments]
        result = np.empty_like(inputs[0])
        pointers = (a.ctypes.data_as(ctypes.c_void_p) for a in (result, *inputs))
        getattr(self._library, f"run_{name}")(ctypes.c_long(result.size), *pointers)
        return result
