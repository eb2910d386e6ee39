"""Fission: one scope over several nodes into one for each group of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.tree import fresh, rebuild, shift, taken_names


def fission(program: Program, scope: str, cuts: Sequence[int]) -> tuple[Program, tuple[str, ...]]:
    """Distribute a scope over its body, cut before the nodes at `cuts`; return the names of the parts.

        i:N { A B C }   ->   i:N { A }  i_2:N { B }  i_3:N { C }        (cuts 1, 2)

    1. Cuts are positions inside the body, in increasing order.
    2. (D) No dependence runs from a later part to an earlier one: certain when the iterations of i are
       independent of each other.
    """
    names: list[str] = []
    taken = taken_names(program)

    def parts(s: Scope) -> list[Node]:
        ends = [0, *cuts, len(s.body)]
        if any(a >= b for a, b in pairwise(ends)):
            raise ValueError(
                f"fission: {list(cuts)} are not cuts of the {len(s.body)} nodes in scope {scope}"
            )
        out: list[Node] = []
        for start, stop in pairwise(ends):
            name = s.name if start == 0 else fresh(s.name, taken)
            body = s.body[start:stop]
            names.append(name)
            out.append(replace(s, name=name, body=shift(body, {scope: iteration(name)}) if start else body))
        return out

    return rebuild(program, scope, parts), tuple(names)
