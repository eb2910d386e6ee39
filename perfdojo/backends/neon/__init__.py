"""NEON (Advanced SIMD) of AArch64: 128-bit registers; a mask is a register of all ones and all zeros."""

from __future__ import annotations

from functools import cache

from perfdojo.backends.neon import instructions
from perfdojo.backends.neon.registers import DOT_PRODUCTS
from perfdojo.backends.vectors.extensions import with_extensions
from perfdojo.backends.vectors.printer import IntrinsicsPrinter, answers
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.lowering.target import Target

FLAGS: tuple[str, ...] = ()


@cache
def table() -> Table:
    """Return the instructions of the target."""
    return instructions.table()


TARGET = Target(
    name="neon",
    title="AArch64 with NEON (Advanced SIMD)",
    vector_bits=128,
    registers=32,
    masked_memory=False,
    supports=answers(table),
    machine="aarch64",
    compilers="elsewhere than on AArch64: aarch64-linux-gnu-gcc",
    features=("asimd",),
    marks=frozenset(("parallel", "unroll", "vector")),
    min_lanes=2,
)

EXTENSIONS = {"dotprod": DOT_PRODUCTS}
"""Extensions that code may be told to use, and their CPU features."""


def with_isa(target: Target, isa: str) -> Target:
    """Return the target with extensions: words of EXTENSIONS between commas."""
    return with_extensions(target, isa, table, EXTENSIONS, "NEON")


def vector_printer() -> IntrinsicsPrinter:
    """Return a fresh printer of vector values."""
    return IntrinsicsPrinter(table())
