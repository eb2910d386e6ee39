"""Conversions by the rules of the language; NEON's saturate and make 0 of NaN as these do."""

from __future__ import annotations

from perfdojo.backends.neon.registers import Register, cast, narrowed, widened
from perfdojo.backends.vectors.table import INTEGERS, ROUNDED, Table
from perfdojo.compiler.dtypes import BF16, F16, F32, F64, I8, I16, I32, I64, U8, DType

_SHORT = (I8, U8, I16)


def add_conversions(table: Table) -> None:
    """Add `cast:<from>` wherever both types fit and one is not taken lane by lane."""
    for dtype, n, _ in table.shapes(INTEGERS):
        for source in INTEGERS:
            if table.isa.fits(source, n):
                table.add(f"cast:{source}", dtype, n, _between(source, dtype, n), table.vector(source, n))
    for _, n, _ in table.shapes((F32,)):
        _to_f32(table, n)
    for _, n, _ in table.shapes((F64,)):
        _to_f64(table, n)
    for dtype, n, _ in table.shapes(INTEGERS):
        _from_floats(table, dtype, n)
    for dtype, n, _ in table.shapes(ROUNDED):
        _to_rounded(table, dtype, n)
    for dtype, n, _ in table.shapes((F32, F64, *INTEGERS)):
        for source in ROUNDED:
            if table.has("cast:f32", dtype, n):
                text = table.use("cast:f32", dtype, n, "{0}")
                table.add(f"cast:{source}", dtype, n, text, table.vector(F32, n))


def _between(source: DType, target: DType, n: int) -> str:
    """Return the expression of integers as integers of another type, modulo their bits."""
    old, new = Register(source, n), Register(target, n)
    kind = old.suffix[0]
    if source.bits < target.bits:
        text = widened("{0}", kind, source.bits, target.bits, new.bits)
    elif source.bits > target.bits:
        text = narrowed("{0}", kind, source.bits, target.bits, old.bits)
    else:
        text = "{0}"
    return cast(text, f"{kind}{target.bits}", new.suffix, new.bits)


def _to_f32(table: Table, n: int) -> None:
    table.add("cast:f32", F32, n, "{0}", "v")
    for source in (I32, *_SHORT):
        whole = table.use(f"cast:{source}", I32, n, "{0}")
        table.add(f"cast:{source}", F32, n, f"vcvt<q>_f32_s32({whole})", table.vector(source, n))
    if table.isa.fits(F64, n):
        table.add("cast:f64", F32, n, "vcvt_f32_f64({0})", table.vector(F64, n))


def _to_f64(table: Table, n: int) -> None:
    table.add("cast:f64", F64, n, "{0}", "v")
    table.add("cast:f32", F64, n, "vcvt_f64_f32({0})", table.vector(F32, n))
    for source in (I64, I32, *_SHORT):
        whole = table.use(f"cast:{source}", I64, n, "{0}")
        table.add(f"cast:{source}", F64, n, f"vcvtq_f64_s64({whole})", table.vector(source, n))


def _from_floats(table: Table, target: DType, n: int) -> None:
    """Through the widest integer, and narrower with saturation."""
    if target == I64:
        table.add("cast:f64", I64, n, "vcvtq_s64_f64({0})", table.vector(F64, n))
        table.add("cast:f32", I64, n, "vcvtq_s64_f64(vcvt_f64_f32({0}))", table.vector(F32, n))
        return
    for source, bits in ((F64, 64), (F32, 32)):
        if not table.isa.fits(source, n):
            continue
        old = Register(source, n)
        text = old.fill(f"vcvt<q>_s{bits}_<t>({{0}})")
        if target == U8:
            low = narrowed(text, "s", bits, 16, old.bits, "vqmovn")
            format = f"vqmovun_s16(vcombine_s16({low}, {low}))"
        else:
            format = narrowed(text, "s", bits, target.bits, old.bits, "vqmovn")
        table.add(f"cast:{source}", target, n, format, old.c_type)


def _to_rounded(table: Table, target: DType, n: int) -> None:
    table.add(f"cast:{target}", target, n, "{0}", "v")
    for source in (F32, BF16 if target == F16 else F16):
        table.add(f"cast:{source}", target, n, table.use("rounded", target, n, "{0}"), "v")
    if table.isa.fits(F64, n):
        # rounded to odd first: what is rounded once more is then right
        odd = table.use("rounded", target, n, "vcvtx_f32_f64({0})")
        table.add("cast:f64", target, n, odd, table.vector(F64, n))
    for source in (*_SHORT, I32):
        # an integer that f32 rounds is beyond the range of f16; bf16 needs it exact
        if source == I32 and target == BF16:
            continue
        as_f32 = table.use(f"cast:{source}", F32, n, "{0}")
        format = as_f32 if source.bits == 8 else table.use("rounded", target, n, as_f32)
        table.add(f"cast:{source}", target, n, format, table.vector(source, n))
