"""Join: two neighbouring scopes of one extent into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.tree import Body, edit_body, path, shift


def join(program: Program, first: str) -> Program:
    """Fuse the scope `first` with the scope right behind it.

        i:N { A({i}) }  j:N { B({j}) }   ->   i:N { A({i}) B({i}) }

    The result keeps the name of the first, and its mark when both have the same.

    1. The next sibling is a scope of the same extent.
    2. (D) No iteration of i needs, or is needed by, a different iteration of j.
    """
    around = path(program, first)
    parent = around[-2].name if len(around) > 1 else None

    def fused(body: Body) -> Iterator[Node]:
        position = next(k for k, n in enumerate(body) if n.name == first)
        a, b = body[position], body[position + 1] if position + 1 < len(body) else None
        if not isinstance(a, Scope) or not isinstance(b, Scope) or a.extent != b.extent:
            raise ValueError(f"join: no scope of the same extent follows {first}")
        mark = a.mark if a.mark == b.mark else ""
        yield from body[:position]
        yield replace(a, mark=mark, body=(*a.body, *shift(b.body, {b.name: iteration(first)})))
        yield from body[position + 2 :]

    return edit_body(program, parent, fused)
