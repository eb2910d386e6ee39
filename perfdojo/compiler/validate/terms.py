"""Symbolic values: terms, each stored once and named by a number, so that equal terms are equal numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from perfdojo.compiler.dtypes import BOOL, DType
from perfdojo.compiler.ir import Buffer
from perfdojo.compiler.walk import const_int

Key = tuple[str, *tuple[int, ...]]
"""Operation and operands. Operations are called `add.f32`: name, then the type of the operands."""

UNWRITTEN = -1
"""What memory holds where nothing was written; every term is at least 0."""
NOTHING = "nothing"
"""Operation of the terms of elements that nothing wrote: their values are not known to anybody."""


class Terms(dict[Key, int]):
    """The table of terms: `terms[key]` is the number of the term, a new one for a new key.

    Operands have smaller numbers than what is made of them, so a walk in ascending order meets operands
    first. The elements of the arguments come first of all and have no key of their own.

    Attributes:
        nodes: keys by number.
        ints: the constants of integers and bools, by number.
        floats: the constants of floats, rounded to their types, by number.
    """

    def __init__(self, arguments: Sequence[Buffer]) -> None:
        super().__init__()
        self.arguments = [b for b in arguments if b.role != "out"]
        self.first: dict[str, int] = {}
        self._starts: list[int] = []
        total = 0
        for b in self.arguments:
            self.first[b.name] = total
            self._starts.append(total)
            total += stored_elements(b)
        self.symbols = total
        self.nodes: list[Key] = [("symbol",)] * total
        self.ints: dict[int, int] = {}
        self.floats: dict[int, float] = {}
        self.false, self.true = self.constant(BOOL, False), self.constant(BOOL, True)

    def __missing__(self, key: Key) -> int:
        number = len(self.nodes)
        self.nodes.append(key)
        self[key] = number
        return number

    def constant(self, dtype: DType, value: int | float) -> int:
        """Return the term of a constant."""
        if not dtype.is_float:
            number = self[(f"const.{dtype.name} {int(value)}",)]
            self.ints[number] = int(value)
            return number
        rounded = round_to(dtype, float(value))
        number = self[(f"const.{dtype.name} {rounded!r}",)]
        self.floats[number] = rounded
        return number

    def unwritten(self, buffer: Buffer, position: int) -> int:
        """Return the term of what an element holds that is written under a condition only."""
        name = f"{element_name(buffer, position)} unwritten"
        return self[(f"{NOTHING}.{buffer.dtype.name} {name}",)]

    def element(self, symbol: int) -> tuple[Buffer, int]:
        """Return the buffer and the position in its storage that a symbol stands for."""
        which = bisect_right(self._starts, symbol) - 1
        return self.arguments[which], symbol - self._starts[which]


def stored_elements(buffer: Buffer) -> int:
    """Return how many elements a buffer stores, padding aside: dimensions under `reuse` count once."""
    total = 1
    for d, extent in enumerate(buffer.shape):
        total *= 1 if d in buffer.reuse else const_int(extent)
    return total


def strides(buffer: Buffer) -> tuple[int, ...]:
    """Return the steps of each dimension in the storage of `stored_elements`; 0 under `reuse`."""
    found: list[int] = []
    step = 1
    for d in reversed(range(len(buffer.shape))):
        found.append(0 if d in buffer.reuse else step)
        step *= 1 if d in buffer.reuse else const_int(buffer.shape[d])
    return tuple(reversed(found))


def element_name(buffer: Buffer, position: int) -> str:
    """Return `x[1,2]` for a position in the storage; dimensions under `reuse` show 0."""
    places = []
    for step, extent in zip(strides(buffer), buffer.shape, strict=True):
        places.append(str(position // step % const_int(extent)) if step else "0")
    return f"{buffer.name}[{','.join(places)}]"


def round_to(dtype: DType, value: float) -> float:
    """Round a double to a float type, to nearest even; beyond the largest value it is infinite."""
    if dtype.bits == 64 or value == 0 or not math.isfinite(value):
        return value
    exponent = max(math.frexp(value)[1] - 1, dtype.min_exponent)
    unit = exponent - dtype.mantissa + 1
    rounded = math.ldexp(round(math.ldexp(value, -unit)), unit)
    return rounded if abs(rounded) <= dtype.largest else math.copysign(math.inf, value)
