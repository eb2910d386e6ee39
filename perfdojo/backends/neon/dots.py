"""Products of four neighbouring bytes, added to the lane that they lie in: the dot products of Armv8.2."""

from __future__ import annotations

from perfdojo.backends.neon.registers import DOT_PRODUCTS, Register, cast
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import I8, I32


def add_dots(table: Table) -> None:
    """Add `dot:i8` and what makes its factors; those of bytes without a sign and with one are Armv8.6."""
    for _, n, _ in table.shapes((I32,)):
        if not table.has("load", I8, 4 * n):
            continue
        bytes_ = Register(I8, 4 * n)
        again = cast("vdup<q>_n_s32(bits)", "s32", "s8", bytes_.bits)
        setup = ("int32_t bits", "memcpy(&bits, {0}, 4)")
        table.add("cycle:4", I8, 4 * n, again, "const void *", setup=setup)
        text = "vdot<q>_s32({0}, {1}, {2})"
        table.add("dot:i8", I32, n, text, f"v,{bytes_.c_type},{bytes_.c_type}", needs=DOT_PRODUCTS)
