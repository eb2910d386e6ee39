"""Portable C11, any CPU: loops without vectors of their own; OpenMP for threads."""

from __future__ import annotations

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.lowering.target import Target


def _supports(op: str, dtype: DType, lanes: int) -> bool:
    return lanes == 1


TARGET = Target(
    name="c",
    title="portable C11",
    vector_bits=0,
    registers=16,
    masked_memory=False,
    supports=_supports,
)
