"""Join: two neighbouring scopes of one extent into one."""

from __future__ import annotations

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.transforms.join_scopes import JoinScopes
from perfdojo.compiler.tree import siblings


def join(program: Program, first: str) -> Program:
    """Fuse the scope `first` with the scope right behind it.

        i:N { A({i}) }  j:N { B({j}) }   ->   i:N { A({i}) B({i}) }

    The result keeps the name of the first, and its mark when both have the same.

    1. The next sibling is a scope of the same extent.
    2. (D) No iteration of i needs, or is needed by, a different iteration of j.
    """
    place, body = program.scopes[first], siblings(program, first)
    second = body[place.position + 1] if place.position + 1 < len(body) else None
    if not isinstance(second, Scope) or place.node.extent != second.extent:
        raise ValueError(f"join: no scope of the same extent follows {first}")
    return JoinScopes(first, second.name).rewrite(program)
