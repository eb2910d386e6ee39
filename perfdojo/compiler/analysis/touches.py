"""Accesses in a piece of tree, by structure alone: what it reads and writes, whether it may run twice."""

from __future__ import annotations

from perfdojo.compiler.ir import Expr, Load, Scope, Statement
from perfdojo.compiler.tree import Body, nodes
from perfdojo.compiler.walk import loads

Touch = tuple[Load, bool]
"""An access, and whether it writes."""


def statements_in(body: Body) -> list[Statement]:
    """Return the statements of `body` in textual order."""
    return [n for n in nodes(body) if isinstance(n, Statement)]


def touches(body: Body) -> list[Touch]:
    """Return every access in `body`; the target of a reduction counts as a write, which includes a read."""
    out: list[Touch] = []
    for s in statements_in(body):
        out += [(load, False) for load in reads(s)]
        out.append((s.target, True))
    return out


def reads(statement: Statement) -> list[Load]:
    """Return the loads of value, guard and indices; not the target of a reduction."""
    exprs = (
        statement.value,
        *statement.target.indices,
        *(() if statement.guard is None else (statement.guard,)),
    )
    return [load for e in exprs for load in loads(e)]


def written(body: Body) -> set[str]:
    """Return the buffers that `body` writes."""
    return {s.target.buffer for s in statements_in(body)}


def repeatable(scope: Scope) -> bool:
    """Tell whether an iteration of `scope` may run twice: it writes each element anew before it uses it.

    Every buffer written is first touched by an unguarded `=` in the body that the perfectly nested scopes
    share, and all accesses to it in there have the indices of that write. Where several scopes stand side by
    side in a body, this holds for each of them, with all that any of them writes.
    """
    return _anew(scope.body, written(scope.body))


def _anew(body: Body, changed: set[str]) -> bool:
    """True when `body` writes what it accesses of the changed buffers itself, before it uses it."""
    while len(body) == 1 and isinstance(body[0], Scope):
        body = body[0].body
    if all(isinstance(node, Scope) for node in body):
        return all(_anew((node,), changed) for node in body)
    anew: dict[str, tuple[Expr, ...]] = {}
    for node in body:
        for load, writes in touches((node,)):
            if load.buffer in changed and load.buffer not in anew:
                if not (writes and isinstance(node, Statement) and node.op == "=" and node.guard is None):
                    return False
                anew[load.buffer] = load.indices
            if load.buffer in changed and load.indices != anew[load.buffer]:
                return False
    return True
