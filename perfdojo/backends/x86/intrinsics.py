"""The intrinsics that the records use, each with its meaning lane by lane."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from perfdojo.backends.x86.costs import cost
from perfdojo.backends.x86.intrinsic import Intrinsic
from perfdojo.backends.x86.lane_intrinsics import Row, lane_rows, opmask


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
        yield from lane_rows(p, bits)
        yield from _conversions(p, bits)
        yield from _gathers(p, bits)
        yield from _dots(p, bits)
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


def _dots(p: str, bits: int) -> Iterator[Row]:
    """Products of neighbours, added to the lane that they lie in."""
    n = bits // 32
    bytes_ = " + ".join(f"b[4 * i + {k}] * c[4 * i + {k}]" for k in range(4))
    operands = f"i32x{n} a, u8x{4 * n} b, i8x{4 * n} c"
    yield f"{p}_dpbusd_epi32", f"{operands} -> i32x{n}", f"(uint32_t)a[i] + (uint32_t)({bytes_})"
    sum_ = "pd_flushed(a[i])"
    for k in ("2 * i + 1", "2 * i"):
        sum_ = f"pd_flushed(__builtin_fmaf(pd_from_bf16(b[{k}]), pd_from_bf16(c[{k}]), {sum_}))"
    yield f"{p}_dpbf16_ps", f"f32x{n} a, h16x{2 * n} b, h16x{2 * n} c -> f32x{n}", sum_


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
    yield "_mm_movehl_ps", "b32x4 a, b32x4 b -> b32x4", "i < 2 ? b[i + 2] : a[i]"
    half = "imm >> i / 4 * 4"
    yield (
        "_mm256_permute2f128_ps",
        "b32x8 a, b32x8 b, imm imm -> b32x8",
        f"({half} & 2 ? b : a)[4 * ({half} & 1) + i % 4]",
    )
    yield "_mm256_permute4x64_epi64", "i64x4 a, imm imm -> i64x4", "a[imm >> 2 * i & 3]"
    yield "_mm_srli_si128", "u8x16 a, imm imm -> u8x16", "i + imm < 16 ? a[i + imm] : 0"
    yield "_mm_cvtss_f32", "f32x4 a -> f32", "a[0]"
    yield "_mm_cvtsd_f64", "f64x2 a -> f64", "a[0]"
    yield "_mm_cvtsi128_si32", "i32x4 a -> i32", "a[0]"
    yield "_mm_cvtsi128_si64", "i64x2 a -> i64", "a[0]"
    yield "_mm_cvtsi32_si128", "i32 a -> i32x4", "i == 0 ? a : 0"
    yield "_mm_loadl_epi64", "mem p -> u64x2", "i == 0 ? p[0] : 0"
    yield "_mm_storel_epi64", "mem p, u64x2 a -> void", "if (i == 0) p[0] = a[0]"
