"""Arithmetic of NEON on floats and integers."""

from __future__ import annotations

from perfdojo.backends.neon.registers import Register
from perfdojo.backends.vectors.table import FLOATS, INTEGERS, ROUNDED, Table
from perfdojo.compiler.dtypes import BF16, F16, F32, I64, U8, DType

FUSED = {
    "fma": "vfma<q>_<t>({2}, {0}, {1})",
    "fms": "vfma<q>_<t>(vneg<q>_<t>({2}), {0}, {1})",
    "fnma": "vfms<q>_<t>({2}, {0}, {1})",
    "fnms": "vfms<q>_<t>(vneg<q>_<t>({2}), {0}, {1})",
}
"""fma(a, b, c) = a*b + c, and with the signs of c and of a*b changed; NEON adds to its first operand."""
ROUNDINGS = {"floor": "vrndm", "ceil": "vrndp", "round": "vrndn"}


def add_arithmetic(table: Table) -> None:
    """Add + - * / and what is like them; needs `compare:<op>` and `pick`."""
    for _, n, _ in table.shapes((F16,)):
        _roundings(table, n)
    for dtype, n, _ in table.shapes((*FLOATS, *ROUNDED)):
        _float(table, dtype, n)
    for dtype, n, _ in table.shapes(INTEGERS):
        _integer(table, dtype, n)


def _roundings(table: Table, n: int) -> None:
    """`rounded`: an f32 to the nearest f16 or bf16, still held as f32."""
    whole = "{0}" if n == 4 else "vcombine_f32({0}, {0})"
    there_and_back = f"vcvt_f32_f16(vcvt_f16_f32({whole}))"
    table.add("rounded", F16, n, there_and_back if n == 4 else f"vget_low_f32({there_and_back})", "v")
    bits = Register(F32, n).fill("const uint32x<n>_t").replace("<n>", str(n))
    table.add(
        "rounded",
        BF16,
        n,
        "vbsl<q>_f32(vceq<q>_f32({0}, {0}), vreinterpret<q>_f32_u32(near), vdup<q>_n_f32(NAN))",
        "v",
        setup=(
            f"{bits} bits = vreinterpret<q>_u32_f32({{0}})",
            f"{bits} odd = vand<q>_u32(vshr<q>_n_u32(bits, 16), vdup<q>_n_u32(1))",
            f"{bits} up = vadd<q>_u32(bits, vadd<q>_u32(odd, vdup<q>_n_u32(0x7fff)))",
            f"{bits} near = vand<q>_u32(up, vdup<q>_n_u32(0xffff0000))",
        ),
        why="to the nearest bf16, ties to even, within the bits of the f32",
    )


def _float(table: Table, dtype: DType, n: int) -> None:
    def rounded(text: str) -> str:
        return table.use("rounded", dtype, n, text) if dtype in ROUNDED else text

    for op in ("add", "sub", "mul", "div"):
        table.add(op, dtype, n, rounded(f"v{op}<q>_<t>({{0}}, {{1}})"), "v,v")
    root = rounded("vsqrt<q>_<t>({0})")
    table.add("sqrt", dtype, n, root, "v")
    table.add("rsqrt", dtype, n, rounded(f"vdiv<q>_<t>(vdup<q>_n_<t>(1), {root})"), "v")
    table.add("neg", dtype, n, "vneg<q>_<t>({0})", "v")
    table.add("abs", dtype, n, "vabs<q>_<t>({0})", "v")
    for op, name in ROUNDINGS.items():
        table.add(op, dtype, n, f"{name}<q>_<t>({{0}})", "v")
    if dtype in FLOATS:
        for op, format in FUSED.items():
            table.add(op, dtype, n, format, "v,v,v")
    for op, beyond in (("min", "lt"), ("max", "gt")):
        # of zeros of both signs the first operand wins here, the instruction has an order of them
        found = f"v{op}<q>_<t>({{0}}, {{1}})"
        table.add(op, dtype, n, f"vbsl<q>_<t>(vceq<q>_<t>({{0}}, {{1}}), {{0}}, {found})", "v,v")
        table.add(
            f"{op}:number", dtype, n, f"vbsl<q>_<t>(vc{beyond}<q>_<t>({{1}}, {{0}}), {{1}}, {{0}})", "v,v"
        )
        # the instruction takes a signaling NaN for the result, so it is given none
        number = "vbsl<q>_<t>(vceq<q>_<t>({1}, {1}), {1}, {0})"
        table.add(
            f"{op}num",
            dtype,
            n,
            f"vbsl<q>_<t>(vceq<q>_<t>({{0}}, {{0}}), v{op}nm<q>_<t>({{0}}, {number}), {{1}})",
            "v,v",
        )


def _integer(table: Table, dtype: DType, n: int) -> None:
    for op in ("add", "sub"):
        table.add(op, dtype, n, f"v{op}<q>_<t>({{0}}, {{1}})", "v,v")
    if dtype == U8:
        table.add("neg", dtype, n, "vsub<q>_u8(vdup<q>_n_u8(0), {0})", "v")
        table.add("abs", dtype, n, "{0}", "v")
    else:
        table.add("neg", dtype, n, "vneg<q>_<t>({0})", "v")
        table.add("abs", dtype, n, "vabs<q>_<t>({0})", "v")
    if dtype != I64:
        for op in ("mul", "min", "max"):
            table.add(op, dtype, n, f"v{op}<q>_<t>({{0}}, {{1}})", "v,v")
        return
    table.add("min", dtype, n, "vbslq_s64(vcgtq_s64({0}, {1}), {1}, {0})", "v,v")
    table.add("max", dtype, n, "vbslq_s64(vcgtq_s64({1}, {0}), {1}, {0})", "v,v")
    table.add(
        "mul",
        dtype,
        n,
        "vreinterpretq_s64_u64(vmlal_u32(vshlq_n_u64(vmovl_u32(cross), 32), a_low, b_low))",
        "v,v",
        setup=(
            "const uint64x2_t a_bits = vreinterpretq_u64_s64({0}), b_bits = vreinterpretq_u64_s64({1})",
            "const uint32x2_t a_low = vmovn_u64(a_bits), b_low = vmovn_u64(b_bits)",
            "const uint32x2_t cross = vmla_u32(vmul_u32(a_low, vshrn_n_u64(b_bits, 32)),"
            " vshrn_n_u64(a_bits, 32), b_low)",
        ),
        why="the low half of the product, from products of halves",
    )
