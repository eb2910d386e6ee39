"""The C source of the f32 and f64 functions, built and called on arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends.helpers import helper_text

Array = NDArray[Any]

GCC = shutil.which("gcc")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
FLAGS = ("-O2", "-std=c11", "-ffp-contract=off", "-fno-math-errno", "-march=native", *WARNINGS)
FUNCTIONS = ("exp", "log", "tanh", "erf", "sigmoid", "sin", "cos", "sqrt", "rsqrt", "pow")
_TYPES = {"f32": ("float", np.float32), "f64": ("double", np.float64)}


def functions_header() -> str:
    """Return the text of a header with all functions."""
    includes = "".join(f"#include <{h}.h>\n" for h in ("math", "stdbool", "stdint", "string"))
    return f"{includes}\n{helper_text(f'pd_{name}_{dtype}' for name, dtype in product(FUNCTIONS, _TYPES))}\n"


def compile_c(source: str, output: Path, *flags: str) -> None:
    """Compile `source`, which may include "functions.h", to `output`."""
    assert GCC is not None
    (output.parent / "functions.h").write_text(functions_header(), encoding="utf-8")
    path = output.with_suffix(".c")
    path.write_text(source, encoding="utf-8")
    command = [GCC, *FLAGS, *flags, str(path), "-o", str(output), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr


def load(folder: Path) -> dict[str, Callable[..., Array]]:
    """Return the compiled functions, `exp_f32` and so on; each takes arrays of its type and of one shape."""
    loops = ['#include "functions.h"']
    for name, dtype in product(FUNCTIONS, _TYPES):
        c_type = _TYPES[dtype][0]
        second, value = (f", const {c_type} *y", "x[i], y[i]") if name == "pow" else ("", "x[i]")
        loops.append(
            f"void run_{name}_{dtype}(int64_t n, {c_type} *restrict result, const {c_type} *x{second}) {{\n"
            f"  for (int64_t i = 0; i < n; i++) result[i] = pd_{name}_{dtype}({value});\n}}"
        )
    library = folder / "functions.so"
    compile_c("\n".join(loops), library, "-shared", "-fPIC")
    loaded = ctypes.CDLL(str(library))
    return {
        f"{name}_{dtype}": _on_arrays(getattr(loaded, f"run_{name}_{dtype}"), _TYPES[dtype][1])
        for name, dtype in product(FUNCTIONS, _TYPES)
    }


def _on_arrays(run: Callable[..., None], dtype: Any) -> Callable[..., Array]:
    def call(*arrays: Array) -> Array:
        held = [np.ascontiguousarray(a, dtype) for a in arrays]
        result = np.empty_like(held[0])
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (result, *held)]
        run(ctypes.c_int64(result.size), *pointers)
        return result

    return call
