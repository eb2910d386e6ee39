"""Sink: an independent scope goes down to the statements."""

from __future__ import annotations

from itertools import pairwise

from perfdojo.compiler.ir import Node, Program, Scope, Statement
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.tree import Body, fresh, rebuild, shift, taken_names


def sink(program: Program, scope: str, stop: frozenset[str] = frozenset()) -> tuple[Program, list[str]]:
    """Push a scope inside the scopes in it, one copy for each part; return the names of the copies.

        i:N { A  k:K { B } C }   ->   i:N { A }  k:K { i_2:N { B } }  i_3:N { C }

    Statements that stand together stay together. It goes no deeper than the scopes in `stop`.

    1. (D) The iterations of i are independent of each other.
    """
    taken = taken_names(program)
    names: list[str] = []

    def push(s: Scope, first: bool) -> list[Node]:
        out: list[Node] = []
        for part in _parts(s.body):
            name = s.name if first and not out else fresh(s.name, taken)
            body = part if name == s.name else shift(part, {s.name: iteration(name)})
            here = Scope(name, s.extent, body, s.mark, s.span)
            child = body[0]
            if isinstance(child, Statement) or child.name in stop:
                names.append(name)
                out.append(here)
                continue
            inner = tuple(push(Scope(name, s.extent, child.body, s.mark, s.span), True))
            out.append(Scope(child.name, child.extent, inner, child.mark, child.span))
        return out

    return rebuild(program, scope, lambda s: push(s, True)), names


def _parts(body: Body) -> list[Body]:
    """Cut a body into its scopes and the runs of statements between them."""
    inner = [n for n in range(1, len(body)) if isinstance(body[n], Scope) or isinstance(body[n - 1], Scope)]
    return [body[a:b] for a, b in pairwise([0, *inner, len(body)])]
