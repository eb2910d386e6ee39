"""Products of neighbours, added to the lane that they lie in: VNNI for bytes, AVX-512 BF16 for bf16."""

from __future__ import annotations

from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import F32, I8, I16, I32, U8, DType

VNNI, PAIRS = "avx512_vnni", "avx512_bf16"


def add_dots(table: Table) -> None:
    """Add `dot:<type>` and what makes its factors."""
    for _, n, register in table.shapes((I32,)):
        if register.partial or not table.has("load", I8, 4 * n):
            continue
        for dtype in (I8, U8, I16):
            _cycle(table, dtype, 4 * n * 8 // dtype.bits)
        _bytes(table, n)
        _pairs(table, n)


def _cycle(table: Table, dtype: DType, n: int) -> None:
    """The elements of 32 bits in memory, again and again."""
    setup = ("int32_t bits", "memcpy(&bits, {0}, 4)")
    table.add(f"cycle:{32 // dtype.bits}", dtype, n, "<p>_set1_epi32(bits)", "const void *", setup=setup)


def _bytes(table: Table, n: int) -> None:
    """The instruction multiplies unsigned bytes by signed ones: others are made 128 larger."""
    left, right = (table.vector(t, 4 * n) for t in (U8, I8))
    table.add("biased", U8, 4 * n, "<p>_xor_<si>({0}, <p>_set1_epi8(-128))", right)
    table.add("dot:u8", I32, n, "<p>_dpbusd_epi32({0}, {1}, {2})", f"v,{left},{right}", needs=VNNI)
    more = table.use("dot:u8", I32, n, "{0}", table.use("biased", U8, 4 * n, "{1}"), "{2}")
    over = table.use("dot:u8", I32, n, "<p>_setzero_<si>()", "<p>_set1_epi8(-128)", "{2}")
    why = "128 more in each left factor are taken away again"
    table.add("dot:i8", I32, n, f"<p>_sub_epi32({more}, {over})", f"v,{right},{right}", why=why, needs=VNNI)


def _pairs(table: Table, n: int) -> None:
    bits, pairs = table.vector(I16, 2 * n), f"__m{table.isa.register(F32, n).bits}bh"
    text = f"<p>_dpbf16_ps({{0}}, ({pairs})({{1}}), ({pairs})({{2}}))"
    table.add("dot:bf16", F32, n, text, f"v,{bits},{bits}", needs=PAIRS)
