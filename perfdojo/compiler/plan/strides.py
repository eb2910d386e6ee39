"""How far an access moves in memory, in elements, along each scope: what profitability is decided by."""

from __future__ import annotations

from functools import lru_cache

from perfdojo.compiler.ir import Buffer, Load, Program
from perfdojo.compiler.linear import Linear, linear
from perfdojo.compiler.lowering.layout import layout


@lru_cache(maxsize=512)
def strides(buffer: Buffer) -> tuple[int, ...]:
    """Return the distance in elements between neighbours along each dimension of a buffer."""
    return layout(buffer).strides


def stride(program: Program, load: Load, scope: str) -> int | None:
    """Return the step of an access along `scope` in elements; None when it is not constant."""
    total = 0
    for index, step in zip(load.indices, strides(program.buffer(load.buffer)), strict=True):
        form = linear(index)
        if form is not None:
            total += step * form.coefficient(scope)
        elif _occurs(index, scope):
            return None
    return total


def place(program: Program, load: Load) -> Linear | None:
    """Return where an access lies in its buffer, in elements; None when that is not linear."""
    total = Linear()
    for index, step in zip(load.indices, strides(program.buffer(load.buffer)), strict=True):
        form = linear(index)
        if form is None:
            return None
        total = total.plus(form, step)
    return total


def _occurs(expr: object, scope: str) -> bool:
    parts = (*getattr(expr, "args", ()), *getattr(expr, "indices", ()))
    inner = getattr(expr, "arg", None)
    return getattr(expr, "scope", None) == scope or any(
        _occurs(p, scope) for p in (*parts, inner) if p is not None
    )
