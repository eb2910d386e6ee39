"""Loads and stores of NEON: how elements lie in memory and how they lie in registers."""

from __future__ import annotations

from perfdojo.backends.neon.registers import HALF, WHOLE, Register, cast
from perfdojo.backends.vectors.table import NUMBERS, Table
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I16, I32, I64, U8, DType

GATHERED = (F32, F64, I32, I64)
OFFSETS = (I32, I64)


def add_memory(table: Table) -> None:
    """Add `load`, `store`, `iota` and gathers."""
    for dtype, n, own in table.shapes(OFFSETS):
        numbers = ", ".join(map(str, range(n)))
        table.add("iota", dtype, n, f"({own.c_type}){{{{{numbers}}}}}", "")
    for dtype, n, _ in table.shapes((*NUMBERS, BOOL)):
        if dtype == BOOL and not table.has("cast:u8", BOOL, n):
            continue
        bits, load_setup = _loaded(dtype, n)
        table.add(
            "load", dtype, n, _as_value(table, dtype, n, bits), _pointer("c", load_setup), setup=load_setup
        )
        store_setup, store = _stored(_as_bits(table, dtype, n, "{1}"), dtype, n)
        table.add("store", dtype, n, store, f"{_pointer('p', store_setup)},v", "void", store_setup)
    for dtype, n, own in table.shapes(GATHERED):
        for offset in OFFSETS:
            if table.isa.fits(offset, n):
                where = Register(offset, n)
                at = ", ".join(where.fill(f"{{0}}[vget<q>_lane_<t>({{1}}, {k})]") for k in range(n))
                text = f"(({own.c_type}){{{{{at}}}}})"
                table.add(f"gather:{offset}", dtype, n, text, f"c,{where.c_type}", why="lane by lane")


def in_memory(dtype: DType, n: int) -> Register:
    """Return the register with the bits of `n` elements as they lie in memory."""
    return Register({F16: I16, BF16: I16, BOOL: U8}.get(dtype, dtype), n)


def _suffix(dtype: DType, n: int) -> str:
    """Return the suffix of the elements in memory; f16 and bf16 are passed as integers without a sign."""
    return "u16" if dtype in (F16, BF16) else in_memory(dtype, n).suffix


def _pointer(letter: str, setup: tuple[str, ...]) -> str:
    """Return the kind of a pointer (`Table.add`): any where the bits are copied."""
    return {"c": "const void *", "p": "void *"}[letter] if setup else letter


def _address(dtype: DType, const: str = "") -> str:
    """Return the address {0}; f16 that are only copied are taken for i16."""
    return f"({const}int16_t *)({{0}})" if dtype == I16 else "{0}"


def _loaded(dtype: DType, n: int) -> tuple[str, tuple[str, ...]]:
    """Return the expression of the bits at {0}, and statements before it."""
    held, t = in_memory(dtype, n), _suffix(dtype, n)
    used = held.dtype.bits * n
    if used >= HALF:
        return f"vld1{'q' if used == WHOLE else ''}_{t}({_address(dtype, 'const ')})", ()
    return (
        cast(f"vdup_n_u{used}(bits)", f"u{used}", t, HALF),
        (f"uint{used}_t bits", f"memcpy(&bits, {{0}}, {used // 8})"),
    )


def _stored(bits: str, dtype: DType, n: int) -> tuple[tuple[str, ...], str]:
    """Return the statements that write bits to {0}: those before the last one, the last one."""
    held, t = in_memory(dtype, n), _suffix(dtype, n)
    used = held.dtype.bits * n
    if used >= HALF:
        return (), f"vst1{'q' if used == WHOLE else ''}_{t}({_address(dtype)}, {bits})"
    first = f"vget_lane_u{used}({cast(bits, t, f'u{used}', HALF)}, 0)"
    return (f"const uint{used}_t bits = {first}",), f"memcpy({{0}}, &bits, {used // 8})"


def _as_value(table: Table, dtype: DType, n: int, bits: str) -> str:
    """Return the expression of the value whose elements in memory are `bits`."""
    if dtype == F16:
        text = f"vcvt_f32_f16(vreinterpret_f16_u16({bits}))"
        return text if n == 4 else f"vget_low_f32({text})"
    if dtype == BF16:
        text = f"vreinterpretq_f32_u32(vshll_n_u16({bits}, 16))"
        return text if n == 4 else f"vget_low_f32({text})"
    return table.use("cast:u8", BOOL, n, bits) if dtype == BOOL else bits


def _as_bits(table: Table, dtype: DType, n: int, value: str) -> str:
    """Return the expression of the elements in memory whose value is `value`."""
    whole = value if n == 4 else f"vcombine_f32({value}, {value})"
    if dtype == F16:
        return f"vreinterpret_u16_f16(vcvt_f16_f32({whole}))"
    if dtype == BF16:
        return f"vshrn_n_u32(vreinterpretq_u32_f32({whole}), 16)"
    return table.use("cast:bool", U8, n, value) if dtype == BOOL else value
