"""Interchange: exchange two nested scopes."""

from __future__ import annotations

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.transforms.reorder import Reorder
from perfdojo.compiler.tree import find


def interchange(program: Program, outer: str) -> Program:
    """Exchange the scope `outer` with the one directly in it.

        i:N { j:M { B } }   ->   j:M { i:N { B } }

    1. The body of i is the scope j and nothing else.
    2. (D) No dependence runs forward in i and backward in j.
    """
    body = find(program, outer).body
    if len(body) != 1 or not isinstance(body[0], Scope):
        raise ValueError(f"interchange: scope {outer} holds more than one scope")
    return Reorder(outer, body[0].name).rewrite(program)
