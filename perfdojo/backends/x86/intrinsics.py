"""The intrinsics that the records use, each with its meaning lane by lane."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from perfdojo.backends.x86.costs import cost
from perfdojo.backends.x86.instruction import Intrinsic

Row = tuple[str, str, str]
"""Name, `operands -> result`, meaning; see `Intrinsic`."""

_FLOAT_KINDS = (("ps", "f32", "b32", 32), ("pd", "f64", "b64", 64))
_C_FLOAT = {"ps": "f", "pd": ""}
_PREDICATES = {
    "EQ_OQ": "a[i] == b[i]",
    "LT_OQ": "a[i] < b[i]",
    "LE_OQ": "a[i] <= b[i]",
    "GE_OQ": "a[i] >= b[i]",
    "GT_OQ": "a[i] > b[i]",
    "NEQ_UQ": "a[i] != b[i]",
    "UNORD_Q": "(a[i] != a[i] || b[i] != b[i])",
    "ORD_Q": "(a[i] == a[i] && b[i] == b[i])",
}
_COMPARISONS = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neq": "!="}
_PREDICATE = "".join(f"imm == _CMP_{name} ? {text} : " for name, text in _PREDICATES.items()) + "0"


@cache
def intrinsics() -> dict[str, Intrinsic]:
    """Return all of them by name."""
    result: dict[str, Intrinsic] = {}
    for name, signature, meaning in _rows():
        assert name not in result, name
        operands, gives = signature.split("->")
        parameters = tuple((t, x) for t, x in (o.split() for o in operands.split(",") if o.strip()))
        result[name] = Intrinsic(name, gives.strip(), parameters, meaning, *cost(name))
    return result


def _rows() -> Iterator[Row]:
    for bits in (128, 256, 512):
        p = "_mm" if bits == 128 else f"_mm{bits}"
        yield from _floats(p, bits)
        yield from _float_moves(p, bits)
        yield from _integers(p, bits)
        yield from _integer_moves(p, bits)
        yield from _conversions(p, bits)
        yield from _gathers(p, bits)
    for bits in (8, 16, 32, 64):
        k = f"k{bits}"
        for name, meaning in (
            ("and", "a & b"),
            ("or", "a | b"),
            ("xor", "a ^ b"),
            ("xnor", "~(a ^ b)"),
            ("andn", "~a & b"),
        ):
            yield f"_k{name}_mask{bits}", f"{k} a, {k} b -> {k}", meaning
        yield f"_knot_mask{bits}", f"{k} a -> {k}", "~a"
    yield from _halves()
    yield from _single_registers()


def opmask(lanes: int) -> str:
    """Return the type of the opmask of a register with so many lanes."""
    return f"k{max(8, lanes)}"


def _floats(p: str, bits: int) -> Iterator[Row]:
    for t, kind, raw, width in _FLOAT_KINDS:
        n, f = bits // width, _C_FLOAT[t]
        v, b, k = f"{kind}x{n}", f"{raw}x{n}", opmask(n)
        for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
            yield f"{p}_{name}_{t}", f"{v} a, {v} b -> {v}", f"a[i] {sign} b[i]"
        yield f"{p}_min_{t}", f"{v} a, {v} b -> {v}", "a[i] < b[i] ? a[i] : b[i]"
        yield f"{p}_max_{t}", f"{v} a, {v} b -> {v}", "a[i] > b[i] ? a[i] : b[i]"
        for name, sign in (("min", "<"), ("max", ">")):
            chosen = f"k >> i & 1 ? (a[i] {sign} b[i] ? a[i] : b[i]) : c[i]"
            yield f"{p}_mask_{name}_{t}", f"{v} c, {k} k, {v} a, {v} b -> {v}", chosen
        yield f"{p}_fmadd_{t}", f"{v} a, {v} b, {v} c -> {v}", f"__builtin_fma{f}(a[i], b[i], c[i])"
        yield f"{p}_fmsub_{t}", f"{v} a, {v} b, {v} c -> {v}", f"__builtin_fma{f}(a[i], b[i], -c[i])"
        yield f"{p}_fnmadd_{t}", f"{v} a, {v} b, {v} c -> {v}", f"__builtin_fma{f}(-a[i], b[i], c[i])"
        yield f"{p}_fnmsub_{t}", f"{v} a, {v} b, {v} c -> {v}", f"__builtin_fma{f}(-a[i], b[i], -c[i])"
        for name in ("sqrt", "floor", "ceil"):
            yield f"{p}_{name}_{t}", f"{v} a -> {v}", f"__builtin_{name}{f}(a[i])"
        name = "roundscale" if bits == 512 else "round"
        rounded = f"imm == _MM_FROUND_NINT ? __builtin_rint{f}(a[i]) : 0"
        yield f"{p}_{name}_{t}", f"{v} a, imm imm -> {v}", rounded
        for name, meaning in (
            ("and", "a[i] & b[i]"),
            ("or", "a[i] | b[i]"),
            ("xor", "a[i] ^ b[i]"),
            ("andnot", "~a[i] & b[i]"),
        ):
            yield f"{p}_{name}_{t}", f"{b} a, {b} b -> {b}", meaning
        if bits < 512:
            yield f"{p}_cmp_{t}", f"{v} a, {v} b, imm imm -> {b}", f"({_PREDICATE}) ? -1 : 0"
            yield f"{p}_blendv_{t}", f"{b} a, {b} b, {b} c -> {b}", f"c[i] >> {width - 1} ? b[i] : a[i]"
        yield f"{p}_cmp_{t}_mask", f"{v} a, {v} b, imm imm -> {k}", _PREDICATE


def _float_moves(p: str, bits: int) -> Iterator[Row]:
    for t, kind, raw, width in _FLOAT_KINDS:
        n = bits // width
        v, b, k = f"{kind}x{n}", f"{raw}x{n}", opmask(n)
        yield f"{p}_set1_{t}", f"{kind} a -> {v}", "a"
        yield f"{p}_setzero_{t}", f"-> {v}", "0"
        yield f"{p}_cast{t}_si{bits}", f"{b} a -> u{width}x{n}", "a[i]"
        yield f"{p}_castsi{bits}_{t}", f"u{width}x{n} a -> {b}", "a[i]"
        yield f"{p}_mask_blend_{t}", f"{k} k, {b} a, {b} b -> {b}", "k >> i & 1 ? b[i] : a[i]"
        yield f"{p}_maskz_mov_{t}", f"{k} k, {b} a -> {b}", "k >> i & 1 ? a[i] : 0"
        yield f"{p}_loadu_{t}", f"mem p -> {b}", "p[i]"
        yield f"{p}_storeu_{t}", f"mem p, {b} a -> void", "p[i] = a[i]"
        yield f"{p}_maskz_loadu_{t}", f"{k} k, mem p -> {b}", "k >> i & 1 ? p[i] : 0"
        yield f"{p}_mask_storeu_{t}", f"mem p, {k} k, {b} a -> void", "if (k >> i & 1) p[i] = a[i]"
        if bits < 512:
            yield f"{p}_maskload_{t}", f"mem p, i{width}x{n} m -> {b}", "m[i] < 0 ? p[i] : 0"
            yield f"{p}_maskstore_{t}", f"mem p, i{width}x{n} m, {b} a -> void", "if (m[i] < 0) p[i] = a[i]"


def _integers(p: str, bits: int) -> Iterator[Row]:
    for width in (8, 16, 32, 64):
        n, t = bits // width, f"epi{width}"
        i, u, k = f"i{width}x{n}", f"u{width}x{n}", opmask(n)
        yield f"{p}_add_{t}", f"{u} a, {u} b -> {u}", "a[i] + b[i]"
        yield f"{p}_sub_{t}", f"{u} a, {u} b -> {u}", "a[i] - b[i]"
        if width > 8:
            wide = "uint64_t" if width == 64 else "uint32_t"
            yield f"{p}_mullo_{t}", f"{u} a, {u} b -> {u}", f"({wide})a[i] * b[i]"
            yield f"{p}_slli_{t}", f"{u} a, imm imm -> {u}", "a[i] << imm"
            yield f"{p}_srli_{t}", f"{u} a, imm imm -> {u}", "a[i] >> imm"
            yield f"{p}_srai_{t}", f"{i} a, imm imm -> {i}", "a[i] >> imm"
            if width == 16:
                yield f"{p}_mulhi_epu16", f"{u} a, {u} b -> {u}", "(uint32_t)a[i] * b[i] >> 16"
        yield f"{p}_abs_{t}", f"{i} a -> {u}", "a[i] < 0 ? 0 - (uint64_t)a[i] : (uint64_t)a[i]"
        signed = ((t, i), ("epu8", u)) if width == 8 else ((t, i),)
        for suffix, v in signed:
            yield f"{p}_min_{suffix}", f"{v} a, {v} b -> {v}", "a[i] < b[i] ? a[i] : b[i]"
            yield f"{p}_max_{suffix}", f"{v} a, {v} b -> {v}", "a[i] > b[i] ? a[i] : b[i]"
            for name, sign in _COMPARISONS.items():
                yield f"{p}_cmp{name}_{suffix}_mask", f"{v} a, {v} b -> {k}", f"a[i] {sign} b[i]"
        if bits < 512:
            for name in ("eq", "gt"):
                yield f"{p}_cmp{name}_{t}", f"{i} a, {i} b -> {i}", f"a[i] {_COMPARISONS[name]} b[i] ? -1 : 0"
    whole = f"u64x{bits // 64}"
    for name, meaning in (
        ("and", "a[i] & b[i]"),
        ("or", "a[i] | b[i]"),
        ("xor", "a[i] ^ b[i]"),
        ("andnot", "~a[i] & b[i]"),
    ):
        yield f"{p}_{name}_si{bits}", f"{whole} a, {whole} b -> {whole}", meaning
    yield f"{p}_mul_epu32", f"{whole} a, {whole} b -> {whole}", "(a[i] & 0xffffffff) * (b[i] & 0xffffffff)"
    if bits < 512:
        bytes_ = f"u8x{bits // 8}"
        yield f"{p}_blendv_epi8", f"{bytes_} a, {bytes_} b, {bytes_} c -> {bytes_}", "c[i] >> 7 ? b[i] : a[i]"


def _integer_moves(p: str, bits: int) -> Iterator[Row]:
    for width in (8, 16, 32, 64):
        n, t = bits // width, f"epi{width}"
        v, k, x = f"i{width}x{n}", opmask(n), "x" if width == 64 and bits < 512 else ""
        yield f"{p}_set1_{t}{x}", f"i{width} a -> {v}", "a"
        if (bits, width) not in ((128, 64), (512, 8), (512, 16)):
            operands = ", ".join(f"i{width} a{j}" for j in range(n))
            yield (
                f"{p}_setr_{t}{x}",
                f"{operands} -> {v}",
                f"((int{width}_t[]){{{', '.join(f'a{j}' for j in range(n))}}})[i]",
            )
        yield f"{p}_maskz_set1_{t}", f"{k} k, i{width} a -> {v}", "k >> i & 1 ? a : 0"
        yield f"{p}_mask_blend_{t}", f"{k} k, {v} a, {v} b -> {v}", "k >> i & 1 ? b[i] : a[i]"
        yield f"{p}_maskz_mov_{t}", f"{k} k, {v} a -> {v}", "k >> i & 1 ? a[i] : 0"
        yield f"{p}_maskz_loadu_{t}", f"{k} k, mem p -> {v}", "k >> i & 1 ? p[i] : 0"
        yield f"{p}_mask_storeu_{t}", f"mem p, {k} k, {v} a -> void", "if (k >> i & 1) p[i] = a[i]"
        if bits < 512 and width >= 32:
            yield f"{p}_maskload_{t}", f"mem p, {v} m -> {v}", "m[i] < 0 ? p[i] : 0"
            yield f"{p}_maskstore_{t}", f"mem p, {v} m, {v} a -> void", "if (m[i] < 0) p[i] = a[i]"
    whole = f"u64x{bits // 64}"
    yield f"{p}_setzero_si{bits}", f"-> {whole}", "0"
    yield f"{p}_loadu_si{bits}", f"mem p -> {whole}", "p[i]"
    yield f"{p}_storeu_si{bits}", f"mem p, {whole} a -> void", "p[i] = a[i]"


def _conversions(p: str, bits: int) -> Iterator[Row]:
    """Widening names the result's width, narrowing and conversions between kinds the wider one's."""
    for wide in (16, 32, 64):
        n = bits // wide
        for narrow in (w for w in (8, 16, 32) if w < wide):
            lanes = max(128, narrow * n) // narrow
            yield f"{p}_cvtepi{narrow}_epi{wide}", f"i{narrow}x{lanes} a -> i{wide}x{n}", "a[i]"
            yield f"{p}_cvtepu{narrow}_epi{wide}", f"u{narrow}x{lanes} a -> u{wide}x{n}", "a[i]"
            low = "a[i]" if lanes == n else f"i < {n} ? a[i] : 0"
            yield f"{p}_cvtepi{wide}_epi{narrow}", f"u{wide}x{n} a -> u{narrow}x{lanes}", low
    n, half = bits // 32, max(4, bits // 64)
    m = bits // 64
    yield f"{p}_cvtepi32_ps", f"i32x{n} a -> f32x{n}", "(float)a[i]"
    yield (
        f"{p}_cvttps_epi32",
        f"f32x{n} a -> i32x{n}",
        "a[i] >= -0x1p31f && a[i] < 0x1p31f ? (int32_t)a[i] : INT32_MIN",
    )
    rounded = "a[i] >= -0x1p31f && a[i] < 0x1p31f ? (int32_t)__builtin_rintf(a[i]) : INT32_MIN"
    yield f"{p}_cvtps_epi32", f"f32x{n} a -> i32x{n}", rounded
    yield f"{p}_cvtepi64_pd", f"i64x{m} a -> f64x{m}", "(double)a[i]"
    yield (
        f"{p}_cvttpd_epi64",
        f"f64x{m} a -> i64x{m}",
        "a[i] >= -0x1p63 && a[i] < 0x1p63 ? (int64_t)a[i] : INT64_MIN",
    )
    halfs = max(128, 16 * n) // 16
    yield f"{p}_cvtph_ps", f"u16x{halfs} a -> f32x{n}", "pd_from_half(a[i])"
    to_half = "pd_to_half(a[i])"
    yield (
        f"{p}_cvtps_ph",
        f"f32x{n} a, imm imm -> u16x{halfs}",
        to_half if halfs == n else f"i < {n} ? {to_half} : 0",
    )
    if bits == 128:
        return
    yield f"{p}_cvtps_pd", f"f32x{half} a -> f64x{m}", "(double)a[i]"
    yield f"{p}_cvtpd_ps", f"f64x{m} a -> f32x{half}", "(float)a[i]"
    yield f"{p}_cvtepi32_pd", f"i32x{half} a -> f64x{m}", "(double)a[i]"
    yield (
        f"{p}_cvttpd_epi32",
        f"f64x{m} a -> i32x{half}",
        "a[i] > -0x1p31 - 1 && a[i] < 0x1p31 ? (int32_t)a[i] : INT32_MIN",
    )
    yield f"{p}_cvtepi64_ps", f"i64x{m} a -> f32x{half}", "(float)a[i]"
    yield (
        f"{p}_cvttps_epi64",
        f"f32x{half} a -> i64x{m}",
        "a[i] >= -0x1p63f && a[i] < 0x1p63f ? (int64_t)a[i] : INT64_MIN",
    )


def _gathers(p: str, bits: int) -> Iterator[Row]:
    """A gather is named by its offsets and values; the wider of both fills the register."""
    for offset in (32, 64):
        for t, raw, width in (
            ("ps", "b32", 32),
            ("pd", "b64", 64),
            ("epi32", "i32", 32),
            ("epi64", "i64", 64),
        ):
            n = bits // max(offset, width)
            if n < 4:
                continue
            name, k = f"i{offset}gather_{t}", opmask(n)
            indices, v, m = f"i{offset}x{n}", f"{raw}x{n}", f"i{width}x{n}"
            at = f"pd_at_{'u' if raw[0] == 'b' else 'i'}{width}(p, (int64_t)x[i] * imm)"
            where = f"k >> i & 1 ? {at} : a[i]"
            if bits == 512:
                yield f"{p}_{name}", f"{indices} x, mem p, imm imm -> {v}", at
                yield f"{p}_mask_{name}", f"{v} a, {k} k, {indices} x, mem p, imm imm -> {v}", where
                continue
            yield f"{p}_{name}", f"mem p, {indices} x, imm imm -> {v}", at
            yield f"{p}_mmask_{name}", f"{v} a, {k} k, {indices} x, mem p, imm imm -> {v}", where
            chosen = v if raw[0] == "b" else m
            chosen_where = f"m[i] >> {width - 1} ? {at} : a[i]"
            yield f"{p}_mask_{name}", f"{v} a, mem p, {indices} x, {chosen} m, imm imm -> {v}", chosen_where


def _halves() -> Iterator[Row]:
    """Lower and upper halves of wide registers."""
    for bits in (256, 512):
        h = bits // 2
        for t, raw, width in (("ps", "b32", 32), ("pd", "b64", 64), ("si", "u64", 64)):
            whole, half = f"{raw}x{bits // width}", f"{raw}x{h // width}"
            yield f"_mm{bits}_cast{t}{bits}_{t}{h}", f"{whole} a -> {half}", "a[i]"
        upper = {
            256: ("extractf128_ps", "extractf128_pd", "extracti128_si256"),
            512: ("extractf32x8_ps", "extractf64x4_pd", "extracti64x4_epi64"),
        }
        for name, raw, width in zip(upper[bits], ("b32", "b64", "u64"), (32, 64, 64), strict=True):
            n = h // width
            yield f"_mm{bits}_{name}", f"{raw}x{2 * n} a, imm imm -> {raw}x{n}", f"a[{n} * imm + i]"


def _single_registers() -> Iterator[Row]:
    """What is used on 128 bits only."""
    for t, limits, wide, narrow in (
        ("epi32", ("INT16_MIN", "INT16_MAX"), "i32x4", "i16x8"),
        ("epi16", ("INT8_MIN", "INT8_MAX"), "i16x8", "i8x16"),
    ):
        n = int(wide.split("x")[1])
        x = f"(i < {n} ? a[i] : b[i - {n}])"
        unsigned = {"i16x8": ("0", "UINT16_MAX"), "i8x16": ("0", "UINT8_MAX")}[narrow]
        yield f"_mm_packs_{t}", f"{wide} a, {wide} b -> {narrow}", f"pd_clamp({x}, {', '.join(limits)})"
        yield (
            f"_mm_packus_{t}",
            f"{wide} a, {wide} b -> u{narrow[1:]}",
            f"pd_clamp({x}, {', '.join(unsigned)})",
        )
    yield (
        "_mm_shuffle_ps",
        "b32x4 a, b32x4 b, imm imm -> b32x4",
        "i < 2 ? a[imm >> 2 * i & 3] : b[imm >> 2 * i & 3]",
    )
    yield "_mm_movehl_ps", "b32x4 a, b32x4 b -> b32x4", "i < 2 ? b[i + 2] : a[i]"
    yield "_mm_movehdup_ps", "b32x4 a -> b32x4", "a[i | 1]"
    yield "_mm_unpackhi_pd", "b64x2 a, b64x2 b -> b64x2", "i == 0 ? a[1] : b[1]"
    yield "_mm_srli_si128", "u8x16 a, imm imm -> u8x16", "i + imm < 16 ? a[i + imm] : 0"
    yield "_mm_cvtss_f32", "f32x4 a -> f32", "a[0]"
    yield "_mm_cvtsd_f64", "f64x2 a -> f64", "a[0]"
    yield "_mm_cvtsi128_si32", "i32x4 a -> i32", "a[0]"
    yield "_mm_cvtsi128_si64", "i64x2 a -> i64", "a[0]"
    yield "_mm_cvtsi32_si128", "i32 a -> i32x4", "i == 0 ? a : 0"
    yield "_mm_loadl_epi64", "mem p -> u64x2", "i == 0 ? p[0] : 0"
    yield "_mm_storel_epi64", "mem p, u64x2 a -> void", "if (i == 0) p[0] = a[0]"
