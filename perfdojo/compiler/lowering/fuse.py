"""Rewrites of single operations that a floating-point level allows: multiply-adds."""

from __future__ import annotations

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Call, Value

_FUSED = frozenset(("f32", "f64"))


def fused(op: str, args: tuple[Value, ...], dtype: DType, lanes: int, context: Context) -> Value | None:
    """Return a multiply-add for an addition or subtraction of a product at level `contract` and above.

    Only for f32 and f64: the 16-bit types round their product in any case.
    """
    if op not in ("add", "sub") or dtype.name not in _FUSED or not context.allows("contract"):
        return None
    name = "mad" if lanes == 1 or context.target.accumulates else "fma"
    if lanes > 1 and not context.supports("fma", dtype, lanes):
        return None
    left, right = args
    type = context.arena.type(dtype, lanes)
    if isinstance(left, Call) and left.op == "mul":
        if op == "sub":
            right = context.arena.call("neg", (right,), type)
        return context.arena.call(name, (*left.args, right), type)
    if isinstance(right, Call) and right.op == "mul":
        first, second = right.args
        if op == "sub":
            first = context.arena.call("neg", (first,), type)
        return context.arena.call(name, (first, second, left), type)
    return None
