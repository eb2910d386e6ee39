"""An immintrin.h for any machine: each intrinsic as a C function written from its meaning; not for speed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perfdojo.backends.x86.intrinsic import Intrinsic
from perfdojo.backends.x86.intrinsics import intrinsics

_VECTOR = re.compile(r"([fiubh])(\d+)x(\d+)")
_ELEMENTS = {
    "f32": "float",
    "f64": "double",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
}
_SCALARS = {
    "f32": "float",
    "f64": "double",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "imm": "int",
}

_ONCE = "static __attribute__((noinline, noclone, unused))"

_TYPES = """\
typedef float __m128 __attribute__((vector_size(16), may_alias));
typedef double __m128d __attribute__((vector_size(16), may_alias));
typedef long long __m128i __attribute__((vector_size(16), may_alias));
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef double __m256d __attribute__((vector_size(32), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));
typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef double __m512d __attribute__((vector_size(64), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef short __m128bh __attribute__((vector_size(16), may_alias));
typedef short __m256bh __attribute__((vector_size(32), may_alias));
typedef short __m512bh __attribute__((vector_size(64), may_alias));
typedef uint8_t __mmask8;
typedef uint16_t __mmask16;
typedef uint32_t __mmask32;
typedef uint64_t __mmask64;

enum { _CMP_EQ_OQ = 0, _CMP_UNORD_Q = 3, _CMP_NEQ_UQ = 4, _CMP_ORD_Q = 7 };
enum { _CMP_LT_OQ = 17, _CMP_LE_OQ = 18, _CMP_GE_OQ = 29, _CMP_GT_OQ = 30 };
enum { _MM_FROUND_TO_NEAREST_INT = 0, _MM_FROUND_NINT = 0, _MM_HINT_T0 = 3 };

/* Here every store is an ordinary one, and no line is fetched ahead. */
static inline void _mm_sfence(void) {}
static inline void _mm_prefetch(const void *p, int hint) { (void)p, (void)hint; }
"""

SUPPORT = """\
static inline int pd_clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
/* a 2^floor(b), rounded once; infinite b are obeyed by a quiet NaN too */
static inline float pd_scaled(float a, float b) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    if (__builtin_isinf(b) && (bits & 0x7fc00000) == 0x7fc00000) return b > 0 ? b : 0.0f;
    if (b - b != 0.0f) return a * __builtin_exp2f(b);
    const float floor = __builtin_floorf(b);
    return (float)__builtin_scalbn(a, floor < -700 ? -700 : floor > 700 ? 700 : (int)floor);
}
static inline uint32_t pd_at_u32(const void *p, int64_t bytes) {
    uint32_t x;
    memcpy(&x, (const char *)p + bytes, sizeof x);
    return x;
}
static inline uint64_t pd_at_u64(const void *p, int64_t bytes) {
    uint64_t x;
    memcpy(&x, (const char *)p + bytes, sizeof x);
    return x;
}
static inline int32_t pd_at_i32(const void *p, int64_t bytes) { return (int32_t)pd_at_u32(p, bytes); }
static inline int64_t pd_at_i64(const void *p, int64_t bytes) { return (int64_t)pd_at_u64(p, bytes); }
/* The instructions on pairs of bf16 take subnormal numbers for zeros, and make zeros of subnormal results. */
static inline float pd_flushed(float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x;
}
static inline float pd_from_bf16(uint16_t h) {
    const uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, 4);
    return pd_flushed(x);
}
/* Half precision: a subnormal is its integer times 2^-24, a normal number moves its exponent by 112. */
static inline float pd_from_half(uint16_t h) {
    const uint32_t low = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16;
    const float small = (float)(int32_t)low * 0x1p-24f;
    uint32_t bits = (low << 13) + (low >= 0x7c00 ? 0x70000000 : 0x38000000), small_bits;
    float result;
    memcpy(&small_bits, &small, 4);
    bits = (low < 0x400 ? small_bits : bits) | sign;
    memcpy(&result, &bits, 4);
    return result;
}
/* To nearest, ties to even: adding 0.5 lets the sum itself round what will be subnormal. */
static inline uint16_t pd_to_half(float x) {
    uint32_t bits, sum_bits;
    memcpy(&bits, &x, 4);
    const uint32_t low = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    float sum;
    memcpy(&sum, &low, 4);
    sum += 0.5f;
    memcpy(&sum_bits, &sum, 4);
    const uint32_t small = sum_bits - 0x3f000000;
    const uint32_t normal = (low - 0x38000000 + 0xfff + (low >> 13 & 1)) >> 13;
    const uint32_t finite = low < 0x38800000 ? small : low < 0x47800000 ? normal : 0x7c00;
    return (uint16_t)(sign | (low > 0x7f800000 ? 0x7e00 | (low >> 13 & 0x3ff) : finite));
}
"""


def emulation_headers(names: Iterable[str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return the headers, (file name, text), that stand in for the system's, with `names` or all functions.

    They need a compiler with GCC's vector extensions and no flag, and link with -lm.
    """
    table = intrinsics()
    chosen = sorted(table) if names is None else sorted(set(names))
    functions = [function(table[name]) for name in chosen]
    body = "\n".join(functions)
    text = f"""\
/* Stands in for immintrin.h where the processor lacks the instructions: each intrinsic as plain C. */
#ifndef PERFDOJO_EMULATED_IMMINTRIN_H
#define PERFDOJO_EMULATED_IMMINTRIN_H
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC system_header
#include <stdint.h>
#include <string.h>

{_TYPES}
{lane_types(body)}
{SUPPORT}
{body}
#endif
"""
    return (("immintrin.h", text),)


