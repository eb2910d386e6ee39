"""The table of the RISC-V vector extension: comparisons, masks, reductions, zips; the rest lies beside it."""

from __future__ import annotations

from perfdojo.backends.rvv.arithmetic import add_arithmetic
from perfdojo.backends.rvv.conversions import add_conversions
from perfdojo.backends.rvv.memory import add_memory
from perfdojo.backends.rvv.registers import WHOLE, Register, Rvv, shape
from perfdojo.backends.vectors.table import FLOATS, INTEGERS, Table
from perfdojo.compiler.dtypes import BOOL, F32, F64, I32, I64, DType

ISA = Rvv("rvv", WHOLE, opmask=True)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def table() -> Table:
    """Return the whole table of the target; f16 and bf16 are not in it, and so are scalar."""
    result = Table(ISA)
    for n in ISA.lanes:
        _masks(result, n)
    for dtype, n, _ in result.shapes((*FLOATS, *INTEGERS)):
        _choices(result, dtype, n)
    add_arithmetic(result)
    add_conversions(result)
    add_memory(result)
    for dtype, n, _ in result.shapes((*FLOATS, *INTEGERS)):
        _reductions(result, dtype, n)
    for dtype, n, _ in result.shapes((F32, F64, I32, I64)):
        _zips(result, dtype, n)
    return result


def _choices(result: Table, dtype: DType, n: int) -> None:
    """Comparisons, and what chooses by them."""
    own = Register(dtype, n)
    for op in COMPARISONS:
        name = f"vmf{op}" if own.kind == "f" else f"vms{op}"
        name += "u" if own.kind == "u" and op not in ("eq", "ne") else ""
        for record in (f"compare:{op}", op):
            result.add(record, dtype, n, f"__riscv_{name}_vv_<t>_<b>({{0}}, {{1}}, <n>)", "v,v", "m")
    if own.kind == "f":
        equal = "__riscv_vmfeq_vv_<t>_<b>({0}, {0}, <n>), __riscv_vmfeq_vv_<t>_<b>({1}, {1}, <n>)"
        for op, name in (("ordered", "vmand"), ("unordered", "vmnand")):
            result.add(f"compare:{op}", dtype, n, f"__riscv_{name}_mm_<b>({equal}, <n>)", "v,v", "m")
    splat = "__riscv_vfmv_v_f_<t>" if own.kind == "f" else "__riscv_vmv_v_x_<t>"
    result.add("splat", dtype, n, f"{splat}({{0}}, <n>)", "s")
    for op in ("pick", "select"):
        result.add(op, dtype, n, "__riscv_vmerge_vvm_<t>({2}, {1}, {0}, <n>)", "m,v,v")
    result.add("keep", dtype, n, f"__riscv_vmerge_vvm_<t>({splat}(0, <n>), {{1}}, {{0}}, <n>)", "m,v")
    one = f"__riscv_vmerge_vvm_<t>({splat}(0, <n>), {splat}(1, <n>), {{0}}, <n>)"
    result.add("cast:bool", dtype, n, one, "m")
    nonzero = "vmfne_vf" if own.kind == "f" else "vmsne_vx"
    result.add(f"cast:{dtype}", BOOL, n, own.fill(f"__riscv_{nonzero}_<t>_<b>({{0}}, 0, <n>)"), own.c_type)


def _masks(result: Table, n: int) -> None:
    b, wide = f"b{WHOLE // n}", f"u{shape(WHOLE // n, n)}"
    for op, name in (("and", "vmand"), ("or", "vmor"), ("ne", "vmxor"), ("eq", "vmxnor")):
        result.add(op, BOOL, n, f"__riscv_{name}_mm_{b}({{0}}, {{1}}, {n})", "m,m")
    result.add("not", BOOL, n, f"__riscv_vmnot_m_{b}({{0}}, {n})", "m")
    chosen = f"__riscv_vmand_mm_{b}({{0}}, {{1}}, {n}), __riscv_vmandn_mm_{b}({{2}}, {{0}}, {n})"
    result.add("select", BOOL, n, f"__riscv_vmor_mm_{b}({chosen}, {n})", "m,m,m")
    result.add("cast:bool", BOOL, n, "{0}", "m")
    result.add("splat", BOOL, n, f"{{0}} ? __riscv_vmset_m_{b}({n}) : __riscv_vmclr_m_{b}({n})", "s")
    result.add("all", BOOL, n, f"__riscv_vmset_m_{b}({n})", "")
    result.add("none", BOOL, n, f"__riscv_vmclr_m_{b}({n})", "")
    count = f"{{0}} < 0 ? 0 : {{0}} < {n} ? {{0}} : {n}"
    first = f"__riscv_vmsltu_vx_{wide}_{b}(__riscv_vid_v_{wide}({n}), {count}, {n})"
    result.add("first", BOOL, n, first, "n", "m")


def _reductions(result: Table, dtype: DType, n: int) -> None:
    """All lanes into one, pairwise: the lower half with the upper half, until one lane is left."""
    own = Register(dtype, n)
    last = "__riscv_vfmv_f_s_<t>_{0}" if own.kind == "f" else "__riscv_vmv_x_s_<t>_{0}"
    scalar = last.format(f"{own.kind}{dtype.bits}")
    for op in ("add", "mul", "max", "min"):
        setup, value, half = [], "{0}", n // 2
        while half:
            moved = own.fill(f"__riscv_vslidedown_vx_<t>({value}, {half}, <n>)")
            setup.append(f"const {own.c_type} x{half} = {result.use(op, dtype, n, value, moved)}")
            value, half = f"x{half}", half // 2
        result.add(f"reduce_{op}", dtype, n, f"{scalar}({value})", "v", "s", setup)


def _zips(result: Table, dtype: DType, n: int) -> None:
    """Steps of a transposition: `zip_low:d` and `zip_high:d` exchange lanes at distance d."""
    mask = result.vector(BOOL, n)
    distance = 1
    while distance < n:
        odd = f"__riscv_vand_vx_<u>(__riscv_vid_v_<u>(<n>), {distance}, <n>)"
        setup = (f"const {mask} second = __riscv_vmsne_vx_<u>_<b>({odd}, 0, <n>)",)
        up = f"__riscv_vslideup_vx_<t>({{1}}, {{1}}, {distance}, <n>)"
        down = f"__riscv_vslidedown_vx_<t>({{0}}, {distance}, <n>)"
        low, high = f"({{0}}, {up}, second, <n>)", f"({down}, {{1}}, second, <n>)"
        result.add(f"zip_low:{distance}", dtype, n, f"__riscv_vmerge_vvm_<t>{low}", "v,v", setup=setup)
        result.add(f"zip_high:{distance}", dtype, n, f"__riscv_vmerge_vvm_<t>{high}", "v,v", setup=setup)
        distance *= 2
