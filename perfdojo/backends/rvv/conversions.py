"""Conversions by the rules of the language; a NaN becomes 0, which the machine makes the largest integer."""

from __future__ import annotations

from perfdojo.backends.rvv.registers import Register, shape
from perfdojo.backends.vectors.table import FLOATS, INTEGERS, Table
from perfdojo.compiler.dtypes import F32, F64, I8, I16, I32, I64, U8, DType

_SHORT = (I8, U8, I16)


def add_conversions(table: Table) -> None:
    """Add `cast:<from>` wherever both types fit."""
    for dtype, n, _ in table.shapes(INTEGERS):
        for source in INTEGERS:
            if table.isa.fits(source, n):
                table.add(f"cast:{source}", dtype, n, _between(source, dtype, n), table.vector(source, n))
    for dtype, n, _ in table.shapes(FLOATS):
        for source in (F32, F64, I64, I32, *_SHORT):
            if table.isa.fits(source, n):
                text = _to_float(table, source, dtype, n)
                table.add(f"cast:{source}", dtype, n, text, table.vector(source, n))
    for dtype, n, _ in table.shapes(INTEGERS):
        for source in FLOATS:
            if table.isa.fits(source, n):
                _to_integer(table, source, dtype, n)


def narrowed(text: str, kind: str, bits: int, wanted: int, n: int, clip: bool = False) -> str:
    """Return the low bits of integers, or with `clip` the nearest integer of the narrower type."""
    while bits > wanted:
        bits //= 2
        to = f"{kind}{shape(bits, n)}"
        if clip:
            text = f"__riscv_vnclip{'u' if kind == 'u' else ''}_wx_{to}({text}, 0, __RISCV_VXRM_RDN, {n})"
        else:
            text = f"__riscv_vncvt_x_x_w_{to}({text}, {n})"
    return text


def _between(source: DType, target: DType, n: int) -> str:
    old, new = Register(source, n), Register(target, n)
    text = "{0}"
    if source.bits < target.bits:
        extend = "vzext" if old.kind == "u" else "vsext"
        text = f"__riscv_{extend}_vf{target.bits // source.bits}_{old.kind}{new.shape}({{0}}, {n})"
    elif source.bits > target.bits:
        text = narrowed(text, old.kind, source.bits, target.bits, n)
    if old.kind != new.kind:
        text = f"__riscv_vreinterpret_v_{old.kind}{new.shape}_{new.kind}{new.shape}({text})"
    return text


def _to_float(table: Table, source: DType, target: DType, n: int) -> str:
    if source == target:
        return "{0}"
    if source in _SHORT or (source == I32 and target == F64):
        whole = "{0}" if source == I32 else table.use(f"cast:{source}", I32, n, "{0}")
        return f"__riscv_{'vfcvt' if target == F32 else 'vfwcvt'}_f_x_v_<t>({whole}, <n>)"
    letter = "f" if source.is_float else "x"
    if source.bits > target.bits:
        return f"__riscv_vfncvt_f_{letter}_w_<t>({{0}}, <n>)"
    wide = "vfwcvt" if source.bits < target.bits else "vfcvt"
    return f"__riscv_{wide}_f_{letter}_v_<t>({{0}}, <n>)"


def _to_integer(table: Table, source: DType, target: DType, n: int) -> None:
    """Towards zero: down where it is positive, up elsewhere.

    There is one instruction for it, and qemu 7.2, which Debian 12 has, ends at that.
    """
    old = Register(source, n)
    first = I64 if target == I64 else I32
    to = f"i{shape(first.bits, n)}"
    name = "vfncvt_x_f_w" if source.bits > first.bits else "vfcvt_x_f_v"
    name = "vfwcvt_x_f_v" if source.bits < first.bits else name
    down, up = (f"__riscv_{name}_{to}_rm({{0}}, __RISCV_FRM_{mode}, <n>)" for mode in ("RDN", "RUP"))
    text = f"__riscv_vmerge_vxm_{to}(number, 0, nan, <n>)"
    if target == U8:
        positive = f"__riscv_vreinterpret_v_{to}_u{to[1:]}(__riscv_vmax_vx_{to}({text}, 0, <n>))"
        text = narrowed(positive, "u", 32, 8, n, clip=True)
    else:
        text = narrowed(text, "i", first.bits, target.bits, n, clip=True)
    mask = table.isa.mask_type(n)
    setup = (
        f"const {mask} positive = __riscv_vmfgt_vf_{old.fill('<t>_<b>')}({{0}}, 0, <n>)",
        f"const {mask} nan = __riscv_vmfne_vv_{old.fill('<t>_<b>')}({{0}}, {{0}}, <n>)",
        f"const vint{to[1:]}_t number = __riscv_vmerge_vvm_{to}({up}, {down}, positive, <n>)",
    )
    why = "towards zero; NaN becomes 0, the rest is clamped"
    table.add(f"cast:{source}", target, n, text, old.c_type, setup=setup, why=why)
