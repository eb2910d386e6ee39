"""What the threads of a GPU block do in parts of a program, and whether those of two parts meet in memory."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Node, Scope, Statement
from perfdojo.compiler.tree import nodes as all_nodes

BLOCK = ("block_x", "block_y", "block_z")
MOST_PAIRS = 64
"""Pairs of accesses that are told apart element by element; parts with more wait for each other."""


@dataclass(eq=False, slots=True)
class BlockPart:
    """Nodes that each thread does by itself, or the first one alone; `private`: of each thread."""

    scopes: tuple[Scope, ...]
    nodes: tuple[Node, ...]
    around: tuple[Scope, ...]
    private: frozenset[str]
    barrier: bool = False

    def touched(self) -> tuple[set[str], set[str]]:
        """Return the buffers that it reads and writes, those of each thread aside."""
        found: tuple[set[str], set[str]] = set(), set()
        for load, writes in touches(self.nodes):
            if load.buffer not in self.private:
                found[writes].add(load.buffer)
        return found


class Meeting:
    """Answers for the parts of one kernel, of which `depth` scopes around are its grid."""

    def __init__(self, known: Model, depth: int) -> None:
        self.known, self.depth = known, depth
        self._answers: dict[tuple[int, int], bool] = {}

    def clash(self, one: BlockPart, two: BlockPart) -> bool:
        """Tell whether two different threads could touch one element, one of them writing it.

        In whatever iterations of the loops around: what is asked is who touches what, not when.
        """
        key = id(one), id(two)
        if key not in self._answers:
            self._answers[key] = self._asked(one, two)
        return self._answers[key]

    def _asked(self, one: BlockPart, two: BlockPart) -> bool:
        if not one.scopes and not two.scopes:
            return False
        (read, write), (also_read, also_write) = one.touched(), two.touched()
        shared = (write & (also_read | also_write)) | (read & also_write)
        pairs = [
            (a, b)
            for a in self._accesses(one, shared)
            for b in self._accesses(two, shared)
            if a.load.buffer == b.load.buffer and (a.writes or b.writes)
        ]
        if len(pairs) > MOST_PAIRS:
            return True
        return any(self._meet(one, two, a, b) for a, b in pairs)

    def _accesses(self, part: BlockPart, buffers: set[str]) -> list[Access]:
        names = {n.name for n in all_nodes(part.nodes) if isinstance(n, Statement)}
        seen: dict[tuple[object, ...], Access] = {}
        for group in self.known.accesses:
            for a in group:
                if a.statement.name in names and a.load.buffer in buffers:
                    key = (a.load, a.writes, a.conditions, tuple(s.name for s in a.scopes))
                    seen.setdefault(key, a)
        return list(seen.values())

    def _meet(self, one: BlockPart, two: BlockPart, a: Access, b: Access) -> bool:
        """Tell whether two accesses can be to one element, by different threads of one block."""
        first = [f"a{d}" for d in range(len(a.scopes))]
        second = [f"b{d}" for d in range(len(b.scopes))]
        same = [f"a{d} = b{d}" for d in range(self.depth)]
        apart = [
            f"{x} != {y}"
            for axis in BLOCK
            if (x := _thread(one, a, axis, "a")) != (y := _thread(two, b, axis, "b"))
        ]
        if not apart:
            return False
        sets = self.known.sets
        try:
            with sets.decided():
                where = " and ".join([*same, f"({' or '.join(apart)})"])
                order = sets.map(f"{{ [{', '.join(first)}] -> [{', '.join(second)}] : {where} }}")
                pairs = sets.possible(a).apply_range(sets.possible(b).reverse())
                return not pairs.intersect(order).is_empty()
        except Undecided:
            return True


def _thread(part: BlockPart, access: Access, axis: str, letter: str) -> str:
    """Return the number of the thread along an axis: the iteration of a scope, 0 where there is none."""
    names = {s.name for s in part.scopes if s.mark == axis}
    return next((f"{letter}{d}" for d, s in enumerate(access.scopes) if s.name in names), "0")