def lane_types(functions: str) -> str:
    """Return the definitions of the types `pd_f32x16` and `pd_m_f32` that C functions use."""
    lines = []
    for name in sorted(set(re.findall(r"\bpd_[fiu]\d+x\d+\b", functions))):
        kind, lanes = name[3:].split("x")
        size = int(kind[1:]) // 8 * int(lanes)
        lines.append(f"typedef {_element(kind)} {name} __attribute__((vector_size({size}), may_alias));")
    for name in sorted(set(re.findall(r"\bpd_m_[fiu]\d+\b", functions))):
        lines.append(f"typedef {_element(name[5:])} {name} __attribute__((aligned(1), may_alias));")
    return "\n".join(lines) + "\n"


def c_type(text: str) -> str:
    """Return the C type of an operand or result of an intrinsic."""
    if match := _VECTOR.fullmatch(text):
        kind, width, lanes = match[1], int(match[2]), int(match[3])
        end = {"i": "i", "u": "i", "h": "bh"}.get(kind, "d" if width == 64 else "")
        return f"__m{width * lanes}{end}"
    if text.startswith("k"):
        return f"__mmask{text[1:]}"
    return "void" if text == "void" else "void *" if text in ("mem", "aligned") else _SCALARS[text]


def function(intrinsic: Intrinsic, name: str | None = None) -> str:
    """Return the C function of an intrinsic, called `name`."""
    store = intrinsic.result == "void"
    head, body = [], []
    lane = next(
        (t for t, _ in reversed(intrinsic.parameters) if store and _VECTOR.fullmatch(t)), intrinsic.result
    )
    for type_, x in intrinsic.parameters:
        if type_ == "aligned":
            body.append(f"if ((uintptr_t){x}_ % {_register_bytes(lane)}) __builtin_trap();")
        if type_ in ("mem", "aligned"):
            head.append(f"{'' if store else 'const '}void *{x}_")
            element = f"pd_m_{_bits_as_unsigned(lane).split('x')[0]}"
            body.append(f"{'' if store else 'const '}{element} *{x} = {x}_;")
        elif _VECTOR.fullmatch(type_):
            head.append(f"{c_type(type_)} {x}_")
            lanes = f"pd_{_bits_as_unsigned(type_)}"
            body.append(f"const {lanes} {x} = ({lanes}){x}_;")
        else:
            head.append(f"{c_type(type_)} {x}")
    body += _result(intrinsic, lane)
    # a loop is compiled once, not wherever it is used
    kind = _ONCE if any("for (" in line for line in body) else "static inline"
    signature = f"{kind} {c_type(intrinsic.result)} {name or intrinsic.name}({', '.join(head) or 'void'})"
    return "\n".join([signature + " {", *(f"    {line}" for line in body), "}"])


def _result(intrinsic: Intrinsic, lane: str) -> list[str]:
    meaning, result = intrinsic.meaning, c_type(intrinsic.result)
    match = _VECTOR.fullmatch(lane)
    by_lane = re.search(r"\bi\b", meaning) is not None
    if match is None and not by_lane:
        return [f"return {meaning};" if result != "__mmask8" else f"return (__mmask8)({meaning});"]
    if match is None:
        lanes = next(t for t, _ in intrinsic.parameters if _VECTOR.fullmatch(t)).split("x")[1]
        loop = f"for (int i = 0; i < {lanes}; i++) r |= ({result})((({result})({meaning})) << i);"
        return [f"{result} r = 0;", loop, "return r;"]
    lanes = f"pd_{_bits_as_unsigned(lane)}"
    whole = _whole(intrinsic, lanes, result)
    if whole:
        return whole
    loop = f"for (int i = 0; i < {match[3]}; i++) "
    if intrinsic.result == "void":
        return [f"{loop}{meaning};"]
    element = _element(_bits_as_unsigned(lane).split("x")[0])
    return [f"{lanes} r;", f"{loop}r[i] = ({element})({meaning});", f"return ({result})r;"]


def _whole(intrinsic: Intrinsic, lanes: str, result: str) -> list[str]:
    """Return statements without a loop where the meaning says the same of whole vectors, else none."""
    meaning = intrinsic.meaning
    types = {t for t, _ in intrinsic.parameters} | {intrinsic.result}
    if len(types) == 1 and re.fullmatch(r"~?[abc]\[i\]( [-+*/&|^] [abc]\[i\])?", meaning):
        return [f"return ({result})({meaning.replace('[i]', '')});"]
    if meaning == "a":
        return [f"return ({result})(a - ({lanes}){{0}});"]
    if meaning == "0":
        return [f"return ({result}){{0}};"]
    if listed := re.fullmatch(r"\(\(int\d+_t\[\]\)({.*})\)\[i\]", meaning):
        return [f"return ({result})({lanes}){listed[1]};"]
    if meaning == "p[i] = a[i]":
        return ["memcpy(p, &a, sizeof a);"]
    source = {"p[i]": "p", "a[i]": "&a"}.get(meaning)
    keeps = source == "p" or (
        source == "&a" and _bits_per_lane(intrinsic.parameters[0][0]) == _bits_per_lane(lanes)
    )
    return [f"{result} r;", f"memcpy(&r, {source}, sizeof r);", "return r;"] if keeps else []


def _register_bytes(text: str) -> int:
    match = _VECTOR.fullmatch(text)
    assert match is not None, text
    return int(match[2]) * int(match[3]) // 8


def _bits_per_lane(text: str) -> str:
    match = re.search(r"\d+(?=x)", text)
    assert match is not None, text
    return match[0]


def _bits_as_unsigned(text: str) -> str:
    return text.replace("b", "u").replace("h", "u")


def _element(kind: str) -> str:
    return _ELEMENTS[kind] if kind in _ELEMENTS else f"uint{kind[1:]}_t"
