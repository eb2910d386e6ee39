"""Large results go past the caches: nothing is read before it is overwritten, nothing else is driven out."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel, Target

LARGE_BYTES = 16 << 20
"""Results over this size are not in a last-level cache of common size when someone reads them."""


def store_past_caches(program: Program, target: Target, fp: FpLevel) -> Program:
    """Return the program with hints for the results that no cache would hold."""
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.transforms.nontemporal import Nontemporal

    setting = Setting(target, fp)
    for b in program.buffers:
        move = Nontemporal(b.name, LARGE_BYTES)
        if b.role == "out" and move.why_not(program, setting) is None:
            program = move.rewrite(program)
    return program
