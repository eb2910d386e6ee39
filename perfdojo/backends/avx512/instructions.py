"""What is AVX-512's own: comparisons into opmasks, masked moves, narrowing, gathers."""

from __future__ import annotations

from perfdojo.backends.avx512.dots import add_dots
from perfdojo.backends.vectors.isa import LANES
from perfdojo.backends.vectors.table import FLOATS, NUMBERS, ROUNDED, Table
from perfdojo.backends.x86.arithmetic import add_arithmetic
from perfdojo.backends.x86.conversions import add_conversions
from perfdojo.backends.x86.memory import (
    GATHERED,
    OFFSETS,
    add_memory,
    as_stored,
    as_value,
    gather,
    gather_pointer,
    stored,
)
from perfdojo.backends.x86.reductions import add_reductions
from perfdojo.backends.x86.registers import Isa, Register
from perfdojo.backends.x86.zips import add_evens, add_zips
from perfdojo.compiler.dtypes import BOOL, I8, I16, I32, I64, U8, DType

ISA = Isa("avx512", 512, opmask=True)

FLOAT_PREDICATES = {
    "lt": "_CMP_LT_OQ", "le": "_CMP_LE_OQ", "gt": "_CMP_GT_OQ", "ge": "_CMP_GE_OQ", "eq": "_CMP_EQ_OQ",
    "ne": "_CMP_NEQ_UQ", "ordered": "_CMP_ORD_Q", "unordered": "_CMP_UNORD_Q",
}  # fmt: skip
INTEGER_PREDICATES = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "neq"}


def table() -> Table:
    """Return the whole table of the target."""
    result = Table(ISA)
    for dtype, n, _ in result.shapes(NUMBERS, pairs=True):
        _comparisons(result, dtype, n)
        _blends(result, dtype, n)
    for n in (2, *LANES):
        _masks(result, n)
    for source, n, _ in result.shapes((I16, I32, I64)):
        for target in (I8, I16, I32):
            if target.bits < source.bits:
                register = Register(source, n)
                format = register.fill(f"<p>_cvt<t>_epi{target.bits}({{0}})")
                result.add(f"narrow:{source}", target, n, format, register.c_type)
    add_arithmetic(result)
    add_conversions(result)
    add_memory(result)
    for dtype, n, _ in result.shapes((*NUMBERS, BOOL)):
        _masked_memory(result, dtype, n)
    for dtype, n, _ in result.shapes(GATHERED):
        for offset in OFFSETS:
            if ISA.fits(offset, n):
                _gathers(result, dtype, offset, n)
    add_reductions(result)
    add_zips(result)
    add_dots(result)
    add_evens(result)
    return result


def trimmed(text: str, register_lanes: int, n: int) -> str:
    """Return an opmask expression with the bits above lane `n` cleared: no opmask ever has them."""
    if register_lanes == n and n >= 8:
        return text
    if n >= 8:
        return f"(__mmask{n})({text})"
    return f"(__mmask8)({text} & {2**n - 1:#x})"


def _comparisons(result: Table, dtype: DType, n: int) -> None:
    register = Register(dtype, n)
    if dtype in (*FLOATS, *ROUNDED):
        texts = {op: f"<p>_cmp_<t>_mask({{0}}, {{1}}, {name})" for op, name in FLOAT_PREDICATES.items()}
    else:
        kind = "epu8" if dtype == U8 else "<t>"
        texts = {op: f"<p>_cmp{name}_{kind}_mask({{0}}, {{1}})" for op, name in INTEGER_PREDICATES.items()}
    for op, text in texts.items():
        if register.partial:
            text = trimmed(text, register.bits // dtype.bits, n)
        result.add(f"compare:{op}", dtype, n, text, "v,v", "m")
        if op in INTEGER_PREDICATES:
            result.add(op, dtype, n, text, "v,v", "m")


def _blends(result: Table, dtype: DType, n: int) -> None:
    for op in ("pick", "select"):
        result.add(op, dtype, n, "<p>_mask_blend_<t>({0}, {2}, {1})", "m,v,v")
    result.add("keep", dtype, n, "<p>_maskz_mov_<t>({0}, {1})", "m,v")
    one = "<p>_maskz_set1_<t>({0}, 1)" if dtype.is_integer else "<p>_maskz_mov_<t>({0}, <p>_set1_<t>(1))"
    result.add("cast:bool", dtype, n, one, "m")
    x = "x" if dtype == I64 and Register(dtype, n).bits < 512 else ""
    result.add("splat", dtype, n, f"<p>_set1_<t>{x}({{0}})", "s")


def _masks(result: Table, n: int) -> None:
    k = f"mask{max(8, n)}"
    all_lanes = f"{2**n - 1:#x}{'u' if n >= 32 else ''}{'ll' if n == 64 else ''}"
    for op, name in (("and", "kand"), ("or", "kor"), ("ne", "kxor")):
        result.add(op, BOOL, n, f"_{name}_{k}({{0}}, {{1}})", "m,m")
    result.add("eq", BOOL, n, trimmed(f"_kxnor_{k}({{0}}, {{1}})", n, n), "m,m")
    result.add("not", BOOL, n, trimmed(f"_knot_{k}({{0}})", n, n), "m")
    result.add("select", BOOL, n, f"_kor_{k}(_kand_{k}({{0}}, {{1}}), _kandn_{k}({{0}}, {{2}}))", "m,m,m")
    result.add("cast:bool", BOOL, n, "{0}", "m")
    result.add("splat", BOOL, n, f"{{0}} ? {all_lanes} : 0", "s")
    result.add("all", BOOL, n, all_lanes, "")
    result.add("none", BOOL, n, "0", "")
    # below 64 one shift suffices, but it must not be as wide as its operand
    ones = {8: "1u << n", 16: "1u << n", 32: "1ull << n", 64: "1ull << n / 2 << (n - n / 2)"}[max(8, n)]
    below = f"const int64_t n = {{0}} < 0 ? 0 : {{0}} < {n} ? {{0}} : {n}"
    result.add("first", BOOL, n, f"(__mmask{max(8, n)})(({ones}) - 1)", "n", "m", [below])


def _masked_memory(result: Table, dtype: DType, n: int) -> None:
    memory = stored(dtype, n)
    load = as_value(result, dtype, n, memory.fill("<p>_maskz_loadu_<t>({1}, {0})"))
    store = memory.fill("<p>_mask_storeu_<t>({0}, {2}, ") + as_stored(result, dtype, n, "{1}") + ")"
    result.add("masked_load", dtype, n, load, "c,m")
    result.add("masked_store", dtype, n, store, "p,v,m", "void")


def _gathers(result: Table, dtype: DType, offset: DType, n: int) -> None:
    wider, rest = gather(dtype, offset, n)
    pointer = gather_pointer(dtype)
    zero = "<p>_setzero_<si>()" if dtype.is_integer else "<p>_setzero_<t>()"
    tail = f"{{0}}, {dtype.bytes})"
    indices = result.vector(offset, n)
    if wider.bits == 512:
        plain, masked = f"_mm512_{rest}({{1}}, {tail}", f"_mm512_mask_{rest}({zero}, {{2}}, {{1}}, {tail}"
    else:
        plain = f"{wider.prefix}_{rest}({pointer}, {{1}}, {dtype.bytes})"
        masked = f"{wider.prefix}_mmask_{rest}({zero}, {{2}}, {{1}}, {tail}"
    result.add(f"gather:{offset}", dtype, n, plain, f"c,{indices}")
    result.add(f"masked_gather:{offset}", dtype, n, masked, f"c,{indices},m")
