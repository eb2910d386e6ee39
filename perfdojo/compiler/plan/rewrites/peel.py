"""Peel: one scope into two after another."""

from __future__ import annotations

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.transforms.peel_scope import PeelScope
from perfdojo.compiler.tree import find, siblings
from perfdojo.compiler.walk import const_int


def peel(program: Program, scope: str, at: int, again: int = 0) -> tuple[Program, str, str]:
    """Cut the range of a scope at `at`; return the program and the names of the two parts.

        i:N { B({i}) }   ->   i:at { B({i}) }
                              i_t:N-at { B({i_t}+at) }

    With `again` = a, the second part begins a iterations earlier and runs those a second time, so that a
    remainder can be as wide as a vector:

                         ->   i:at { B({i}) }
                              i_t:N-at+a { B({i_t}+at-a) }

    The second part and everything in it gets the suffix `_t`.

    1. 0 < at < N, 0 <= a <= at.
    2. (D) With a > 0: an iteration leaves the same values when it is run once more (`legal.repeatable`).
    """
    extent = const_int(find(program, scope).extent)
    if not 0 < at < extent:
        raise ValueError(f"peel: {at} is not inside the range of scope {scope}, 0 to {extent}")
    if not 0 <= again <= at:
        raise ValueError(f"peel: {again} iterations of scope {scope} cannot be repeated before {at}")
    cut = PeelScope(scope, at, again).rewrite(program)
    body = siblings(cut, scope)
    place = next(n for n, node in enumerate(body) if node.name == scope and isinstance(node, Scope))
    return cut, scope, body[place + 1].name
