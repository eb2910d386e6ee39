"""What emitted C code needs beside the compiler: Snitch has no C library."""

from __future__ import annotations

import re

from perfdojo.backends.emission import environment
from perfdojo.compiler.emitted import MARKER

HEADER = "snitch_runtime.h"

_USED = re.compile(
    r"\b(INFINITY|NAN|isfinite|isnan|FP_FAST_FMAF?|(fabs|fma|copysign|sqrt|floor|ceil|rint)f?|"
    r"exp|log|tanh|erf|sin|cos|pow)\b"
)


def runtime_files(source: str) -> tuple[tuple[str, str], ...]:
    """Return the files, (name, text), that C source needs: none where it uses nothing of math.h."""
    if not _USED.search(source):
        return ()
    text = environment("snitch").get_template(f"{HEADER}.j2").render(marker=MARKER, file=HEADER)
    return ((HEADER, text),)
