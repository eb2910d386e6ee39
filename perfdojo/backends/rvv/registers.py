"""Registers of the RISC-V vector extension: 128 bits of each, which every such processor has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfdojo.backends.vectors import isa
from perfdojo.backends.vectors.isa import LANES_OF_128_BITS, carried
from perfdojo.compiler.dtypes import DType

if TYPE_CHECKING:
    from perfdojo.backends.vectors.instruction import Instruction
    from perfdojo.backends.vectors.table import Table

WHOLE = 128
"""Bits that a register has at least (extension V: VLEN is 128 or more)."""


@dataclass(frozen=True, slots=True)
class Register(isa.Register):
    """The register of `lanes` values of a number type; a part of one where they need less than 128 bits."""

    @property
    def kind(self) -> str:
        """Letter of the elements in intrinsics: `f`, `i`, `u`."""
        name = carried(self.dtype).name
        return name[0]

    @property
    def c_type(self) -> str:
        """C type: `vfloat32m1_t`, `vint8mf8_t`."""
        return f"{ {'f': 'vfloat', 'i': 'vint', 'u': 'vuint'}[self.kind] }{self.shape}_t"

    @property
    def shape(self) -> str:
        """Width of the elements and part of a register: `32m1`, `8mf2`."""
        return shape(carried(self.dtype).bits, self.lanes)

    def fill(self, text: str) -> str:
        """Replace `<t>` by element and part (`f32m1`), `<u>` by that without a sign, `<n>` by the lanes.

        `<b>` is the suffix of masks, `<s>` of elements with a sign.
        """
        parts = {"t": f"{self.kind}{self.shape}", "u": f"u{self.shape}", "s": f"i{self.shape}"}
        parts |= {"n": str(self.lanes), "b": f"b{WHOLE // self.lanes}"}
        for letter, part in parts.items():
            text = text.replace(f"<{letter}>", part)
        return text


def shape(bits: int, lanes: int) -> str:
    """Return width of the elements and length multiplier: 8, 4 -> `8mf4`."""
    used = bits * lanes
    return f"{bits}m{used // WHOLE}" if used >= WHOLE else f"{bits}mf{WHOLE // used}"


@dataclass(frozen=True, slots=True)
class Rvv(isa.Isa):
    """The instruction set; masks are registers with a bit a lane."""

    @property
    def lanes(self) -> tuple[int, ...]:
        """Numbers of lanes that vectors of programs have."""
        return LANES_OF_128_BITS

    def register(self, dtype: DType, lanes: int) -> Register:
        """Return the register of `lanes` values of a number type."""
        return Register(dtype, lanes)

    def mask_type(self, lanes: int) -> str:
        """Return the C type of a vector of bool."""
        return f"vbool{WHOLE // lanes}_t"

    @property
    def header(self) -> str:
        """The system header that declares the intrinsics."""
        return "riscv_vector.h"

    @property
    def primitives(self) -> Mapping[str, str]:
        """The format of each operation of an elementary function that is no record of the table."""
        return PRIMITIVES

    def division(self, table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
        """Return the record of `//` or `%` by a positive constant: of powers of two; None for others."""
        from perfdojo.backends.rvv.division import division

        return division(table, op, divisor, dtype, n)


def _two(name: str) -> str:
    return f"__riscv_{name}_<t>({{0}}, {{1}}, <n>)"


def _whole(name: str) -> str:
    return f"__riscv_{name}_<s>({{0}}, {{1}}, <n>)"


PRIMITIVES: dict[str, str] = {
    "const_f32": "__riscv_vfmv_v_f_<t>({value}, <n>)",
    "const_i32": "__riscv_vmv_v_x_<s>({value}, <n>)",
    **{op: _two(f"vf{op}_vv") for op in ("add", "sub", "mul", "div")},
    "min_raw": "__riscv_vmerge_vvm_<t>({1}, {0}, __riscv_vmflt_vv_<t>_<b>({0}, {1}, <n>), <n>)",
    "max_raw": "__riscv_vmerge_vvm_<t>({1}, {0}, __riscv_vmfgt_vv_<t>_<b>({0}, {1}, <n>), <n>)",
    "fma": "__riscv_vfmacc_vv_<t>({2}, {0}, {1}, <n>)",
    "fms": "__riscv_vfmsac_vv_<t>({2}, {0}, {1}, <n>)",
    "fnma": "__riscv_vfnmsac_vv_<t>({2}, {0}, {1}, <n>)",
    "sqrt": "__riscv_vfsqrt_v_<t>({0}, <n>)",
    "bitcast_f32_i32": "__riscv_vreinterpret_v_<t>_<s>({0})",
    "bitcast_i32_f32": "__riscv_vreinterpret_v_<s>_<t>({0})",
    "cvt_f32_i32": "__riscv_vfcvt_x_f_v_<s>({0}, <n>)",
    "cvt_i32_f32": "__riscv_vfcvt_f_x_v_<t>({0}, <n>)",
    **{f"{op}_i32": _whole(f"v{op}_vv") for op in ("add", "sub", "and", "or", "xor")},
    "shl_i32": "__riscv_vsll_vx_<s>({0}, {value}, <n>)",
    "sar_i32": "__riscv_vsra_vx_<s>({0}, {value}, <n>)",
    "shr_i32": "__riscv_vreinterpret_v_<u>_<s>("
    "__riscv_vsrl_vx_<u>(__riscv_vreinterpret_v_<s>_<u>({0}), {value}, <n>))",
}
