"""Fission: one scope over several nodes into one for each group of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms.fission_scope import cut_scope
from perfdojo.compiler.tree import find, fresh, taken_names


def fission(program: Program, scope: str, cuts: Sequence[int]) -> tuple[Program, tuple[str, ...]]:
    """Distribute a scope over its body, cut before the nodes at `cuts`; return the names of the parts.

        i:N { A B C }   ->   i:N { A }  i_2:N { B }  i_3:N { C }        (cuts 1, 2)

    1. Cuts are positions inside the body, in increasing order.
    2. (D) No dependence runs from a later part to an earlier one: certain when the iterations of i are
       independent of each other.
    """
    body = find(program, scope).body
    ends = [0, *cuts, len(body)]
    if any(a >= b for a, b in pairwise(ends)):
        raise ValueError(f"fission: {list(cuts)} are not cuts of the {len(body)} nodes in scope {scope}")
    names, taken = [scope], taken_names(program)
    for start, stop in pairwise((0, *cuts)):
        name = fresh(scope, taken)
        program = cut_scope(program, names[-1], stop - start, name)
        names.append(name)
    return program, tuple(names)
