"""Arithmetic on floats and integers: both instruction sets say it alike, or differ by one name."""

from __future__ import annotations

from perfdojo.backends.vectors.table import FLOATS, INTEGERS, ROUNDED, Table
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import BF16, F16, F32, I32, I64, U8, DType

FUSED = {"fma": "fmadd", "fms": "fmsub", "fnma": "fnmadd", "fnms": "fnmsub"}
"""fma(a, b, c) = a*b + c, and with the signs of c and of a*b changed."""


def add_arithmetic(table: Table) -> None:
    """Add + - * / and what is like them.

    Needs the target's `compare:<op>`, a comparison as the machine leaves it, and `pick(comparison, a, b)`.
    """
    for _, lanes, _ in table.shapes((F16,)):
        _roundings(table, lanes)
    for dtype, lanes, _ in table.shapes((*FLOATS, *ROUNDED), pairs=True):
        _float(table, dtype, lanes)
    for dtype, lanes, _ in table.shapes(INTEGERS, pairs=True):
        _integer(table, dtype, lanes)
        _product(table, dtype, lanes)


def _roundings(table: Table, n: int) -> None:
    """`rounded`: an f32 to the nearest f16 or bf16, still held as f32."""
    table.add("rounded", F16, n, "<p>_cvtph_ps(<p>_cvtps_ph({0}, _MM_FROUND_TO_NEAREST_INT))", "v")
    whole, unordered = table.vector(I32, n), table.use("compare:unordered", F32, n, "{0}", "{0}")
    table.add(
        "rounded",
        BF16,
        n,
        table.use("pick", F32, n, unordered, "<p>_set1_ps(NAN)", "<p>_cast<si>_ps(near)"),
        "v",
        setup=(
            f"const {whole} bits = <p>_castps_<si>({{0}})",
            f"const {whole} odd = <p>_and_<si>(<p>_srli_epi32(bits, 16), <p>_set1_epi32(1))",
            f"const {whole} up = <p>_add_epi32(bits, <p>_add_epi32(odd, <p>_set1_epi32(0x7fff)))",
            f"const {whole} near = <p>_and_<si>(up, <p>_set1_epi32(-0x10000))",
        ),
        why="to the nearest bf16, ties to even, within the bits of the f32",
    )


def _float(table: Table, dtype: DType, n: int) -> None:
    def rounded(text: str) -> str:
        return table.use("rounded", dtype, n, text) if dtype in ROUNDED else text

    for op in ("add", "sub", "mul", "div"):
        table.add(op, dtype, n, rounded(f"<p>_{op}_<t>({{0}}, {{1}})"), "v,v")
    root = rounded("<p>_sqrt_<t>({0})")
    table.add("sqrt", dtype, n, root, "v")
    table.add("rsqrt", dtype, n, rounded(f"<p>_div_<t>(<p>_set1_<t>(1), {root})"), "v")
    table.add("neg", dtype, n, "<p>_xor_<t>({0}, <p>_set1_<t>(-0.0))", "v")
    table.add("abs", dtype, n, "<p>_andnot_<t>(<p>_set1_<t>(-0.0), {0})", "v")
    table.add("floor", dtype, n, "<p>_floor_<t>({0})", "v")
    table.add("ceil", dtype, n, "<p>_ceil_<t>({0})", "v")
    whole = "<p>_roundscale_<t>" if Register(dtype, n).bits == 512 else "<p>_round_<t>"
    table.add("round", dtype, n, f"{whole}({{0}}, _MM_FROUND_NINT)", "v")
    if dtype in FLOATS:
        for op, name in FUSED.items():
            table.add(op, dtype, n, f"<p>_{name}_<t>({{0}}, {{1}}, {{2}})", "v,v,v")
    for op in ("min", "max"):
        # For two zeros and where one is NaN the instruction gives its second operand: `a`, maybe the NaN.
        table.add(f"{op}:number", dtype, n, f"<p>_{op}_<t>({{1}}, {{0}})", "v,v")
        if table.isa.opmask:
            number = table.use("compare:ordered", dtype, n, "{1}", "{1}")
            table.add(op, dtype, n, f"<p>_mask_{op}_<t>({{1}}, {number}, {{1}}, {{0}})", "v,v")
        else:
            # all ones are a NaN
            nan = table.use("compare:unordered", dtype, n, "{1}", "{1}")
            table.add(op, dtype, n, f"<p>_or_<t>(<p>_{op}_<t>({{1}}, {{0}}), {nan})", "v,v")


def _integer(table: Table, dtype: DType, n: int) -> None:
    for op in ("add", "sub"):
        table.add(op, dtype, n, f"<p>_{op}_<t>({{0}}, {{1}})", "v,v")
    table.add("neg", dtype, n, "<p>_sub_<t>(<p>_setzero_<si>(), {0})", "v")
    if dtype == I64 and not table.isa.opmask:
        _integer_without_i64(table, n)
        return
    table.add("abs", dtype, n, "{0}" if dtype == U8 else "<p>_abs_<t>({0})", "v")
    for op in ("min", "max"):
        table.add(op, dtype, n, f"<p>_{op}_{'epu8' if dtype == U8 else '<t>'}({{0}}, {{1}})", "v,v")


def _integer_without_i64(table: Table, n: int) -> None:
    """AVX2 has only addition and "greater than" on i64."""
    below = table.use("compare:gt", I64, n, "<p>_setzero_<si>()", "{0}")
    negative = (f"const {table.vector(I64, n)} negative = {below}",)
    table.add("abs", I64, n, "<p>_sub_epi64(<p>_xor_<si>({0}, negative), negative)", "v", setup=negative)
    table.add(
        "min",
        I64,
        n,
        table.use("pick", I64, n, table.use("compare:gt", I64, n, "{0}", "{1}"), "{1}", "{0}"),
        "v,v",
    )
    table.add(
        "max",
        I64,
        n,
        table.use("pick", I64, n, table.use("compare:gt", I64, n, "{1}", "{0}"), "{1}", "{0}"),
        "v,v",
    )


def _product(table: Table, dtype: DType, n: int) -> None:
    whole = table.vector(dtype, n)
    if dtype.bits in (16, 32) or (dtype == I64 and table.isa.opmask):
        table.add("mul", dtype, n, "<p>_mullo_<t>({0}, {1})", "v,v")
    elif dtype == I64:
        table.add(
            "mul",
            dtype,
            n,
            "<p>_add_epi64(<p>_mul_epu32({0}, {1}), <p>_slli_epi64(<p>_add_epi64(left, right), 32))",
            "v,v",
            setup=(
                f"const {whole} left = <p>_mul_epu32(<p>_srli_epi64({{0}}, 32), {{1}})",
                f"const {whole} right = <p>_mul_epu32({{0}}, <p>_srli_epi64({{1}}, 32))",
            ),
            why="the low half of the product, from products of halves",
        )
    else:
        table.add(
            "mul",
            dtype,
            n,
            "<p>_or_<si>(<p>_slli_epi16(odd, 8), <p>_and_<si>(even, <p>_set1_epi16(0xff)))",
            "v,v",
            setup=(
                f"const {whole} even = <p>_mullo_epi16({{0}}, {{1}})",
                f"const {whole} odd = <p>_mullo_epi16(<p>_srli_epi16({{0}}, 8), <p>_srli_epi16({{1}}, 8))",
            ),
            why="the low half of the products of even and of odd bytes",
        )
