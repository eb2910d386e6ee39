"""Runs C functions for another kind of machine in one program, under its emulator or natively."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.toolchains.cross import cross_of, find_cross
from tests.backends.vectors.cases import MODULES, Array
from tests.backends.vectors.writing import COUNT

STRICT = ("-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-parameter")
LARGEST = 8 * COUNT

Call = tuple[str, Sequence[Array], str]
"""A function, its inputs of COUNT elements each, the element type of its result."""

_MAIN = """
#include <stdio.h>
static char inputs[{size}], out[{largest}];
int main(void) {{
    FILE *from = fopen("inputs", "rb"), *to = fopen("outputs", "wb");
    if (!from || !to || fread(inputs, 1, sizeof inputs, from) != sizeof inputs) return 1;
{calls}
    return fclose(to);
}}
"""


def commands(target: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what compiles for a target, and what stands in front of its programs."""
    cross = cross_of(target)
    assert cross is not None
    if cross.native:
        return ("gcc",), ()
    host = find_cross(cross)
    return (str(host.compiler.path), *host.compiler.flags), host.emulator


def results(target: str, text: str, calls: Sequence[Call], folder: Path, level: str = "-O0") -> list[Array]:
    """Compile functions, run the calls, and return what each has written."""
    compiler, emulator = commands(target)
    placed: dict[int, int] = {}
    blob = b""
    lines = []
    for name, arrays, result in calls:
        for a in arrays:
            if id(a) not in placed:
                placed[id(a)] = len(blob)
                blob += a.tobytes() + bytes(-len(a.tobytes()) % 16)
        given = ", ".join(f"(void *)(inputs + {placed[id(a)]})" for a in arrays)
        bytes_ = NUMPY[result].itemsize * COUNT
        lines.append(f"    {name}({given}, (void *)out); fwrite(out, 1, {bytes_}, to);")
    main = _MAIN.format(size=len(blob), largest=LARGEST, calls="\n".join(lines))
    (folder / "program.c").write_text(text + main)
    (folder / "inputs").write_bytes(blob)
    command = [
        *compiler,
        *MODULES[target].FLAGS,
        *STRICT,
        *WARNINGS,
        level,
        "-o",
        "program",
        "program.c",
        "-lm",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    ran = subprocess.run([*emulator, "./program"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, (ran.returncode, ran.stderr[:1000])
    written = (folder / "outputs").read_bytes()
    found, at = [], 0
    for _, _, result in calls:
        numpy = NUMPY[result]
        found.append(np.frombuffer(written, numpy, COUNT, at))
        at += numpy.itemsize * COUNT
    return found
