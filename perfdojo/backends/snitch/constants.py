"""Constants in FP registers: made of x0 or a small integer where that gives their bits, else loaded."""

from __future__ import annotations

import struct

from perfdojo.backends.snitch.spelling import FP_NAMES
from perfdojo.backends.snitch.writer import Writer
from perfdojo.compiler.lowering.nests.nest import Constant

_ZEROS = {"f64": "fcvt.d.w", "f32": "fmv.w.x"}
"""Instructions that make 0 of x0, by element type."""


def load_constant(w: Writer, c: Constant) -> None:
    """Write the instructions that put a constant into its register."""
    name = FP_NAMES[c.register]
    packed = c.type.lanes > 1
    zero = c.value == 0 and c.value.hex() == "0x0.0p+0"
    if zero and (packed or c.type.dtype.name in _ZEROS):
        # a narrow zero has ones above it, else it is a NaN
        w.say(f"{_ZEROS['f64' if packed else c.type.dtype.name]} {name}, x0", "0")
        return
    if not packed and c.type.dtype.name == "f64" and c.value == int_or_none(c.value):
        w.say(f"li t0, {int(c.value)}")
        w.say(f"fcvt.d.w {name}, t0", f"{c.value}")
        return
    label = f".L{w.name}_c{len(w.pool)}"
    w.pool.append((label, bits(c)))
    w.say(f"la t0, {label}")
    w.say(f"fld {name}, 0(t0)", f"{c.value}" + (f" in {c.type.lanes} lanes" if packed else ""))


def int_or_none(value: float) -> int | None:
    """Return a float as the integer of 32 bits that is converted to it; None if there is none."""
    if value != value or abs(value) >= 2.0**31 or value != int(value) or value.hex() == "-0x0.0p+0":
        return None
    return int(value)


def bits(c: Constant) -> str:
    """Return the 64 bits of a constant in hexadecimal: all lanes, or one value below a box of ones."""
    letter = {"f64": "d", "f32": "f", "f16": "e"}[c.type.dtype.name]
    one = struct.pack("<" + letter, c.value)
    whole = one * c.type.lanes
    return "0x" + whole.ljust(8, b"\xff")[::-1].hex()
