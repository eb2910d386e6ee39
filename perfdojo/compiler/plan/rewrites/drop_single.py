"""Drop single: a scope of one iteration becomes its body."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.plan.linear import Linear
from perfdojo.compiler.plan.tree import Body, shift
from perfdojo.compiler.walk import const_int


def drop_single(program: Program) -> Program:
    """Remove every scope of extent 1, marks or not.

    i:1 { B({i}) }   ->   B(0)
    """
    return replace(program, body=_dropped(program.body))


def _dropped(body: Body) -> Body:
    out: list[Node] = []
    for node in body:
        if not isinstance(node, Scope):
            out.append(node)
            continue
        inner = _dropped(node.body)
        if const_int(node.extent) == 1:
            out.extend(shift(inner, {node.name: Linear()}))
        else:
            out.append(replace(node, body=inner))
    return tuple(out)
