"""Which register holds a vector: its width, its C type, and the parts of the names of its intrinsics."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.dtypes import BF16, F16, F32, DType

SMALLEST_BITS = 128
"""Narrower vectors lie in the low part of a 128-bit register; what is above them is never looked at."""


@dataclass(frozen=True, slots=True)
class Isa:
    """An instruction set.

    Attributes:
        vector_bits: its widest register.
        opmask: a vector of bool is an opmask (`__mmask16`); else it is a whole register, see `mask_bits`.
    """

    name: str
    vector_bits: int
    opmask: bool

    def mask_bits(self, lanes: int) -> int:
        """Bits of a lane of a mask without opmasks: all ones or all zeros, together a whole register."""
        return self.vector_bits // lanes

    def fits(self, dtype: DType, lanes: int) -> bool:
        """Tell whether one register holds `lanes` values of a number type."""
        return carried(dtype).bits * lanes <= self.vector_bits


def carried(dtype: DType) -> DType:
    """Return the type whose register holds values of `dtype`: f32 for f16 and bf16."""
    return F32 if dtype in (F16, BF16) else dtype


@dataclass(frozen=True, slots=True)
class Register:
    """The register of `lanes` values of a number type."""

    dtype: DType
    lanes: int

    @property
    def bits(self) -> int:
        """Width of the register."""
        return max(SMALLEST_BITS, carried(self.dtype).bits * self.lanes)

    @property
    def partial(self) -> bool:
        """Whether the values leave the upper part of the register unused."""
        return carried(self.dtype).bits * self.lanes < self.bits

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
