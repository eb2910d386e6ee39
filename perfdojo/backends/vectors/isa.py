"""What the table and the printer ask of an instruction set: registers, their C types, how it says things."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfdojo.compiler.dtypes import BF16, F16, F32, DType
from perfdojo.compiler.elementary.describe import describe
from perfdojo.compiler.elementary.routine import Routine

if TYPE_CHECKING:
    from perfdojo.backends.vectors.instruction import Instruction
    from perfdojo.backends.vectors.table import Table

LANES = (4, 8, 16, 32, 64)
LANES_OF_128_BITS = (2, 4, 8, 16)
"""Where no register is wider, two f64 are worth a vector."""
SMALLEST_BITS = 128
"""Narrower vectors lie in the low part of a 128-bit register; what is above them is never looked at."""


def carried(dtype: DType) -> DType:
    """Return the type whose register holds values of `dtype`: f32 for f16 and bf16."""
    return F32 if dtype in (F16, BF16) else dtype


@dataclass(frozen=True, slots=True)
class Register(ABC):
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
    @abstractmethod
    def c_type(self) -> str:
        """C type of the register."""

    @abstractmethod
    def fill(self, text: str) -> str:
        """Replace the parts of a format that depend on the register, such as `<t>`."""


@dataclass(frozen=True, slots=True)
class Isa(ABC):
    """An instruction set.

    Attributes:
        vector_bits: its widest register.
        opmask: a vector of bool is in a register of its own kind, a bit a lane; else it is a whole register,
            see `mask_bits`.
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

    @property
    def lanes(self) -> tuple[int, ...]:
        """Numbers of lanes that vectors of programs have."""
        return LANES

    @abstractmethod
    def register(self, dtype: DType, lanes: int) -> Register:
        """Return the register of `lanes` values of a number type."""

    @abstractmethod
    def mask_type(self, lanes: int) -> str:
        """Return the C type of a vector of bool."""

    def comparison_type(self, dtype: DType, lanes: int) -> str:
        """Return the C type of a comparison as the machine leaves it."""
        return self.mask_type(lanes) if self.opmask else self.register(dtype, lanes).c_type

    @property
    @abstractmethod
    def header(self) -> str:
        """The system header that declares its intrinsics."""

    @property
    @abstractmethod
    def primitives(self) -> Mapping[str, str]:
        """The format of each operation of `compiler/elementary/routine.py` that is no record of the table."""

    def routine(self, name: str) -> Routine:
        """Return an elementary function as this machine computes it best, the same bits everywhere."""
        return describe(name)

    @abstractmethod
    def division(self, table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
        """Return the record of `//` or `%` by a positive constant; None when a loop does it as fast."""

    def prefetch(self, address: str) -> str:
        """Return the statement that fetches the cache line at an address."""
        return f"__builtin_prefetch({address});"

    def fence(self) -> str:
        """Return the statement that orders streamed stores, "" where they are ordered."""
        return ""

    def flags(self, functions: bool) -> tuple[str, ...]:
        """Return the flags with which gcc orders instructions best; `functions`: elementary ones are used."""
        return ()

    def flags_of(self, feature: str) -> tuple[str, ...]:
        """Return the flags with which gcc uses a CPU feature, as /proc/cpuinfo spells it."""
        return (f"-m{feature.replace('_', '')}",)
