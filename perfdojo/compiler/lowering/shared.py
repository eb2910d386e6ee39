"""Temporaries of which each iteration of a vector scope has its own copy, but all have one place in memory.

Iterations in lanes run each statement together, and so do the vectors of a scope. That keeps what each one
finds in such a buffer where all write the same. Where vectors write different values, each vector is
done to its end before the next one begins; lanes of one vector always have to agree.

    k:32@vector t[] = z[{0} // 8]      in vectors of 8: t = z[0], y[0:8] = x[0:8] + t, t = z[1], ...
    | y[{0}] = x[{0}] + t[]
"""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.ir import Expr, Load, Scope, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lanes import inner_scopes, inner_statements
from perfdojo.compiler.walk import iterators, loads


@dataclass(frozen=True, slots=True)
class Shared:
    """What the shared temporaries of a vector scope ask for.

    Attributes:
        in_turn: vectors are done one after the other.
        why_not: why the scope cannot run in lanes, "" when it can.
    """

    in_turn: bool = False
    why_not: str = ""


def shared(scope: Scope, context: Context) -> Shared:
    """Return what the temporaries ask for that the iterations of a vector scope share."""
    statements = tuple(inner_statements(scope.body))
    written = {s.target.buffer for s in statements if context.buffers[s.target.buffer].role == "tmp"}
    inner = {s.name for s in inner_scopes(scope.body)}
    if all(_own_element(scope.name, inner, _accesses(b, statements), context) for b in written):
        return Shared()
    private = private_buffers(model(context.program), scope.name)
    for buffer in sorted(private):
        if any(_varies(load, scope.name, context) for load in _accesses(buffer, statements)):
            return Shared(why_not=f"iterations of {scope.name} share elements of {buffer}")
    return Shared(in_turn=_differ(scope.name, private, statements))


def _accesses(buffer: str, statements: tuple[Statement, ...]) -> list[Load]:
    return [a for s in statements for a in (s.target, *_read(s)) if a.buffer == buffer]


def _read(s: Statement) -> list[Load]:
    parts: list[Expr] = [s.value, *s.target.indices, *(() if s.guard is None else (s.guard,))]
    return [load for p in parts for load in loads(p)]


def _own_element(scope: str, inner: set[str], accesses: list[Load], context: Context) -> bool:
    """Tell at a glance whether one index keeps iterations apart: the same one that nothing else moves."""
    strides = context.layouts[accesses[0].buffer].strides
    for dimension, stride in enumerate(strides):
        if not stride:
            continue
        forms = [context.affine(a.indices[dimension]) for a in accesses]
        first = forms[0]
        if first is None or any(f != first for f in forms) or not first.terms.get(scope):
            continue
        if all(isinstance(t, str) and t not in inner for t in first.terms):
            return True
    return False


def _varies(access: Load, scope: str, context: Context) -> bool:
    strides = context.layouts[access.buffer].strides
    return any(k and scope in iterators(i) for i, k in zip(access.indices, strides, strict=True))


def _differ(scope: str, private: frozenset[str], statements: tuple[Statement, ...]) -> bool:
    """Tell whether vectors may write different values into a shared element, or one that it is made of."""
    for s in statements:
        if s.target.buffer not in private:
            continue
        depends = any(scope in iterators(p) for p in (s.value, s.guard) if p is not None)
        if depends or s.op != "=" or any(load.buffer == s.target.buffer for load in _read(s)):
            return True
    return False
