"""What is AVX2's own: masks as whole registers, comparisons, blends, narrowing by packing, gathers.

A mask of n lanes is a 256-bit register with 256/n bits a lane, all ones or all zeros, so that it is as wide
as the widest elements of its scope. A comparison of narrower elements is widened to that (`mask`), and
narrowed where narrower elements are chosen (`mask_to`).
"""

from __future__ import annotations

from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.table import FLOATS, NUMBERS, ROUNDED, Table
from perfdojo.backends.x86.arithmetic import add_arithmetic
from perfdojo.backends.x86.conversions import add_conversions
from perfdojo.backends.x86.memory import GATHERED, OFFSETS, add_memory, gather, gather_pointer
from perfdojo.backends.x86.reductions import add_reductions, halves
from perfdojo.backends.x86.registers import Isa, Register
from perfdojo.backends.x86.zips import add_evens, add_zips
from perfdojo.compiler.dtypes import BOOL, I8, I16, I32, I64, U8, DType

ISA = Isa("avx2", 256, opmask=False)
MASK_LANES = (4, 8, 16, 32)

FLOAT_PREDICATES = {
    "lt": "_CMP_LT_OQ", "le": "_CMP_LE_OQ", "gt": "_CMP_GT_OQ", "ge": "_CMP_GE_OQ", "eq": "_CMP_EQ_OQ",
    "ne": "_CMP_NEQ_UQ", "ordered": "_CMP_ORD_Q", "unordered": "_CMP_UNORD_Q",
}  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
BY_BITS = {8: I8, 16: I16, 32: I32, 64: I64}


def table() -> Table:
    """Return the whole table of the target."""
    result = Table(ISA)
    _narrowing(result)
    for dtype, n, _ in result.shapes(NUMBERS, pairs=True):
        _comparisons(result, dtype, n)
        of_floats = dtype in (*FLOATS, *ROUNDED)
        blend = "<p>_blendv_<t>({2}, {1}, {0})" if of_floats else "<p>_blendv_epi8({2}, {1}, {0})"
        result.add("pick", dtype, n, blend, "r,v,v")
        result.add(
            "keep", dtype, n, "<p>_and_<t>({0}, {1})" if of_floats else "<p>_and_<si>({0}, {1})", "r,v"
        )
        result.add("splat", dtype, n, f"<p>_set1_<t>{'x' if dtype == I64 else ''}({{0}})", "s")
    for n in MASK_LANES:
        _masks(result, n)
    for dtype, n, _ in result.shapes(NUMBERS):
        _canonical(result, dtype, n, Register(dtype, n))
    add_arithmetic(result)
    add_conversions(result)
    add_memory(result)
    for dtype, n, _ in result.shapes(GATHERED):
        _masked_memory(result, dtype, n)
        for offset in OFFSETS:
            if ISA.fits(offset, n):
                _gathers(result, dtype, offset, n)
    add_reductions(result)
    add_zips(result)
    add_evens(result)
    return result


def _comparisons(result: Table, dtype: DType, n: int) -> None:
    """`compare:<op>`: lanes of all ones or zeros, as wide as the elements."""
    if dtype in (*FLOATS, *ROUNDED):
        for op, predicate in FLOAT_PREDICATES.items():
            result.add(f"compare:{op}", dtype, n, f"<p>_cmp_<t>({{0}}, {{1}}, {predicate})", "v,v", "r")
        return
    result.add("compare:eq", dtype, n, "<p>_cmpeq_<t>({0}, {1})", "v,v", "r")
    if dtype == U8:
        result.add("compare:ge", dtype, n, "<p>_cmpeq_epi8(<p>_max_epu8({0}, {1}), {0})", "v,v", "r")
        result.add("compare:le", dtype, n, "<p>_cmpeq_epi8(<p>_min_epu8({0}, {1}), {0})", "v,v", "r")
        opposites = (("lt", "ge"), ("gt", "le"), ("ne", "eq"))
    else:
        result.add("compare:gt", dtype, n, "<p>_cmpgt_<t>({0}, {1})", "v,v", "r")
        result.add("compare:lt", dtype, n, "<p>_cmpgt_<t>({1}, {0})", "v,v", "r")
        opposites = (("ge", "lt"), ("le", "gt"), ("ne", "eq"))
    for op, opposite in opposites:
        text = result.use(f"compare:{opposite}", dtype, n, "{0}", "{1}")
        result.add(f"compare:{op}", dtype, n, f"<p>_xor_<si>({text}, <p>_set1_epi32(-1))", "v,v", "r")


def _canonical(result: Table, dtype: DType, n: int, register: Register) -> None:
    """Comparisons that give a mask, and what takes one."""
    bits = carried(dtype).bits
    wide = ISA.mask_bits(n)
    as_bits, as_value = "{0}", result.use(f"mask_to:{bits}", BOOL, n, "{0}")
    if dtype in (*FLOATS, *ROUNDED):
        as_bits, as_value = "<p>_cast<t>_<si>({0})", f"<p>_cast<si>_<t>({as_value})"
    if bits < wide:
        as_bits = f"_mm256_cvtepi{bits}_epi{wide}({as_bits})"
    result.add("mask", dtype, n, as_bits, "r", "m")
    for op in COMPARISONS:
        text = result.use("mask", dtype, n, result.use(f"compare:{op}", dtype, n, "{0}", "{1}"))
        result.add(op, dtype, n, text, "v,v", "m")
    result.add("select", dtype, n, result.use("pick", dtype, n, as_value, "{1}", "{2}"), "m,v,v")
    result.add(
        "cast:bool",
        dtype,
        n,
        result.use("keep", dtype, n, as_value, f"<p>_set1_<t>{'x' if dtype == I64 else ''}(1)"),
        "m",
    )


