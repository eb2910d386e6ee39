"""Element types: width, kind and the constants of their rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["float", "int", "uint", "bool"]


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    Attributes:
        name: as written in a kernel, for instance `f32`.
        kind: float, int (two's complement), uint or bool.
        bits: storage width of one element; bool is stored in 8.
        mantissa: significand bits of a float with the hidden one (f32: 24), else 0.
        min_exponent: exponent of the smallest normal float (f32: -126), else 0.
        max_exponent: exponent of the largest float (f32: 127), else 0.
    """

    name: str
    kind: Kind
    bits: int
    mantissa: int = 0
    min_exponent: int = 0
    max_exponent: int = 0

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)  # no two types share one, and nothing is hashed as often

    @property
    def bytes(self) -> int:
        """Bytes of one stored element."""
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        """f64, f32, f16 or bf16."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned integer; bool is neither integer nor float."""
        return self.kind in ("int", "uint")

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of one rounding to nearest (2**-24 for f32); 0 for exact types."""
        return 2.0**-self.mantissa if self.is_float else 0.0

    @property
    def smallest_subnormal(self) -> float:
        """Distance between neighbouring subnormal floats; 0 for exact types."""
        return 2.0 ** (self.min_exponent - self.mantissa + 1) if self.is_float else 0.0

    @property
    def largest(self) -> float | int:
        """Largest finite value."""
        if self.is_float:
            return (2.0 - 2.0 ** (1 - self.mantissa)) * 2.0**self.max_exponent
        return 1 if self.kind == "bool" else 2 ** (self.bits - (self.kind == "int")) - 1

    @property
    def smallest(self) -> float | int:
        """Smallest (most negative) finite value."""
        if self.is_float:
            return -self.largest
        return -(2 ** (self.bits - 1)) if self.kind == "int" else 0


F64 = DType("f64", "float", 64, 53, -1022, 1023)
F32 = DType("f32", "float", 32, 24, -126, 127)
F16 = DType("f16", "float", 16, 11, -14, 15)
BF16 = DType("bf16", "float", 16, 8, -126, 127)
I64 = DType("i64", "int", 64)
I32 = DType("i32", "int", 32)
I16 = DType("i16", "int", 16)
I8 = DType("i8", "int", 8)
U8 = DType("u8", "uint", 8)
BOOL = DType("bool", "bool", 8)

DTYPES: dict[str, DType] = {d.name: d for d in (F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL)}
