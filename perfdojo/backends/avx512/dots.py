"""Products of neighbours, added to the lane that they lie in: VNNI."""

from __future__ import annotations

from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import I8, I32, U8

VNNI = "avx512_vnni"


def add_dots(table: Table) -> None:
    """Add `dot:<type>`, what brings its factors, and `interleave`, which packs them."""
    for dtype, n, register in table.shapes((I8, U8)):
        if not register.partial:
            table.add("cycle:4", dtype, n, "<p>_set1_epi32(four)", "c", setup=_FOUR, why=_AGAIN)
    for _, n, register in table.shapes((I32,)):
        if register.partial or not table.has("cycle:4", I8, 4 * n):
            continue
        _bytes(table, n)


_FOUR = ("int32_t four", "memcpy(&four, {0}, 4)")
_AGAIN = "the same four bytes again and again"


def _bytes(table: Table, n: int) -> None:
    """The instruction multiplies unsigned bytes by signed ones: others are made 128 larger."""
    bytes_, c_bytes = 4 * n, table.vector(I8, 4 * n)
    table.add("biased", U8, bytes_, "<p>_xor_<si>({0}, <p>_set1_epi32(-0x7f7f7f80))", c_bytes)
    products = f"v,{table.vector(U8, bytes_)},{c_bytes}"
    table.add("dot:u8", I32, n, "<p>_dpbusd_epi32({0}, {1}, {2})", products, needs=VNNI)
    more = table.use("dot:u8", I32, n, "{0}", table.use("biased", U8, bytes_, "{1}"), "{2}")
    over = table.use("dot:u8", I32, n, "<p>_setzero_<si>()", "<p>_set1_epi32(-0x7f7f7f80)", "{2}")
    why = "128 is added to each left factor, and taken away from the sum for each right one"
    format = table.isa.register(I32, n).fill(f"<p>_sub_epi32({more}, {over})")
    table.add("dot:i8", I32, n, format, products, why=why, needs=VNNI)
