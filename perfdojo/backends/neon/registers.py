"""Registers of NEON: 64 or 128 bits; the parts of the names of its intrinsics that depend on them."""

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

DOT_PRODUCTS = "asimddp"
"""The CPU feature, as /proc/cpuinfo spells it."""
HALF, WHOLE = 64, 128
"""Bits of a D register, which narrower vectors are in too, and of a Q register."""


@dataclass(frozen=True, slots=True)
class Register(isa.Register):
    """The register of `lanes` values of a number type."""

    @property
    def bits(self) -> int:
        """Width of the register."""
        return max(HALF, carried(self.dtype).bits * self.lanes)

    @property
    def suffix(self) -> str:
        """End of the intrinsics' names: `f32`, `s16`, `u8`."""
        kind = carried(self.dtype)
        return f"{'f' if kind.is_float else 'u' if kind.name[0] == 'u' else 's'}{kind.bits}"

    @property
    def c_type(self) -> str:
        """C type: `float32x4_t`, `int8x8_t`."""
        return vector_type(self.suffix, self.bits)

    def fill(self, text: str) -> str:
        """Replace `<q>` by q for 128 bits, `<t>` by the suffix, `<u>` by that of integers without a sign."""
        unsigned = f"u{carried(self.dtype).bits}"
        wide = "q" if self.bits == WHOLE else ""
        return text.replace("<q>", wide).replace("<t>", self.suffix).replace("<u>", unsigned)


def vector_type(suffix: str, bits: int) -> str:
    """Return the C type of a register of `bits` bits: `u16`, 128 -> `uint16x8_t`."""
    width = int(suffix[1:])
    return f"{ {'f': 'float', 's': 'int', 'u': 'uint'}[suffix[0]] }{width}x{bits // width}_t"


def cast(text: str, source: str, target: str, bits: int) -> str:
    """Return an expression on the same bits as elements of another type; suffixes as in `fill`."""
    if source == target:
        return text
    return f"vreinterpret{'q' if bits == WHOLE else ''}_{target}_{source}({text})"


def widened(text: str, kind: str, bits: int, wanted: int, result_bits: int) -> str:
    """Return integers with `wanted` bits an element, of those with fewer `bits` in a D register.

    Args:
        kind: s or u, how they are extended.
        result_bits: of the register of the result.
    """
    while bits < wanted:
        text = f"vmovl_{kind}{bits}({text})"
        bits *= 2
        if bits < wanted or result_bits == HALF:
            text = f"vget_low_{kind}{bits}({text})"
    return text


def narrowed(text: str, kind: str, bits: int, wanted: int, source_bits: int, name: str = "vmovn") -> str:
    """Return the low bits of integers in a D register; `name`: of the instruction (`vqmovn` saturates)."""
    while bits > wanted:
        if source_bits == HALF:
            text = f"vcombine_{kind}{bits}({text}, {text})"
        text = f"{name}_{kind}{bits}({text})"
        bits //= 2
        source_bits = HALF
    return text


@dataclass(frozen=True, slots=True)
class Neon(isa.Isa):
    """The instruction set; a mask is a Q register of all ones and all zeros, its lanes share the 128 bits."""

    @property
    def lanes(self) -> tuple[int, ...]:
        """Numbers of lanes that vectors of programs have."""
        return LANES_OF_128_BITS

    def register(self, dtype: DType, lanes: int) -> Register:
        """Return the register of `lanes` values of a number type."""
        return Register(dtype, lanes)

    def mask_type(self, lanes: int) -> str:
        """Return the C type of a vector of bool."""
        return vector_type(f"u{self.mask_bits(lanes)}", WHOLE)

    def comparison_type(self, dtype: DType, lanes: int) -> str:
        """Return the C type of a comparison: as wide as the elements, without a sign."""
        return vector_type(f"u{carried(dtype).bits}", Register(dtype, lanes).bits)

    @property
    def header(self) -> str:
        """The system header that declares the intrinsics."""
        return "arm_neon.h"

    @property
    def primitives(self) -> Mapping[str, str]:
        """The format of each operation of an elementary function that is no record of the table."""
        return PRIMITIVES

    def division(self, table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
        """Return the record of `//` or `%` by a positive constant; None when a loop does it as fast."""
        from perfdojo.backends.neon.division import division

        return division(table, op, divisor, dtype, n)

    def flags_of(self, feature: str) -> tuple[str, ...]:
        """Return the flags with which gcc uses a CPU feature, as /proc/cpuinfo spells it."""
        return {DOT_PRODUCTS: ("-march=armv8.2-a+dotprod",)}[feature]

    def flags(self, functions: bool) -> tuple[str, ...]:
        """Return the flags with which gcc keeps the order of the text, but for chains of elementary ones.

        On AArch64 it moves loads up before it gives out registers, and then runs short of them: a product
        with 24 accumulators spills three, and llvm-mca 19 sees 86 % of a Neoverse V1's pipes busy, not 96 %.
        """
        return () if functions else ("-fno-schedule-insns",)


PRIMITIVES: dict[str, str] = {
    "const_f32": "vdup<q>_n_f32({value})",
    "const_i32": "vdup<q>_n_s32({value})",
    **{op: f"v{op}<q>_f32({{0}}, {{1}})" for op in ("add", "sub", "mul", "div")},
    "min_raw": "vbsl<q>_f32(vclt<q>_f32({0}, {1}), {0}, {1})",
    "max_raw": "vbsl<q>_f32(vcgt<q>_f32({0}, {1}), {0}, {1})",
    "fma": "vfma<q>_f32({2}, {0}, {1})",
    "fms": "vfma<q>_f32(vneg<q>_f32({2}), {0}, {1})",
    "fnma": "vfms<q>_f32({2}, {0}, {1})",
    "sqrt": "vsqrt<q>_f32({0})",
    "bitcast_f32_i32": "vreinterpret<q>_s32_f32({0})",
    "bitcast_i32_f32": "vreinterpret<q>_f32_s32({0})",
    "cvt_f32_i32": "vcvtn<q>_s32_f32({0})",
    "cvt_i32_f32": "vcvt<q>_f32_s32({0})",
    "add_i32": "vadd<q>_s32({0}, {1})",
    "sub_i32": "vsub<q>_s32({0}, {1})",
    "and_i32": "vand<q>_s32({0}, {1})",
    "or_i32": "vorr<q>_s32({0}, {1})",
    "xor_i32": "veor<q>_s32({0}, {1})",
    "shl_i32": "vshl<q>_n_s32({0}, {value})",
    "sar_i32": "vshr<q>_n_s32({0}, {value})",
    "shr_i32": "vreinterpret<q>_s32_u32(vshr<q>_n_u32(vreinterpret<q>_u32_s32({0}), {value}))",
}
