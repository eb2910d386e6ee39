"""The intrinsics that a target can emit."""

from __future__ import annotations

import re
from functools import cache

from perfdojo.backends.vectors.routines import routine_function
from perfdojo.backends.x86.division import division
from perfdojo.compiler.dtypes import F32, I16, I32
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from tests.backends.vectors.cases import DIVISORS, table


@cache
def used_intrinsics(target: str, extensions: frozenset[str] | None = None) -> list[str]:
    """Return every intrinsic that the target can emit, with all its extensions or with these CPU features."""
    instructions = table(target)
    able = [r for r in instructions.records.values() if extensions is None or r.needs in ("", *extensions)]
    names = {i for r in able for i in r.intrinsics}
    for _, n, _ in instructions.shapes((F32,)):
        for function in VECTOR_FUNCTIONS:
            text = routine_function(instructions, function, n)
            names |= set(re.findall(r"\b_(?:mm\d*|k\w+?)_\w+", text))
    for dtype, n, _ in instructions.shapes((I16, I32)):
        for divisor in DIVISORS:
            for op in ("floordiv", "mod"):
                if record := division(instructions, op, divisor, dtype, n):
                    names |= set(record.intrinsics)
    return sorted(names)
