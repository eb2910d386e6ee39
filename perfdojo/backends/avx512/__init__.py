"""AVX-512 as x86-64-v4 has it (F, VL, BW, DQ): 512-bit registers, masks in opmask registers, masked tails."""

from __future__ import annotations

from functools import cache

from perfdojo.backends.avx512 import instructions
from perfdojo.backends.vectors.extensions import with_extensions
from perfdojo.backends.vectors.printer import IntrinsicsPrinter, answers
from perfdojo.backends.vectors.table import Table
from perfdojo.backends.x86.emulation import emulation_headers
from perfdojo.compiler.lowering.target import Target

FLAGS = ("-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mfma", "-mf16c")


@cache
def table() -> Table:
    """Return the instructions of the target."""
    return instructions.table()


TARGET = Target(
    name="avx512",
    title="x86-64 with AVX-512 (F, VL, BW, DQ)",
    vector_bits=512,
    registers=32,
    masked_memory=True,
    supports=answers(table),
    machine="x86_64",
    features=("avx512f", "avx512vl", "avx512bw", "avx512dq", "fma", "f16c"),
    marks=frozenset(("parallel", "unroll", "vector")),
)

EXTENSIONS = {"vnni": "avx512_vnni", "bf16": "avx512_bf16"}
"""Extensions that code may be told to use, and their CPU features."""


def with_isa(target: Target, isa: str) -> Target:
    """Return the target with extensions: words of EXTENSIONS between commas."""
    return with_extensions(target, isa, table, EXTENSIONS, "AVX-512")


def vector_printer() -> IntrinsicsPrinter:
    """Return a fresh printer of vector values."""
    return IntrinsicsPrinter(table())


@cache
def emulation() -> tuple[tuple[str, str], ...]:
    """Return the headers that stand in for the system's on other processors."""
    return emulation_headers()
