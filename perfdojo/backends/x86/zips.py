"""Moves between lanes: `zip_low:d`, `zip_high:d` exchange them at distance d, `evens`, `odds` part them."""

from __future__ import annotations

from perfdojo.backends.vectors.table import Table
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import F32, F64, I32, I64

_BLOCK = 128
"""Bits within which most shuffles stay."""


def add_zips(table: Table) -> None:
    """Add the steps for vectors of 32- and 64-bit elements that fill their register."""
    for dtype, n, _ in table.shapes((F32, F64, I32, I64)):
        register = Register(dtype, n)
        for k in range(1, n.bit_length()):
            distance = n >> k
            for op, text in zip(("low", "high"), _pair(register, distance * dtype.bits), strict=True):
                table.add(f"zip_{op}:{distance}", dtype, n, text, "v,v")


def add_evens(table: Table) -> None:
    """Add what parts the even from the odd lanes of two vectors."""
    for dtype, n, _ in table.shapes((F32, F64, I32, I64)):
        for first, op in enumerate(("evens", "odds")):
            register = Register(dtype, n)
            text, setup = _every_second(register, first), []
            if register.bits == 512:
                lanes = ", ".join(str(first + 2 * k) for k in range(n))
                setup = [f"const __m512i order = _mm512_setr_epi{dtype.bits}({lanes})"]
            table.add(op, dtype, n, text, "v,v", setup=setup)


def _every_second(register: Register, first: int) -> str:
    """Return the expression of every second lane of two vectors; one of 512 bits uses their `order`."""
    p, wide = register.prefix, register.dtype.bits == 64
    suffix = "pd" if wide else "ps"
    if register.bits == 512:
        return _seen_as(register, suffix, f"_mm512_permutex2var_{suffix}({{0}}, order, {{1}})")
    picked = f"{p}_unpack{('lo', 'hi')[first]}_pd({{0}}, {{1}})"
    if not wide:
        picked = f"{p}_shuffle_ps({{0}}, {{1}}, {('0x88', '0xdd')[first]})"
    if register.bits == 256:
        # they come from both halves of both vectors: the two quarters in the middle change places
        cast = f"_mm256_cast{suffix}_si256({picked})"
        picked = f"_mm256_castsi256_{suffix}(_mm256_permute4x64_epi64({cast}, 0xd8))"
    return _seen_as(register, suffix, picked)


def _pair(register: Register, bits: int) -> tuple[str, str]:
    """Return the expressions of both steps at a distance of so many bits."""
    p = register.prefix
    if bits == 32:
        if register.bits == 512:
            low, high = (
                "_mm512_mask_moveldup_ps({0}, 0xaaaa, {1})",
                "_mm512_mask_movehdup_ps({1}, 0x5555, {0})",
            )
        else:
            low = f"{p}_blend_ps({{0}}, {p}_moveldup_ps({{1}}), 0xaa)"
            high = f"{p}_blend_ps({p}_movehdup_ps({{0}}), {{1}}, 0xaa)"
            if register.bits == 128:
                low, high = low.replace("0xaa", "0xa"), high.replace("0xaa", "0xa")
        return _seen_as(register, "ps", low), _seen_as(register, "ps", high)
    if bits == 64 and register.dtype.bits == 32:
        pair = (f"{p}_shuffle_ps({{0}}, {{1}}, 0x44)", f"{p}_shuffle_ps({{0}}, {{1}}, 0xee)")
        return _seen_as(register, "ps", pair[0]), _seen_as(register, "ps", pair[1])
    if bits == 64:
        pair = (f"{p}_unpacklo_pd({{0}}, {{1}})", f"{p}_unpackhi_pd({{0}}, {{1}})")
        return _seen_as(register, "pd", pair[0]), _seen_as(register, "pd", pair[1])
    if register.bits == 256:
        low, high = (f"_mm256_permute2f128_ps({{0}}, {{1}}, {imm})" for imm in ("0x20", "0x31"))
    elif bits == 256:
        low, high = (f"_mm512_shuffle_f32x4({{0}}, {{1}}, {imm})" for imm in ("0x44", "0xee"))
    else:
        assert bits == _BLOCK, (register, bits)
        low = "_mm512_mask_shuffle_f32x4({0}, 0xf0f0, {1}, {1}, 0xa0)"
        high = "_mm512_mask_shuffle_f32x4({1}, 0x0f0f, {0}, {0}, 0xf5)"
    return _seen_as(register, "ps", low), _seen_as(register, "ps", high)


def _seen_as(register: Register, suffix: str, text: str) -> str:
    """Return an expression on registers of `suffix` as one on registers of another type; moves no bits."""
    own, whole = register.suffix, f"si{register.bits}"
    if own == suffix:
        return text
    p = register.prefix

    def cast(x: str, source: str, target: str) -> str:
        return x if source == target else f"{p}_cast{source}_{target}({x})"

    source = whole if own.startswith("epi") else own
    for place in ("{0}", "{1}"):
        text = text.replace(place, cast(cast(place, source, whole), whole, suffix))
    return cast(cast(text, suffix, whole), whole, source)
