"""Which register holds a vector: its width, its C type, and the parts of the names of its intrinsics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfdojo.backends.vectors import isa
from perfdojo.backends.vectors.isa import carried
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.elementary.describe import describe
from perfdojo.compiler.elementary.routine import Routine
from perfdojo.compiler.elementary.scaled import scaled

if TYPE_CHECKING:
    from perfdojo.backends.vectors.instruction import Instruction
    from perfdojo.backends.vectors.table import Table


@dataclass(frozen=True, slots=True)
class Register(isa.Register):
    """The register of `lanes` values of a number type."""

    @property
    def prefix(self) -> str:
        """Start of the intrinsics' names: `_mm`, `_mm256`, `_mm512`."""
        return "_mm" if self.bits == 128 else f"_mm{self.bits}"

    @property
    def suffix(self) -> str:
        """End of the intrinsics' names: `ps`, `pd`, `epi32`; u8 counts as epi8."""
        kind = carried(self.dtype)
        return {"f32": "ps", "f64": "pd"}.get(kind.name, f"epi{kind.bits}")

    @property
    def c_type(self) -> str:
        """C type: `__m512`, `__m512d`, `__m512i`."""
        return f"__m{self.bits}" + {"f32": "", "f64": "d"}.get(carried(self.dtype).name, "i")

    def fill(self, text: str) -> str:
        """Replace `<p>` by the prefix, `<t>` by the suffix, `<si>` by the name of the whole register."""
        return text.replace("<p>", self.prefix).replace("<t>", self.suffix).replace("<si>", f"si{self.bits}")


@dataclass(frozen=True, slots=True)
class Isa(isa.Isa):
    """AVX2 or AVX-512; the latter has opmasks (`__mmask16`)."""

    def register(self, dtype: DType, lanes: int) -> Register:
        """Return the register of `lanes` values of a number type."""
        return Register(dtype, lanes)

    def mask_type(self, lanes: int) -> str:
        """Return the C type of a vector of bool."""
        return f"__mmask{max(8, lanes)}" if self.opmask else f"__m{self.vector_bits}i"

    @property
    def header(self) -> str:
        """The system header that declares the intrinsics."""
        return "immintrin.h"

    @property
    def primitives(self) -> Mapping[str, str]:
        """The format of each operation of an elementary function that is no record of the table."""
        return PRIMITIVES

    def routine(self, name: str) -> Routine:
        """Return an elementary function; AVX-512 multiplies by powers of two."""
        return scaled(describe(name)) if self.opmask else describe(name)

    def division(self, table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
        """Return the record of `//` or `%` by a positive constant; None when a loop does it as fast."""
        from perfdojo.backends.x86.division import division

        return division(table, op, divisor, dtype, n)

    def prefetch(self, address: str) -> str:
        """Return the statement that fetches the cache line at an address."""
        return f"_mm_prefetch({address}, _MM_HINT_T0);"

    def fence(self) -> str:
        """Return the statement that orders streamed stores."""
        return "_mm_sfence();"

    def flags(self, functions: bool) -> tuple[str, ...]:
        """Return the flags under which gcc interleaves the long chains of functions of several vectors.

        A gelu of four vectors a turn, in the first-level cache of a Zen 3: 12 % faster with gcc 12.
        """
        return ("-fschedule-insns", "-fsched-pressure") if functions else ()

    def flags_of(self, feature: str) -> tuple[str, ...]:
        """Return the flags with which gcc uses a CPU feature, and uses it well.

        They are features of dot products. gcc 12 keeps the sums on the stack when it coalesces variables: the
        type of an intrinsic's operand and that of its instruction's differ, and so do their variables.
        """
        return (f"-m{feature.replace('_', '')}", "-fno-tree-coalesce-vars")


PRIMITIVES: dict[str, str] = {
    "const_f32": "<p>_set1_ps({value})",
    "const_i32": "<p>_set1_epi32({value})",
    **{op: f"<p>_{op}_ps({{0}}, {{1}})" for op in ("add", "sub", "mul", "div")},
    "min_raw": "<p>_min_ps({0}, {1})",
    "max_raw": "<p>_max_ps({0}, {1})",
    "scale": "<p>_scalef_ps({0}, {1})",
    "fma": "<p>_fmadd_ps({0}, {1}, {2})",
    "fms": "<p>_fmsub_ps({0}, {1}, {2})",
    "fnma": "<p>_fnmadd_ps({0}, {1}, {2})",
    "sqrt": "<p>_sqrt_ps({0})",
    "bitcast_f32_i32": "<p>_castps_<si>({0})",
    "bitcast_i32_f32": "<p>_cast<si>_ps({0})",
    "cvt_f32_i32": "<p>_cvtps_epi32({0})",
    "cvt_i32_f32": "<p>_cvtepi32_ps({0})",
    **{f"{op}_i32": f"<p>_{op}_epi32({{0}}, {{1}})" for op in ("add", "sub")},
    **{f"{op}_i32": f"<p>_{op}_<si>({{0}}, {{1}})" for op in ("and", "or", "xor")},
    "shl_i32": "<p>_slli_epi32({0}, {value})",
    "sar_i32": "<p>_srai_epi32({0}, {value})",
    "shr_i32": "<p>_srli_epi32({0}, {value})",
}
