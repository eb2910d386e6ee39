"""How far an access moves in memory, in elements, along each scope: what profitability is decided by."""

from __future__ import annotations

from perfdojo.compiler.ir import Load, Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.plan.linear import Linear, linear


def offset(program: Program, load: Load) -> Linear | None:
    """Return the element offset of an access as a linear form, None when an index has none."""
    total = Linear()
    place = layout(program.buffer(load.buffer))
    for index, stride in zip(load.indices, place.strides, strict=True):
        form = linear(index)
        if form is None:
            return None
        total = total.plus(form, stride)
    return total


def stride(program: Program, load: Load, scope: str) -> int | None:
    """Return the step of an access along `scope` in elements; None when it is not constant."""
    total = 0
    place = layout(program.buffer(load.buffer))
    for index, step in zip(load.indices, place.strides, strict=True):
        form = linear(index)
        if form is not None:
            total += step * form.coefficient(scope)
        elif _occurs(index, scope):
            return None
    return total


def _occurs(expr: object, scope: str) -> bool:
    parts = (*getattr(expr, "args", ()), *getattr(expr, "indices", ()))
    inner = getattr(expr, "arg", None)
    return getattr(expr, "scope", None) == scope or any(
        _occurs(p, scope) for p in (*parts, inner) if p is not None
    )
