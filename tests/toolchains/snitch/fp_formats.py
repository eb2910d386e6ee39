"""The binary formats of the simulated FPU and their values as rational numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16
RNE, RTZ, RDN, RUP, RMM = range(5)


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: its number in the simulator, exponent bits, stored fraction bits."""

    code: int
    name: str
    exponent_bits: int
    fraction_bits: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        return self.infinity | 1 << (self.fraction_bits - 1)

    @property
    def smallest_normal(self) -> Fraction:
        return power(1 - self.bias)

    @property
    def largest(self) -> Fraction:
        return power(self.bias) * (2 - power(-self.fraction_bits))


S = Format(0, "S", 8, 23)
D = Format(1, "D", 11, 52)
H = Format(2, "H", 5, 10)
AH = Format(3, "AH", 8, 7)
B = Format(4, "B", 5, 2)
AB = Format(5, "AB", 4, 3)
FORMATS = (S, D, H, AH, B, AB)


@dataclass(frozen=True, slots=True)
class Number:
    """A decoded value: `kind` is finite, inf, quiet or signaling; the sign counts for zeros too."""

    kind: str
    negative: bool
    value: Fraction

    @property
    def is_nan(self) -> bool:
        return self.kind in ("quiet", "signaling")

    @property
    def is_zero(self) -> bool:
        return self.kind == "finite" and self.value == 0


@dataclass(frozen=True, slots=True)
class Result:
    """The bits of a result and the flags raised."""

    bits: int
    flags: int = 0


def power(e: int) -> Fraction:
    return Fraction(1 << e) if e >= 0 else Fraction(1, 1 << -e)


@lru_cache(maxsize=1 << 16)
def decode(f: Format, bits: int) -> Number:
    negative = bool(bits >> (f.width - 1) & 1)
    stored = bits >> f.fraction_bits & ((1 << f.exponent_bits) - 1)
    fraction = bits & ((1 << f.fraction_bits) - 1)
    if stored == (1 << f.exponent_bits) - 1:
        if fraction == 0:
            return Number("inf", negative, Fraction(0))
        quiet = fraction >> (f.fraction_bits - 1)
        return Number("quiet" if quiet else "signaling", negative, Fraction(0))
    significand = fraction + ((1 << f.fraction_bits) if stored else 0)
    size = significand * power(max(stored, 1) - f.bias - f.fraction_bits)
    return Number("finite", negative, -size if negative else size)
