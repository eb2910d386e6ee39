"""Drop single: a scope of one iteration becomes its body."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Cast, Expr, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.linear import Linear, linear
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.tree import Body, nodes, shift, with_body
from perfdojo.compiler.walk import const_int, iterators


def drop_single(program: Program) -> Program:
    """Remove the scopes of extent 1, marks or not.

        i:1 { B({i}) }   ->   B(0)

    A scope stays where its iteration number is more than a part of an index or of a comparison: a literal in
    its place could have another type when the text is read again, or be a divisor.
    """
    return replace(program, body=_dropped(program.body))


def _dropped(body: Body) -> Body:
    out: list[Node] = []
    for node in body:
        if not isinstance(node, Scope):
            out.append(node)
            continue
        inner = _dropped(node.body)
        if const_int(node.extent) == 1 and all(_may_go(n, node.name) for n in nodes(inner)):
            out.extend(shift(inner, {node.name: Linear()}))
        else:
            out.append(with_body(node, inner))
    return tuple(out)


def _may_go(node: Node, scope: str) -> bool:
    if isinstance(node, Scope):
        return True
    return all(_replaceable(e, scope, False) for e in _expressions(node))


def _expressions(s: Statement) -> tuple[Expr, ...]:
    return (s.target, s.value) if s.guard is None else (s.target, s.value, s.guard)


def _replaceable(e: Expr, scope: str, typed: bool) -> bool:
    """The iteration number occurs in linear forms only, and these where an i64 is certain."""
    if linear(e) is not None:
        return typed or scope not in iterators(e)
    if isinstance(e, Load):
        return all(_replaceable(i, scope, True) for i in e.indices)
    if isinstance(e, Op):
        return all(_replaceable(a, scope, OPS[e.op].rule == "compare") for a in e.args)
    return not isinstance(e, Cast) or _replaceable(e.arg, scope, False)
