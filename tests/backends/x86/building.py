"""Builds C text with gcc for one instruction set: for this processor, or with the emulated header."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from perfdojo.backends import avx2, avx512, extensions_of
from perfdojo.backends.x86.emulation import emulation_headers
from tests.backends.vectors.cases import TARGETS, table

FLAGS = {"avx2": avx2.FLAGS, "avx512": avx512.FLAGS}
STRICT = ("-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-parameter")


@cache
def cpu_flags() -> frozenset[str]:
    """Return what the processor can do, as /proc/cpuinfo names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def runs_here(target: str) -> bool:
    """Tell whether this processor has the instructions of a target, its extensions aside."""
    return set(TARGETS[target].features) <= cpu_flags()


def extensions_here(target: str) -> frozenset[str]:
    """Return the CPU features of extensions of a target that this processor has."""
    return cpu_flags() & set(extensions_of(target).values())


def flags_with(target: str, features: Iterable[str]) -> tuple[str, ...]:
    """Return the flags of a target with CPU features of its extensions."""
    isa = table(target).isa
    return (*FLAGS[target], *(f for x in sorted(features) for f in isa.flags_of(x)))


def compile_c(text: str, folder: Path, name: str, *flags: str, emulated: bool = False) -> Path:
    """Compile a C file; return what -o names. The test fails with gcc's message when it does not compile."""
    source, result = folder / f"{name}.c", folder / name
    source.write_text(text)
    if emulated:
        headers = folder / "emulated"
        headers.mkdir(exist_ok=True)
        for file, header in emulation_headers():
            (headers / file).write_text(header)
        flags = (*flags, "-Wno-psabi", "-I", str(headers))
    command = ["gcc", *STRICT, *WARNINGS, *flags, "-o", str(result), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return result


def library(
    text: str, folder: Path, target: str, level: str = "-O0", native: bool | None = None
) -> ctypes.CDLL:
    """Return the C text as a library that runs here: natively where the processor can, else emulated."""
    native = runs_here(target) if native is None else native
    flags = flags_with(target, extensions_here(target)) if native else ("-march=native",)
    path = compile_c(text, folder, f"{target}.so", level, "-shared", "-fPIC", *flags, emulated=not native)
    return ctypes.CDLL(str(path))
