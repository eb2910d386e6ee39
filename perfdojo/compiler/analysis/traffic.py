"""Bytes that a program moves between a cache and what is behind it: an estimate by footprints.

    i:N { j:M { y[i] += a[i,j] * x[j] } }     x fits: read once;  x does not: read N times

A scope whose iterations each fit the cache finds in it what the iteration before has used, so it moves what
it touches once. One whose iterations do not fit moves what each of them moves. Conflicts and prefetching
are not counted, lines are taken to be used whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.footprint import footprint_box
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.walk import const_int


def traffic(program: Program, cache_bytes: int) -> int:
    """Return the bytes that a bound, planned program moves in and out of a cache of that size.

    What a program keeps in registers counts as memory, as the text has it; results are written back once.
    """
    return _Traffic(model(program), cache_bytes).of(model(program).explicit.body)


class _Traffic:
    def __init__(self, known: Model, cache: int) -> None:
        self.known, self.cache = known, cache
        self.placed = layouts(known.explicit)

    def of(self, body: Sequence[Node]) -> int:
        """Return what sibling nodes move."""
        whole = self._footprint(body)
        if whole <= self.cache:
            return whole
        return sum(self._node(n) for n in body)

    def _node(self, node: Node) -> int:
        if not isinstance(node, Scope):
            return self._footprint((node,))
        if self._iteration(node) <= self.cache:
            return self._footprint((node,))
        return const_int(node.extent) * self.of(node.body)

    def _iteration(self, scope: Scope) -> int:
        """Return the bytes that one iteration touches."""
        return self._footprint(scope.body)

    def _footprint(self, body: Sequence[Node]) -> int:
        """Return the bytes of the elements that sibling nodes touch in one iteration of the scopes around."""
        found: dict[str, int] = {}
        for node in body:
            for load, _ in touches((node,)):
                name = load.buffer
                if isinstance(node, Scope):
                    box = footprint_box(self.known, node.name, name)
                    size = self.placed[name].elems if box is None else min(box.size, self.placed[name].elems)
                else:
                    size = 1
                found[name] = max(found.get(name, 0), size)
        return sum(n * self.placed[name].buffer.dtype.bytes for name, n in found.items())
