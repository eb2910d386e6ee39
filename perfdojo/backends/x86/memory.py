"""Loads and stores: how elements lie in memory and how they lie in registers."""

from __future__ import annotations

from perfdojo.backends.vectors.isa import SMALLEST_BITS
from perfdojo.backends.vectors.table import INTEGERS, NUMBERS, Table
from perfdojo.backends.x86.reductions import halves
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, DType

GATHERED = (F32, F64, I32, I64)
OFFSETS = (I32, I64)
LINE_BITS = 512


def add_memory(table: Table) -> None:
    """Add `load`, `store` and `iota`; needs `narrow`, `cast:bool` and `cast:i8` to bool."""
    for dtype, n, register in table.shapes(OFFSETS):
        numbers = ", ".join(map(str, range(n)))
        x = "x" if dtype == I64 and register.bits < 512 else ""
        table.add("iota", dtype, n, f"<p>_setr_<t>{x}({numbers})", "")
    for dtype, n, _ in table.shapes((*NUMBERS, BOOL)):
        if dtype == BOOL and not table.has("cast:i8", BOOL, n):
            continue
        load, store = _plain(stored(dtype, n))
        load_setup, store_setup = _setup(stored(dtype, n))
        value = as_stored(table, dtype, n, "{1}")
        table.add("load", dtype, n, as_value(table, dtype, n, load), "c", setup=load_setup)
        table.add(
            "store",
            dtype,
            n,
            store.replace("{1}", value),
            "p,v",
            "void",
            [s.replace("{1}", value) for s in store_setup],
        )
    _add_streams(table)


def _add_streams(table: Table) -> None:
    """Add `stream`, a store past the caches, for vectors that fill a register when they lie in memory.

    The instruction wants an address that the width of the register divides. What malloc gives lies 16 bytes
    off that, so halves are tried before the store is an ordinary one; beside the memory, a branch that always
    goes the same way costs nothing. `stream_line` does that for whole lines alone.
    """
    for dtype, n, register in table.shapes((F32, F64, *INTEGERS), pairs=True):
        if register.partial:
            continue
        ordinary = _plain(Register(dtype, n))[1]
        full = ordinary.replace("storeu", "stream")
        setup = _where_aligned(register.bits, full)
        if register.bits > SMALLEST_BITS:
            # the records with fewer lanes are there already
            low, high = halves(register.c_type, "{1}")
            half, bytes_ = table.records["stream", dtype.name, n // 2].name, register.bits // 16
            both = (f"{half}({{0}}, {low})", f"{half}((char *){{0}} + {bytes_}, {high})")
            setup += _where_aligned(SMALLEST_BITS, *both)
        table.add("stream", dtype, n, ordinary, "void *,v", "void", setup)
        if register.bits == LINE_BITS:
            alone = _where_aligned(register.bits, full)
            table.add("stream_line", dtype, n, ordinary, "void *,v", "void", alone)
    for dtype, n, _ in table.shapes((F16, BF16, BOOL)):
        in_memory = stored(dtype, n)
        if not in_memory.partial and table.has("store", dtype, n):
            bits = as_stored(table, dtype, n, "{1}")
            text = table.use("stream", in_memory.dtype, n, "{0}", bits)
            table.add("stream", dtype, n, text, "void *,v", "void")


def _where_aligned(bits: int, *statements: str) -> list[str]:
    """Return the lines that do this and return where the address {0} is a multiple of a width."""
    condition = f"if ((uintptr_t){{0}} % {bits // 8} == 0) {{{{"
    return [condition, *(f"  {s}" for s in statements), "  return", "}}"]


def stored(dtype: DType, n: int) -> Register:
    """Return the register with the bits of `n` elements as they lie in memory."""
    return Register({F16: I16, BF16: I16, BOOL: I8}.get(dtype, dtype), n)


def as_value(table: Table, dtype: DType, n: int, bits: str) -> str:
    """Return the expression of the value whose elements in memory are `bits`."""
    held = Register(dtype, n)
    if dtype == F16:
        return held.fill(f"<p>_cvtph_ps({bits})")
    if dtype == BF16:
        return held.fill(f"<p>_cast<si>_ps(<p>_slli_epi32(<p>_cvtepu16_epi32({bits}), 16))")
    return table.use("cast:i8", BOOL, n, bits) if dtype == BOOL else bits


def as_stored(table: Table, dtype: DType, n: int, value: str) -> str:
    """Return the expression of the elements in memory whose value is `value`."""
    held = Register(dtype, n)
    if dtype == F16:
        return held.fill(f"<p>_cvtps_ph({value}, _MM_FROUND_TO_NEAREST_INT)")
    if dtype == BF16:
        return table.use("narrow:i32", I16, n, held.fill(f"<p>_srli_epi32(<p>_castps_<si>({value}), 16)"))
    return table.use("cast:bool", I8, n, value) if dtype == BOOL else value


def _plain(register: Register) -> tuple[str, str]:
    """Return the load from {0} and the store of {1} to {0}."""
    c_type = register.c_type
    if not c_type.endswith("i"):
        return register.fill("<p>_loadu_<t>({0})"), register.fill("<p>_storeu_<t>({0}, {1})")
    used = register.dtype.bits * register.lanes
    if used == 512:
        return "_mm512_loadu_si512({0})", "_mm512_storeu_si512({0}, {1})"
    if used == 64:
        return "_mm_loadl_epi64((const __m128i *)({0}))", "_mm_storel_epi64((__m128i *)({0}), {1})"
    if used == 32:
        return "_mm_cvtsi32_si128(bits)", "memcpy({0}, &bits, 4)"
    return (
        register.fill(f"<p>_loadu_<si>((const {c_type} *)({{0}}))"),
        register.fill(f"<p>_storeu_<si>(({c_type} *)({{0}}), {{1}})"),
    )


def _setup(register: Register) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Four bytes pass through an int."""
    if register.dtype.bits * register.lanes != 32:
        return (), ()
    return ("int32_t bits", "memcpy(&bits, {0}, 4)"), ("const int32_t bits = _mm_cvtsi128_si32({1})",)


def gather(dtype: DType, offset: DType, n: int) -> tuple[Register, str]:
    """Return the wider of the registers of values and offsets and the rest of the gather's name."""
    wider = Register(dtype if dtype.bits >= offset.bits else offset, n)
    return wider, f"i{offset.bits}gather_{Register(dtype, n).suffix}"


def gather_pointer(dtype: DType) -> str:
    """Return the address {0} as the gathers of a type want it."""
    return "(const long long *)({0})" if dtype == I64 else "{0}"
