"""Loads and stores, whole and masked; gathers by offsets in bytes."""

from __future__ import annotations

from perfdojo.backends.rvv.registers import Register, shape
from perfdojo.backends.vectors.table import FLOATS, INTEGERS, Table
from perfdojo.compiler.dtypes import BOOL, F32, F64, I32, I64, U8, DType

GATHERED = (F32, F64, I32, I64)
OFFSETS = (I32, I64)


def add_memory(table: Table) -> None:
    """Add `load`, `store`, their masked forms, `iota` and gathers."""
    for dtype, n, own in table.shapes(OFFSETS):
        numbers = own.fill("__riscv_vreinterpret_v_<u>_<s>(__riscv_vid_v_<u>(<n>))")
        table.add("iota", dtype, n, numbers, "")
    for dtype, n, _ in table.shapes((*FLOATS, *INTEGERS)):
        own = Register(dtype, n)
        e = dtype.bits
        table.add("load", dtype, n, f"__riscv_vle{e}_v_<t>({{0}}, <n>)", "c")
        table.add("store", dtype, n, f"__riscv_vse{e}_v_<t>({{0}}, {{1}}, <n>)", "p,v", "void")
        masked = f"__riscv_vle{e}_v_<t>_mu({{1}}, {_zero(own)}, {{0}}, <n>)"
        table.add("masked_load", dtype, n, masked, "c,m")
        table.add(
            "masked_store", dtype, n, f"__riscv_vse{e}_v_<t>_m({{2}}, {{0}}, {{1}}, <n>)", "p,v,m", "void"
        )
        if dtype in GATHERED:
            _gathers(table, dtype, n)
    for n in table.isa.lanes:
        bytes_ = table.use("load", U8, n, "{0}")
        table.add("load", BOOL, n, table.use("cast:u8", BOOL, n, bytes_), "c")
        table.add(
            "store",
            BOOL,
            n,
            table.use("store", U8, n, "{0}", table.use("cast:bool", U8, n, "{1}")),
            "p,m",
            "void",
        )
        bytes_ = table.use("masked_load", U8, n, "{0}", "{1}")
        table.add("masked_load", BOOL, n, table.use("cast:u8", BOOL, n, bytes_), "c,m", "m")
        value = table.use("cast:bool", U8, n, "{1}")
        table.add(
            "masked_store", BOOL, n, table.use("masked_store", U8, n, "{0}", value, "{2}"), "p,m,m", "void"
        )


def _zero(own: Register) -> str:
    name = "vfmv_v_f" if own.kind == "f" else "vmv_v_x"
    return own.fill(f"__riscv_{name}_<t>(0, <n>)")


def _gathers(table: Table, dtype: DType, n: int) -> None:
    """Offsets are counted in bytes and taken for unsigned, so narrower ones are extended to 64 bits."""
    own = Register(dtype, n)
    wide = shape(64, n)
    for offset in OFFSETS:
        if not table.isa.fits(offset, n):
            continue
        held = Register(offset, n)
        index = "{1}" if offset == I64 else f"__riscv_vsext_vf2_i{wide}({{1}}, {n})"
        shift = dtype.bytes.bit_length() - 1
        at = f"__riscv_vsll_vx_u{wide}(__riscv_vreinterpret_v_i{wide}_u{wide}({index}), {shift}, {n})"
        table.add(
            f"gather:{offset}", dtype, n, f"__riscv_vluxei64_v_<t>({{0}}, {at}, <n>)", f"c,{held.c_type}"
        )
        masked = f"__riscv_vluxei64_v_<t>_mu({{2}}, {_zero(own)}, {{0}}, {at}, <n>)"
        table.add(f"masked_gather:{offset}", dtype, n, masked, f"c,{held.c_type},m")
