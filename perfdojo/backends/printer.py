"""How lowered code becomes C text: what the common emission asks of a printer of vector values.

`perfdojo/backends/<target>/__init__.py` holds `TARGET: Target` and, where the target has vectors,
`vector_printer() -> VectorPrinter`, a fresh one for each emission; besides, as it needs them, `FLAGS`,
compiler flags, and `emulation()`, headers as `EmittedSource` describes them. Everything with one lane is
printed by `backends/scalar.py`; whatever has more goes to the vector printer, which asks `Scalars` for the
text of its one-lane operands.
"""

from __future__ import annotations

from typing import Protocol

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.lowering.lir import Store, Value, VType


class Scalars(Protocol):
    """The scalar printer as a vector printer sees it."""

    def value(self, value: Value, least: int = 0) -> str:
        """Return the C expression of a value of any number of lanes.

        It is put in parentheses when it binds looser than `least` (0: never; 100: unless it is a name,
        a literal or a call).
        """
        ...

    def pointer(self, buffer: str, offset: Value) -> str:
        """Return the C expression of the address of an element, such as `x + 8 * i` (offset in elements)."""
        ...

    def constant(self, value: int | float | bool, dtype: DType) -> str:
        """Return a C literal of exactly this value; f16 and bf16 as the float that a value of them is."""
        ...

    def element_type(self, buffer: str) -> DType:
        """Return the element type of a buffer."""
        ...

    def use(self, helper: str) -> str:
        """Ask for a scalar helper (`compiler/elementary/c_helpers.py`) to be emitted; return its name."""
        ...


class VectorPrinter(Protocol):
    """Prints values, types and stores of more than one lane."""

    def type_name(self, type: VType) -> str:
        """Return the C type of a variable: `__m256`, `__mmask16`."""
        ...

    def value(self, value: Value, scalars: Scalars) -> str:
        """Return the C expression of a value.

        Called for a Const, Load or Call with lanes > 1, and for a Call with one lane that has an operand with
        more (`reduce_add`). A Var is its name and a `select` with a one-lane condition is `c ? a : b`;
        the scalar printer does both.
        """
        ...

    def store(self, store: Store, scalars: Scalars) -> str:
        """Return the C statement, without indentation, that writes a value of more than one lane."""
        ...

    def fence(self) -> str:
        """Return the C statement after which other threads see the streamed stores before it."""
        ...

    def prefetch(self, address: str) -> str:
        """Return the C statement that fetches the cache line at `address`, a `const char *`."""
        ...

    def flags(self) -> tuple[str, ...]:
        """Return the compiler flags of what was printed so far: needed ones, and some that make it faster.

        They change no value.
        """
        ...

    def needs(self) -> tuple[str, ...]:
        """Return the CPU features that what was printed so far needs beside those of its target."""
        ...

    def prelude(self) -> tuple[tuple[str, ...], str]:
        """Return what the values and stores printed so far need in front of the function.

        First the system headers (`immintrin.h`), then the text of static inline helpers, "" for none.
        """
        ...
