"""All lanes into one, pairwise: the lower half of a vector with its upper half, until one lane is left."""

from __future__ import annotations

from perfdojo.backends.neon.registers import WHOLE, Register
from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.table import NUMBERS, Table
from perfdojo.compiler.dtypes import DType


def add_reductions(table: Table) -> None:
    """Add reduce_add, reduce_mul, reduce_max and reduce_min; needs these operations on narrower registers."""
    for dtype, n, _ in table.shapes(NUMBERS):
        for op in ("add", "mul", "max", "min"):
            setup, result = _steps(table, op, dtype, n)
            table.add(f"reduce_{op}", dtype, n, result, "v", "s", setup)


def _steps(table: Table, op: str, dtype: DType, n: int) -> tuple[list[str], str]:
    """Return the statements that leave the result in lane 0, and the expression that takes it from there."""
    setup: list[str] = []
    value, lanes = "{0}", n
    own = Register(dtype, n)
    if own.bits == WHOLE and carried(dtype).bits < 64:
        lanes //= 2
        own = Register(dtype, lanes)
        low, high = (own.fill(f"vget_{half}_<t>({value})") for half in ("low", "high"))
        setup.append(f"const {own.c_type} x{lanes} = {table.use(op, dtype, lanes, low, high)}")
        value = f"x{lanes}"
    while lanes > 1:
        lanes //= 2
        moved = own.fill(f"vext<q>_<t>({value}, {value}, {lanes})")
        setup.append(f"const {own.c_type} x{lanes} = {table.use(op, dtype, own.lanes, value, moved)}")
        value = f"x{lanes}"
    return setup, own.fill(f"vget<q>_lane_<t>({value}, 0)")
