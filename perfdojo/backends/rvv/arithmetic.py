"""Arithmetic on floats and integers."""

from __future__ import annotations

from perfdojo.backends.vectors.table import FLOATS, INTEGERS, Table
from perfdojo.compiler.dtypes import F32, U8, DType

FUSED = {"fma": "vfmacc", "fms": "vfmsac", "fnma": "vfnmsac", "fnms": "vfnmacc"}
"""fma(a, b, c) = a*b + c, and with the signs of c and of a*b changed; the machine overwrites c."""
ROUNDINGS = {"floor": "__RISCV_FRM_RDN", "ceil": "__RISCV_FRM_RUP", "round": "__RISCV_FRM_RNE"}
COMPARED = {"min": "lt", "max": "gt"}


def add_arithmetic(table: Table) -> None:
    """Add + - * / and what is like them; needs `compare:<op>` and `pick`."""
    for dtype, n, _ in table.shapes(FLOATS):
        _float(table, dtype, n)
    for dtype, n, _ in table.shapes(INTEGERS):
        _integer(table, dtype, n)


def _float(table: Table, dtype: DType, n: int) -> None:
    for op in ("add", "sub", "mul", "div"):
        table.add(op, dtype, n, f"__riscv_vf{op}_vv_<t>({{0}}, {{1}}, <n>)", "v,v")
    root = "__riscv_vfsqrt_v_<t>({0}, <n>)"
    table.add("sqrt", dtype, n, root, "v")
    table.add("rsqrt", dtype, n, f"__riscv_vfrdiv_vf_<t>({root}, 1, <n>)", "v")
    table.add("neg", dtype, n, "__riscv_vfneg_v_<t>({0}, <n>)", "v")
    table.add("abs", dtype, n, "__riscv_vfabs_v_<t>({0}, <n>)", "v")
    for op, mode in ROUNDINGS.items():
        _rounding(table, op, mode, dtype, n)
    for op, name in FUSED.items():
        table.add(op, dtype, n, f"__riscv_{name}_vv_<t>({{2}}, {{0}}, {{1}}, <n>)", "v,v,v")
    for op, beyond in COMPARED.items():
        # the instruction drops a NaN and has an order of zeros
        further = table.use(f"compare:{beyond}", dtype, n, "{1}", "{0}")
        nan = table.use("compare:unordered", dtype, n, "{1}", "{1}")
        second = f"__riscv_vmor_mm_<b>({further}, {nan}, <n>)"
        table.add(op, dtype, n, f"__riscv_vmerge_vvm_<t>({{0}}, {{1}}, {second}, <n>)", "v,v")
        table.add(f"{op}:number", dtype, n, f"__riscv_vmerge_vvm_<t>({{0}}, {{1}}, {further}, <n>)", "v,v")
        table.add(f"{op}num", dtype, n, f"__riscv_vf{op}_vv_<t>({{0}}, {{1}}, <n>)", "v,v")


def _rounding(table: Table, op: str, mode: str, dtype: DType, n: int) -> None:
    """To a whole number by way of an integer; what is so large is whole already, and a NaN stays."""
    own = table.vector(dtype, n)
    fraction = 23 if dtype == F32 else 52
    table.add(
        op,
        dtype,
        n,
        "__riscv_vmerge_vvm_<t>({0}, signed_whole, small, <n>)",
        "v",
        setup=(
            f"const {table.isa.mask_type(n)} small ="
            f" __riscv_vmflt_vf_<t>_<b>(__riscv_vfabs_v_<t>({{0}}, <n>), 0x1p{fraction}, <n>)",
            f"const {own} whole = __riscv_vfcvt_f_x_v_<t>("
            f"__riscv_vfcvt_x_f_v_<s>_rm({{0}}, {mode}, <n>), <n>)",
            f"const {own} signed_whole = __riscv_vfsgnj_vv_<t>(whole, {{0}}, <n>)",
        ),
        why="by way of an integer, with the sign of a zero",
    )


def _integer(table: Table, dtype: DType, n: int) -> None:
    u = "u" if dtype == U8 else ""
    for op in ("add", "sub", "mul"):
        table.add(op, dtype, n, f"__riscv_v{op}_vv_<t>({{0}}, {{1}}, <n>)", "v,v")
    for op in ("min", "max"):
        table.add(op, dtype, n, f"__riscv_v{op}{u}_vv_<t>({{0}}, {{1}}, <n>)", "v,v")
    negated = "__riscv_vrsub_vx_<t>({0}, 0, <n>)"
    table.add("neg", dtype, n, negated, "v")
    table.add("abs", dtype, n, "{0}" if u else f"__riscv_vmax_vv_<t>({{0}}, {negated}, <n>)", "v")
