"""Conversions by the rules of the language: one rounding, saturation, NaN to 0, integers modulo 2^bits."""

from __future__ import annotations

from perfdojo.backends.vectors.table import INTEGERS, NUMBERS, ROUNDED, Table
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, DType

_SHORT = (I8, U8, I16)


def add_conversions(table: Table) -> None:
    """Add `cast:<from>` wherever both types fit.

    Needs arithmetic, comparisons, and the target's `keep(comparison, a)` (a or 0), `narrow`, `cast:bool`.
    """
    for dtype, n, _ in table.shapes(INTEGERS):
        _between_integers(table, dtype, n)
    for _, n, _ in table.shapes((F32,)):
        _to_f32(table, n)
        _from_float(table, F32, n)
    for _, n, _ in table.shapes((F64,)):
        _to_f64(table, n)
        _from_float(table, F64, n)
        _odd(table, n)
    for dtype, n, _ in table.shapes(ROUNDED):
        _to_rounded(table, dtype, n)
    for dtype, n, _ in table.shapes(NUMBERS):
        for source in ROUNDED:
            if dtype not in ROUNDED and table.has("cast:f32", dtype, n):
                table.add(
                    f"cast:{source}", dtype, n, table.use("cast:f32", dtype, n, "{0}"), table.vector(F32, n)
                )
        zero = "<p>_setzero_<si>()" if dtype.is_integer else "<p>_setzero_<t>()"
        if dtype != BOOL:
            table.add(
                f"cast:{dtype}",
                BOOL,
                n,
                table.use("ne", dtype, n, "{0}", Register(dtype, n).fill(zero)),
                table.vector(dtype, n),
            )


def _between_integers(table: Table, target: DType, n: int) -> None:
    for source in INTEGERS:
        if not table.isa.fits(source, n):
            continue
        if source.bits == target.bits:
            format = "{0}"
        elif source.bits < target.bits:
            format = f"<p>_cvtep{'u' if source == U8 else 'i'}{source.bits}_<t>({{0}})"
        else:
            format = table.use(f"narrow:i{source.bits}", I8 if target == U8 else target, n, "{0}")
        table.add(f"cast:{source}", target, n, format, table.vector(source, n))


def _as_i32(table: Table, source: DType, n: int) -> str:
    return table.use(f"cast:{source}", I32, n, "{0}")


def _to_f32(table: Table, n: int) -> None:
    table.add("cast:f32", F32, n, "{0}", "v")
    for source in (I32, *_SHORT):
        table.add(
            f"cast:{source}", F32, n, f"<p>_cvtepi32_ps({_as_i32(table, source, n)})", table.vector(source, n)
        )
    for source in (F64, I64):
        wide = Register(source, n)
        if table.isa.fits(source, n) and (source == F64 or table.isa.opmask):
            table.add(f"cast:{source}", F32, n, wide.fill("<p>_cvt<t>_ps({0})"), wide.c_type)


def _to_f64(table: Table, n: int) -> None:
    table.add("cast:f64", F64, n, "{0}", "v")
    table.add("cast:f32", F64, n, "<p>_cvtps_pd({0})", table.vector(F32, n))
    for source in (I32, *_SHORT):
        table.add(
            f"cast:{source}", F64, n, f"<p>_cvtepi32_pd({_as_i32(table, source, n)})", table.vector(source, n)
        )
    if table.isa.opmask:
        table.add("cast:i64", F64, n, "<p>_cvtepi64_pd({0})", table.vector(I64, n))


def _from_float(table: Table, source: DType, n: int) -> None:
    """Float to integer.

    The instructions give the smallest integer for whatever does not fit and for NaN: NaN is cleared before.
    What is too large is clamped before where the largest integer is a float, else replaced after.
    """
    register = Register(source, n)
    number = table.use("keep", source, n, table.use("compare:ordered", source, n, "{0}", "{0}"), "{0}")
    setup = (f"const {register.c_type} number = {register.fill(number)}",)
    for target in (I32, *((I64,) if table.isa.opmask else ())):
        if not table.isa.fits(target, n):
            continue
        wide = Register(target, n) if target.bits > source.bits else register
        convert = wide.fill(f"<p>_cvtt{register.suffix}_epi{target.bits}")
        if source == F64 and target == I32:
            format = f"{convert}({register.fill('<p>_min_pd(number, <p>_set1_pd(2147483647.0))')})"
            why = "NaN becomes 0; what is too small becomes the smallest integer by itself"
        else:
            bound = register.fill(f"<p>_set1_<t>(0x1p{target.bits - 1})")
            above = table.use("ge", source, n, "number", bound)
            largest = f"<p>_set1_{Register(target, n).suffix}" + (
                "x" if target == I64 and wide.bits < 512 else ""
            )
            limit = {I32: "INT32_MAX", I64: "INT64_MAX"}[target]
            format = table.use("select", target, n, above, f"{largest}({limit})", f"{convert}(number)")
            why = "NaN becomes 0, too large the largest integer; too small becomes the smallest one by itself"
        table.add(f"cast:{source}", target, n, format, register.c_type, setup=setup, why=why)
    for target in _SHORT:
        low, high = (register.fill(f"<p>_set1_<t>({int(x)})") for x in (target.smallest, target.largest))
        inside = register.fill(f"<p>_min_<t>({high}, <p>_max_<t>({low}, number))")
        whole = register.fill(f"<p>_cvtt<t>_epi32({inside})")
        format = table.use("cast:i32", target, n, whole)
        table.add(
            f"cast:{source}",
            target,
            n,
            format,
            register.c_type,
            setup=setup,
            why="NaN becomes 0, the rest is clamped",
        )


