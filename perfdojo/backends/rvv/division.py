"""`//` and `%` by a power of two: a shift, and the low bits."""

from __future__ import annotations

from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import I16, I32, I64, DType


def division(table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
    """Return the record of `floordiv:<divisor>` or `mod:<divisor>`; None for what is no power of two.

    Raises:
        ValueError: the divisor is not positive.
    """
    if divisor <= 0:
        raise ValueError(f"{op} by {divisor}")
    if divisor & (divisor - 1) or dtype not in (I16, I32, I64):
        return None
    shift = f"__riscv_vsra_vx_<t>({{0}}, {divisor.bit_length() - 1}, <n>)"
    text = shift if op == "floordiv" else f"__riscv_vand_vx_<t>({{0}}, {divisor - 1}, <n>)"
    whole = table.vector(dtype, n)
    filled = table.isa.register(dtype, n).fill(text)
    return Instruction(f"{op}:{divisor}", dtype.name, n, filled, (whole,), whole)
