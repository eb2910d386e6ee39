"""Intrinsics that do the same in every lane, on floats and on integers, with their meaning."""

from __future__ import annotations

from collections.abc import Iterator

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


def lane_rows(p: str, bits: int) -> Iterator[Row]:
    """Yield those of the registers of `bits` bits, whose names begin with `p`."""
    yield from _floats(p, bits)
    yield from _float_moves(p, bits)
    yield from _integers(p, bits)
    yield from _integer_moves(p, bits)


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
        if t == "ps":
            yield f"{p}_scalef_ps", f"{v} a, {v} b -> {v}", "pd_scaled(a[i], b[i])"
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
        if t == "pd":
            yield f"{p}_unpacklo_pd", f"{b} a, {b} b -> {b}", "i & 1 ? b[i - 1] : a[i]"
            yield f"{p}_unpackhi_pd", f"{b} a, {b} b -> {b}", "i & 1 ? b[i] : a[i + 1]"
        else:
            yield from _duplicates(p, b, k, bits)
        if bits == 512:
            chosen = f"(x[i] & {n} ? b : a)[x[i] & {n - 1}]"
            yield f"{p}_permutex2var_{t}", f"{b} a, i{width}x{n} x, {b} b -> {b}", chosen
        yield f"{p}_maskz_mov_{t}", f"{k} k, {b} a -> {b}", "k >> i & 1 ? a[i] : 0"
        yield f"{p}_loadu_{t}", f"mem p -> {b}", "p[i]"
        yield f"{p}_storeu_{t}", f"mem p, {b} a -> void", "p[i] = a[i]"
        yield f"{p}_stream_{t}", f"aligned p, {b} a -> void", "p[i] = a[i]"
        yield f"{p}_maskz_loadu_{t}", f"{k} k, mem p -> {b}", "k >> i & 1 ? p[i] : 0"
        yield f"{p}_mask_storeu_{t}", f"mem p, {k} k, {b} a -> void", "if (k >> i & 1) p[i] = a[i]"
        if bits < 512:
            yield f"{p}_maskload_{t}", f"mem p, i{width}x{n} m -> {b}", "m[i] < 0 ? p[i] : 0"
            yield f"{p}_maskstore_{t}", f"mem p, i{width}x{n} m, {b} a -> void", "if (m[i] < 0) p[i] = a[i]"


def _duplicates(p: str, b: str, k: str, bits: int) -> Iterator[Row]:
    """Even or odd lanes twice, and what puts them beside the others."""
    for name, lane in (("moveldup", "i & ~1"), ("movehdup", "i | 1")):
        yield f"{p}_{name}_ps", f"{b} a -> {b}", f"a[{lane}]"
        yield f"{p}_mask_{name}_ps", f"{b} c, {k} k, {b} a -> {b}", f"k >> i & 1 ? a[{lane}] : c[i]"
    pairs = "(i & 2 ? b : a)[(i & ~3) + (imm >> 2 * (i & 3) & 3)]"
    yield f"{p}_shuffle_ps", f"{b} a, {b} b, imm imm -> {b}", pairs
    if bits < 512:
        yield f"{p}_blend_ps", f"{b} a, {b} b, imm imm -> {b}", "imm >> i & 1 ? b[i] : a[i]"
        return
    # each quarter of the result is one of the quarters of its operand
    quarter = "4 * (imm >> i / 4 * 2 & 3) + i % 4"
    chosen = f"(i < 8 ? a : b)[{quarter}]"
    yield f"{p}_shuffle_f32x4", f"{b} a, {b} b, imm imm -> {b}", chosen
    masked = f"k >> i & 1 ? {chosen} : c[i]"
    yield f"{p}_mask_shuffle_f32x4", f"{b} c, {k} k, {b} a, {b} b, imm imm -> {b}", masked


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
    yield f"{p}_stream_si{bits}", f"aligned p, {whole} a -> void", "p[i] = a[i]"
