"""Builds emitted source with gcc into a library and calls it on NumPy arrays, in this process."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.emitted import Argument, EmittedSource

Array = NDArray[Any]

DTYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "u8": np.uint8,
    "bool": np.bool_,
}
FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-march=native", "-fno-math-errno", "-shared", "-fPIC")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def build(emitted: EmittedSource, folder: Path, *more: str) -> Path:
    """Return the library of the emitted files, built in `folder`."""
    for name, text in emitted.files:
        (folder / name).write_text(text)
    source, library = folder / emitted.files[0][0], folder / f"{emitted.kernel}.so"
    command = [
        "gcc",
        *FLAGS,
        *WARNINGS,
        *emitted.flags,
        *more,
        "-o",
        str(library),
        str(source),
        *emitted.links,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library


def run(emitted: EmittedSource, inputs: Mapping[str, Array], *more: str) -> dict[str, Array]:
    """Return the arrays of the out and inout arguments; out arrays start as all ones bits."""
    with tempfile.TemporaryDirectory() as folder:
        function = ctypes.CDLL(str(build(emitted, Path(folder), *more)))[emitted.symbol]
    memories = [_memory(a, inputs.get(a.name)) for a in emitted.arguments]
    status = function(*(ctypes.c_void_p(m.ctypes.data) for m in memories))
    assert status == 0, f"{emitted.kernel} returned {status}"
    pairs = zip(emitted.arguments, memories, strict=True)
    return {a.name: np.array(_view(a, m)) for a, m in pairs if a.role != "in"}


def _memory(a: Argument, array: Array | None) -> Array:
    """Bytes of one argument."""
    raw = np.full(a.bytes, 255, np.uint8)
    if array is not None:
        _view(a, raw)[...] = array
    return raw


def _view(a: Argument, raw: Array) -> Array:
    dtype = np.dtype(DTYPES[a.dtype])
    strides = tuple(s * dtype.itemsize for s in a.strides_elems)
    return np.ndarray(a.shape, dtype, raw.data, 0, strides)


def same_bits(a: Array, b: Array) -> bool:
    """Tell whether two arrays agree bit for bit, any NaN being the same."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    with np.errstate(invalid="ignore"):
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(wide_a)
    equal = (wide_a == wide_b) & (np.signbit(wide_a) == np.signbit(wide_b))
    return bool(np.all(np.where(nan, np.isnan(wide_b), equal)))