def _masks(result: Table, n: int) -> None:
    wide = ISA.mask_bits(n)
    t = f"epi{wide}"
    x = "x" if wide == 64 else ""
    for op, name in (("and", "and"), ("or", "or"), ("ne", "xor")):
        result.add(op, BOOL, n, f"_mm256_{name}_si256({{0}}, {{1}})", "m,m")
    result.add("eq", BOOL, n, "_mm256_cmpeq_epi8({0}, {1})", "m,m")
    result.add("not", BOOL, n, "_mm256_xor_si256({0}, _mm256_set1_epi32(-1))", "m")
    result.add("select", BOOL, n, "_mm256_blendv_epi8({2}, {1}, {0})", "m,m,m")
    result.add("cast:bool", BOOL, n, "{0}", "m")
    result.add("splat", BOOL, n, "_mm256_set1_epi32(-({0}))", "s")
    result.add("all", BOOL, n, "_mm256_set1_epi32(-1)", "")
    result.add("none", BOOL, n, "_mm256_setzero_si256()", "")
    numbers = ", ".join(map(str, range(n)))
    count = "{0}" if wide == 64 else f"{{0}} < 0 ? 0 : {{0}} < {n} ? {{0}} : {n}"
    below = f"_mm256_cmpgt_{t}(_mm256_set1_{t}{x}({count}), _mm256_setr_{t}{x}({numbers}))"
    result.add("first", BOOL, n, below, "n", "m")


def _narrowing(result: Table) -> None:
    """`narrow:<from>` keeps the low bits of integers, `mask_to:<bits>` narrows masks."""
    for n in MASK_LANES:
        widest = ISA.mask_bits(n)
        result.add(f"mask_to:{widest}", BOOL, n, "{0}", "m")
        for bits in (b for b in (32, 16, 8) if b < widest):
            source, target = Register(BY_BITS[2 * bits], n), BY_BITS[bits]
            setup, packed = _packed(source, "packs")
            result.add(f"mask_pack:{bits}", BOOL, n, packed, source.c_type, result.vector(target, n), setup)
            wider = result.use(f"mask_to:{2 * bits}", BOOL, n, "{0}")
            text = result.use(f"mask_pack:{bits}", BOOL, n, wider)
            result.add(f"mask_to:{bits}", BOOL, n, text, "m", result.vector(target, n))
        for bits in (b for b in (64, 32, 16) if b <= widest):
            source, target = Register(BY_BITS[bits], n), BY_BITS[bits // 2]
            setup, packed = _packed(source, "packus")
            result.add(f"narrow:i{bits}", target, n, packed, source.c_type, setup=setup)
        for bits, result_bits in ((32, 8), (64, 16), (64, 8)):
            if bits <= widest:
                source = Register(BY_BITS[bits], n)
                first = result.use(f"narrow:i{bits}", BY_BITS[bits // 2], n, "{0}")
                text = result.use(f"narrow:i{bits // 2}", BY_BITS[result_bits], n, first)
                result.add(f"narrow:i{bits}", BY_BITS[result_bits], n, text, source.c_type)


def _packed(source: Register, pack: str) -> tuple[list[str], str]:
    """Return statements and the expression that halve the width; packus wants clear upper bits."""
    bits, value = source.dtype.bits, "{0}"
    if pack == "packus" and bits < 64:
        value = source.fill(f"<p>_and_<si>({{0}}, <p>_set1_<t>({2 ** (bits // 2) - 1:#x}))")
    setup = [f"const {source.c_type} x = {value}"]
    low, high = halves(source.c_type, "x") if source.bits == 256 else ("x", "x")
    if bits == 64:
        low, high = f"_mm_castsi128_ps({low})", f"_mm_castsi128_ps({high})"
        return setup, f"_mm_castps_si128(_mm_shuffle_ps({low}, {high}, 0x88))"
    return setup, f"_mm_{pack}_epi{bits}({low}, {high})"


def _masked_memory(result: Table, dtype: DType, n: int) -> None:
    """Masked loads and stores exist for 32 and 64 bits."""
    mask = result.use(f"mask_to:{dtype.bits}", BOOL, n, "{%d}")
    pointer = gather_pointer(dtype)
    result.add("masked_load", dtype, n, f"<p>_maskload_<t>({pointer}, {mask % 1})", "c,m")
    store = pointer.replace("const ", "")
    result.add("masked_store", dtype, n, f"<p>_maskstore_<t>({store}, {mask % 2}, {{1}})", "p,v,m", "void")


def _gathers(result: Table, dtype: DType, offset: DType, n: int) -> None:
    wider, rest = gather(dtype, offset, n)
    pointer, indices = gather_pointer(dtype), result.vector(offset, n)
    result.add(
        f"gather:{offset}",
        dtype,
        n,
        f"{wider.prefix}_{rest}({pointer}, {{1}}, {dtype.bytes})",
        f"c,{indices}",
    )
    mask = result.use(f"mask_to:{dtype.bits}", BOOL, n, "{2}")
    zero = "<p>_setzero_<si>()" if dtype.is_integer else "<p>_setzero_<t>()"
    if not dtype.is_integer:
        mask = f"<p>_cast<si>_<t>({mask})"
    masked = f"{wider.prefix}_mask_{rest}({zero}, {pointer}, {{1}}, {mask}, {dtype.bytes})"
    result.add(f"masked_gather:{offset}", dtype, n, masked, f"c,{indices},m")
