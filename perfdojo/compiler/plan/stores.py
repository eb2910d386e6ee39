"""Large results go past the caches: nothing is read before it is overwritten, nothing else is driven out."""

from __future__ import annotations

from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.lowering.target import FpLevel, Target

LARGE_BYTES = 16 << 20
"""Results over this size are not in a last-level cache of common size when someone reads them."""


def passes_caches(buffer: Buffer) -> bool:
    """Tell whether a buffer is a result that no cache would hold."""
    return buffer.role == "out" and layout(buffer).bytes > LARGE_BYTES


def store_past_caches(program: Program, target: Target, fp: FpLevel) -> Program:
    """Return the program with hints for the results that no cache would hold."""
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.transforms.nontemporal import Nontemporal

    setting = Setting(target, fp)
    for b in program.buffers:
        move = Nontemporal(b.name, LARGE_BYTES)
        if passes_caches(b) and move.why_not(program, setting) is None:
            program = move.rewrite(program)
    return program
