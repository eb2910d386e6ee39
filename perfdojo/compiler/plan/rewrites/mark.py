"""Mark: say how a scope runs."""

from __future__ import annotations

from perfdojo.compiler.ir import MARKS, Program
from perfdojo.compiler.transforms._marks import with_mark


def mark(program: Program, scope: str, how: str) -> Program:
    """Give a scope the mark `how`, or none ("").

        i:N { B }   ->   i:N@how { B }

    1. `how` is a mark of the language.
    2. (D) For a concurrent mark and for `vector`: no iteration depends on another, reductions aside.
    """
    if how and how not in MARKS:
        raise ValueError(f"mark: {how} is not a mark")
    return with_mark(program, scope, how)
