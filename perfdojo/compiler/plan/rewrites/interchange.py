"""Interchange: exchange two nested scopes."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.tree import rebuild


def interchange(program: Program, outer: str) -> Program:
    """Exchange the scope `outer` with the one directly in it.

        i:N { j:M { B } }   ->   j:M { i:N { B } }

    1. The body of i is the scope j and nothing else.
    2. (D) No dependence runs forward in i and backward in j.
    """

    def swap(s: Scope) -> tuple[Scope]:
        (inner,) = s.body if len(s.body) == 1 else (None,)
        if not isinstance(inner, Scope):
            raise ValueError(f"interchange: scope {outer} holds more than one scope")
        return (replace(inner, body=(replace(s, body=inner.body),)),)

    return rebuild(program, outer, swap)