def _odd(table: Table, n: int) -> None:
    """`odd`: f64 to f32 towards zero, the last bit set where that is inexact."""
    wide, narrow = Register(F64, n), Register(F32, n)
    mask, bits = table.vector(BOOL, n), table.vector(I32, n)
    away = table.use("gt", F64, n, table.use("abs", F64, n, "back"), table.use("abs", F64, n, "{0}"))
    down = "<p>_sub_epi32(<p>_castps_<si>(near), " + table.use("cast:bool", I32, n, "away") + ")"
    table.add(
        "odd",
        F64,
        n,
        narrow.fill("<p>_cast<si>_ps(<p>_or_<si>(down, " + table.use("cast:bool", I32, n, "inexact") + "))"),
        "v",
        gives=narrow.c_type,
        setup=(
            f"const {narrow.c_type} near = {wide.fill('<p>_cvtpd_ps({0})')}",
            f"const {wide.c_type} back = {wide.fill('<p>_cvtps_pd(near)')}",
            f"const {mask} away = {away}",
            f"const {mask} inexact = " + table.use("ne", F64, n, "back", "{0}"),
            f"const {bits} down = {narrow.fill(down)}",
        ),
        why="towards zero, the last bit set where that is inexact: what is rounded once more is then right",
    )


def _to_rounded(table: Table, target: DType, n: int) -> None:
    table.add(f"cast:{target}", target, n, "{0}", "v")
    for source in (F32, BF16 if target == F16 else F16):
        table.add(f"cast:{source}", target, n, table.use("rounded", target, n, "{0}"), "v")
    if table.isa.fits(F64, n):
        odd = table.use("odd", F64, n, "{0}")
        table.add("cast:f64", target, n, table.use("rounded", target, n, odd), table.vector(F64, n))
    for source in (*_SHORT, I32, I64):
        # an integer that f32 rounds is beyond the range of f16; bf16 needs it exact
        passes = source in _SHORT or target == F16
        if passes and table.has(f"cast:{source}", F32, n):
            as_f32 = table.use(f"cast:{source}", F32, n, "{0}")
            exact = source.bits == 8
            format = as_f32 if exact else table.use("rounded", target, n, as_f32)
            table.add(f"cast:{source}", target, n, format, table.vector(source, n))
    if target == BF16:
        _i32_to_bf16(table, n)


def _i32_to_bf16(table: Table, n: int) -> None:
    whole = table.vector(I32, n)
    register = Register(I32, n)
    large = table.use("gt", I32, n, "<p>_abs_epi32(<p>_srai_epi32({0}, 1))", "<p>_set1_epi32(0x7fffff)")
    format = table.use(
        "rounded", BF16, n, "<p>_cvtepi32_ps(" + table.use("select", I32, n, "large", "odd", "{0}") + ")"
    )
    table.add(
        "cast:i32",
        BF16,
        n,
        register.fill(format),
        whole,
        setup=(
            f"const {table.vector(BOOL, n)} large = {register.fill(large)}",
            f"const {whole} low = {register.fill('<p>_and_<si>({0}, <p>_set1_epi32(0x7f))')}",
            # The low 7 bits plus 127 reach bit 7 where they are not 0.
            f"const {whole} sum = {register.fill('<p>_add_epi32(low, <p>_set1_epi32(0x7f))')}",
            f"const {whole} odd = "
            + register.fill("<p>_andnot_<si>(<p>_set1_epi32(0x7f), <p>_or_<si>({0}, sum))"),
        ),
        why="24 bits go through f32 unharmed; of larger integers 7 bits become one that says if any was set",
    )
