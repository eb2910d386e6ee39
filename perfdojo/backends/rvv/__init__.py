"""The RISC-V vector extension 1.0: masks in registers of their own, masked tails, 128-bit registers."""

from __future__ import annotations

from functools import cache

from perfdojo.backends.rvv import instructions
from perfdojo.backends.vectors.printer import IntrinsicsPrinter, answers
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.lowering.target import Target

FLAGS: tuple[str, ...] = ("-march=rv64gcv",)


@cache
def table() -> Table:
    """Return the instructions of the target."""
    return instructions.table()


TARGET = Target(
    name="rvv",
    title="RISC-V with the vector extension 1.0",
    vector_bits=128,
    registers=32,
    masked_memory=True,
    supports=answers(table),
    machine="riscv64",
    compilers="gcc 14 or newer; elsewhere than on RISC-V: clang --target=riscv64-linux-gnu",
    features=("v",),
    marks=frozenset(("parallel", "unroll", "vector")),
    min_lanes=2,
)


def vector_printer() -> IntrinsicsPrinter:
    """Return a fresh printer of vector values."""
    return IntrinsicsPrinter(table())
