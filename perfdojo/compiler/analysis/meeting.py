"""Whether accesses of two pieces of a program can be to one element, by conditions on their iterations."""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Node, Statement
from perfdojo.compiler.tree import nodes as all_nodes

MOST_PAIRS = 64
"""Pairs of accesses that are told apart element by element; with more, pieces count as meeting."""


def accesses_in(known: Model, nodes: Sequence[Node]) -> list[Access]:
    """Return the accesses in some nodes, each once."""
    names = {n.name for n in all_nodes(tuple(nodes)) if isinstance(n, Statement)}
    seen: dict[tuple[object, ...], Access] = {}
    for group in known.accesses:
        for a in group:
            if a.statement.name in names:
                key = (a.load, a.writes, a.conditions, tuple(s.name for s in a.scopes))
                seen.setdefault(key, a)
    return list(seen.values())


def can_meet(known: Model, a: Access, b: Access, conditions: Sequence[str]) -> bool:
    """Tell whether two accesses can be to one element; what cannot be decided counts as yes.

    Args:
        conditions: on the iterations a0, a1, ... and b0, b1, ... of the scopes around each, all to hold.
    """
    one = ", ".join(f"a{d}" for d in range(len(a.scopes)))
    two = ", ".join(f"b{d}" for d in range(len(b.scopes)))
    sets = known.sets
    try:
        with sets.decided():
            order = sets.map(f"{{ [{one}] -> [{two}] : {' and '.join(conditions) or '1 = 1'} }}")
            pairs = sets.possible(a).apply_range(sets.possible(b).reverse())
            return not pairs.intersect(order).is_empty()
    except Undecided:
        return True
