"""AVX2 with FMA and F16C: 256-bit registers; a mask is a register of all ones and all zeros."""

from __future__ import annotations

from functools import cache

from perfdojo.backends.avx2 import instructions
from perfdojo.backends.vectors.printer import IntrinsicsPrinter, answers
from perfdojo.backends.vectors.table import Table
from perfdojo.backends.x86.emulation import emulation_headers
from perfdojo.compiler.lowering.target import Target

FLAGS = ("-mavx2", "-mfma", "-mf16c")


@cache
def table() -> Table:
    """Return the instructions of the target."""
    return instructions.table()


TARGET = Target(
    name="avx2",
    title="x86-64 with AVX2, FMA and F16C",
    vector_bits=256,
    registers=16,
    masked_memory=False,
    supports=answers(table),
    machine="x86_64",
    features=("avx2", "fma", "f16c"),
    marks=frozenset(("parallel", "unroll", "vector")),
)


def vector_printer() -> IntrinsicsPrinter:
    """Return a fresh printer of vector values."""
    return IntrinsicsPrinter(table())


@cache
def emulation() -> tuple[tuple[str, str], ...]:
    """Return the headers that stand in for the system's on other processors."""
    return emulation_headers()
