"""Steps of a transposition in registers: `zip_low:d` and `zip_high:d` exchange lanes at distance d."""

from __future__ import annotations

from perfdojo.backends.neon.registers import WHOLE, Register, cast
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import F32, F64, I32, I64


def add_zips(table: Table) -> None:
    """Add the steps for vectors of 32- and 64-bit elements that fill a Q register."""
    for dtype, n, _ in table.shapes((F32, F64, I32, I64)):
        own = Register(dtype, n)
        if own.bits < WHOLE:
            continue
        for op, name in (("low", "vtrn1q"), ("high", "vtrn2q")):
            table.add(f"zip_{op}:1", dtype, n, f"{name}_<t>({{0}}, {{1}})", "v,v")
            if n == 4:
                pairs = (cast(f"{{{k}}}", own.suffix, "f64", WHOLE) for k in (0, 1))
                text = f"{name}_f64({', '.join(pairs)})"
                table.add(f"zip_{op}:2", dtype, n, cast(text, "f64", own.suffix, WHOLE), "v,v")
