"""The table of NEON: comparisons and masks here, everything else from the modules beside this one."""

from __future__ import annotations

from perfdojo.backends.neon.arithmetic import add_arithmetic
from perfdojo.backends.neon.conversions import add_conversions
from perfdojo.backends.neon.dots import add_dots
from perfdojo.backends.neon.memory import add_memory
from perfdojo.backends.neon.reductions import add_reductions
from perfdojo.backends.neon.registers import (
    WHOLE,
    Neon,
    Register,
    cast,
    narrowed,
    vector_type,
    widened,
)
from perfdojo.backends.neon.zips import add_zips
from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.table import NUMBERS, Table
from perfdojo.compiler.dtypes import BOOL, DType

ISA = Neon("neon", WHOLE, opmask=False)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def table() -> Table:
    """Return the whole table of the target."""
    result = Table(ISA)
    for n in ISA.lanes:
        _masks(result, n)
    for dtype, n, _ in result.shapes(NUMBERS):
        _comparisons(result, dtype, n)
    add_arithmetic(result)
    add_conversions(result)
    add_memory(result)
    add_dots(result)
    add_reductions(result)
    add_zips(result)
    return result


def _comparisons(result: Table, dtype: DType, n: int) -> None:
    """`compare:<op>` as wide as the elements; as masks; what chooses by them."""
    own = Register(dtype, n)
    for op in ("lt", "le", "gt", "ge", "eq"):
        result.add(f"compare:{op}", dtype, n, f"vc{op}<q>_<t>({{0}}, {{1}})", "v,v", "r")
    equal = result.use("compare:eq", dtype, n, "{0}", "{1}")
    result.add("compare:ne", dtype, n, _inverted(equal, carried(dtype).bits, own.bits), "v,v", "r")
    if carried(dtype).is_float:
        numbers = "vand<q>_<u>(vceq<q>_<t>({0}, {0}), vceq<q>_<t>({1}, {1}))"
        result.add("compare:ordered", dtype, n, numbers, "v,v", "r")
        result.add(
            "compare:unordered", dtype, n, _inverted(numbers, carried(dtype).bits, own.bits), "v,v", "r"
        )
    result.add("pick", dtype, n, "vbsl<q>_<t>({0}, {1}, {2})", "r,v,v")
    unsigned = own.fill("<u>")
    kept = own.fill(f"vand<q>_<u>({cast('{1}', own.suffix, unsigned, own.bits)}, {{0}})")
    result.add("keep", dtype, n, cast(kept, unsigned, own.suffix, own.bits), "r,v")
    result.add("splat", dtype, n, "vdup<q>_n_<t>({0})", "s")
    bits, wide = carried(dtype).bits, ISA.mask_bits(n)
    # all ones and all zeros extend by their sign
    signed = cast("{0}", f"u{bits}", f"s{bits}", own.bits) if bits < wide else "{0}"
    grown = widened(signed, "s", bits, wide, WHOLE)
    as_mask = cast(grown, f"s{wide}", f"u{wide}", WHOLE) if bits < wide else grown
    result.add("mask", dtype, n, as_mask, "r", "m")
    for op in COMPARISONS:
        text = result.use("mask", dtype, n, result.use(f"compare:{op}", dtype, n, "{0}", "{1}"))
        result.add(op, dtype, n, text, "v,v", "m")
    as_value = result.use(f"mask_to:{bits}", BOOL, n, "{0}")
    result.add("select", dtype, n, result.use("pick", dtype, n, as_value, "{1}", "{2}"), "m,v,v")
    one = result.use("keep", dtype, n, as_value, own.fill("vdup<q>_n_<t>(1)"))
    result.add("cast:bool", dtype, n, one, "m")
    zero = own.fill("vdup<q>_n_<t>(0)")
    result.add(f"cast:{dtype}", BOOL, n, result.use("ne", dtype, n, "{0}", zero), own.c_type)


def _inverted(text: str, bits: int, whole: int) -> str:
    """Return the complement; there is none for elements of 64 bits."""
    if bits == 64:
        inner = cast(text, "u64", "u32", whole)
        return cast(f"vmvnq_u32({inner})", "u32", "u64", whole)
    return f"vmvn{'q' if whole == WHOLE else ''}_u{bits}({text})"


def _masks(result: Table, n: int) -> None:
    wide = ISA.mask_bits(n)
    t = f"u{wide}"
    for op, name in (("and", "and"), ("or", "orr"), ("ne", "eor")):
        result.add(op, BOOL, n, f"v{name}q_{t}({{0}}, {{1}})", "m,m")
    result.add("eq", BOOL, n, f"vceqq_{t}({{0}}, {{1}})", "m,m")
    result.add("not", BOOL, n, _inverted("{0}", wide, WHOLE), "m")
    result.add("select", BOOL, n, f"vbslq_{t}({{0}}, {{1}}, {{2}})", "m,m,m")
    result.add("cast:bool", BOOL, n, "{0}", "m")
    result.add("splat", BOOL, n, f"vdupq_n_{t}((uint{wide}_t)-({{0}}))", "s")
    result.add("all", BOOL, n, f"vdupq_n_{t}((uint{wide}_t)-1)", "")
    result.add("none", BOOL, n, f"vdupq_n_{t}(0)", "")
    numbers = ", ".join(map(str, range(n)))
    count = "{0}" if wide == 64 else f"{{0}} < 0 ? 0 : {{0}} < {n} ? {{0}} : {n}"
    held = vector_type(f"s{wide}", WHOLE)
    below = f"vcgtq_s{wide}(vdupq_n_s{wide}({count}), ({held}){{{{{numbers}}}}})"
    result.add("first", BOOL, n, below, "n", "m")
    for bits in (64, 32, 16, 8):
        if bits <= wide:
            source = vector_type(f"u{bits}", max(64, bits * n))
            result.add(f"mask_to:{bits}", BOOL, n, narrowed("{0}", "u", wide, bits, WHOLE), "m", source)
