"""The simulator's arithmetic as a shared object, called through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.toolchains.snitch.fp_formats import Format, Result

SIM = Path(__file__).parents[3] / "perfdojo" / "toolchains" / "snitch" / "sim"
SOURCES = ("fp.c", "fp_soft.c", "fp_cvt.c", "fp_vec.c", "fp_wide.c")
WARNINGS = ("-Wall", "-Wextra", "-pedantic", "-Werror")
VEC_NAMES = "add sub mul div sqrt min max mac mre sgnj sgnjn sgnjx eq ne lt ge le gt"
WIDE_NAMES = "cvt cvtu cpka cpkb cpkc cpkd sum nsum sumex nsumex dotpex ndotpex"
VEC = {n: i for i, n in enumerate(VEC_NAMES.split())}
WIDE = {n: i for i, n in enumerate(WIDE_NAMES.split())}

# Result, then arguments: u uint64_t, w uint32_t, i int or enumerator, b bool, p pointer to the flags.
TYPES: dict[str, Any] = {
    "u": ctypes.c_uint64,
    "w": ctypes.c_uint32,
    "i": ctypes.c_int32,
    "b": ctypes.c_bool,
    "p": ctypes.POINTER(ctypes.c_uint),
}
SIGNATURES = {
    **dict.fromkeys(("fp_add", "fp_sub", "fp_mul", "fp_div", "fp_soft_add", "fp_soft_mul"), "uiuuip"),
    **dict.fromkeys(("fp_min", "fp_max"), "uiuup"),
    **dict.fromkeys(("fp_eq", "fp_lt", "fp_le"), "biuup"),
    **dict.fromkeys(("fp_sgnj", "fp_sgnjn", "fp_sgnjx"), "uiuu"),
    **dict.fromkeys(("fp_box", "fp_unbox"), "uiu"),
    "fp_fma": "uiuuuibbp",
    "fp_soft_fma": "uiuuuip",
    "fp_sqrt": "uiuip",
    "fp_class": "wiu",
    "fp_cvt": "uiiuip",
    "fp_to_i32": "iiuip",
    "fp_to_u32": "wiuip",
    "fp_from_i32": "uiiip",
    "fp_from_u32": "uiwip",
    "fp_vec": "uiiuuubip",
    "fp_vec_wide": "uiiiuuubip",
}


def build(folder: Path) -> ctypes.CDLL:
    """Compile fp*.c and fp_check.c into one shared object."""
    library = folder / "fp.so"
    sources = [str(SIM / name) for name in SOURCES] + [str(Path(__file__).with_name("fp_check.c"))]
    options = ["-O3", "-std=c11", "-shared", "-fPIC", *WARNINGS, f"-I{SIM}"]
    subprocess.run(["gcc", *options, *sources, "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


class Simulator:
    """The functions of fp.h; flags are part of the result."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.functions: dict[str, Callable[..., int]] = {}
        for name, signature in SIGNATURES.items():
            function = library[name]
            function.restype = TYPES[signature[0]]
            function.argtypes = [TYPES[a] for a in signature[1:]]
            self.functions[name] = function

    def __call__(self, name: str, *arguments: int) -> Result:
        if SIGNATURES[name][-1] != "p":
            return Result(self.functions[name](*arguments))
        flags = ctypes.c_uint(0)
        bits = int(self.functions[name](*arguments, ctypes.byref(flags)))
        return Result(bits, flags.value)

    def vec(
        self, op: str, f: Format, registers: tuple[int, int, int], replicate: bool = False, mode: int = 0
    ) -> Result:
        """`registers` are rd, rs1 and rs2."""
        return self("fp_vec", VEC[op], f.code, *registers, replicate, mode)

    def wide(
        self,
        op: str,
        to: Format,
        f: Format,
        registers: tuple[int, int, int],
        replicate: bool = False,
        mode: int = 0,
    ) -> Result:
        """`registers` are rd, rs1 and rs2."""
        return self("fp_vec_wide", WIDE[op], to.code, f.code, *registers, replicate, mode)
