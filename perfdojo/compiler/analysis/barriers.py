"""Where the harts of a cluster wait for each other.

Between two parts of which one touches what another hart does in the other, all of them arrive at a barrier.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.harts import Item, Part
from perfdojo.compiler.analysis.meeting import MOST_PAIRS, accesses_in, can_meet
from perfdojo.compiler.analysis.waiting import Open, Waiting, in_turn


def set_barriers(known: Model, items: Sequence[Item], cores: int) -> None:
    """Set the barriers of a program, and the waits for the DMA engine, in all its parts."""
    Waiting(_Harts(known, cores).between).settle(items, [])


class _Harts:
    """Answers for the parts that harts of a cluster run."""

    def __init__(self, known: Model, cores: int) -> None:
        self.known, self.cores = known, cores
        self._accesses: dict[int, dict[str, list[Access]]] = {}

    def between(self, opened: Open[Part], second: Part) -> str:
        """Return what has to stand between two parts: a barrier, a wait for the DMA engine, or ""."""
        first = opened.part
        if first.who == second.who == "first":
            return ""
        one, two = self._of(first), self._of(second)
        engine = first.who == second.who == "dma"
        # orders are worked through one by one, but one may read before the one before it has written
        pairs = [
            (a, b)
            for name in one.keys() & two.keys()
            for a in one[name]
            for b in two[name]
            if (a.writes and (b.reads if engine else True)) or (b.writes and not engine)
        ]
        if not pairs:
            return ""
        told = {first.who, second.who} == {"first", "cores"} or len(pairs) > MOST_PAIRS
        if told or any(self._meet(opened, second, a, b) for a, b in pairs):
            return "wait" if engine else "barrier"
        return ""

    def _of(self, part: Part) -> dict[str, list[Access]]:
        """Return the different accesses of a part by buffer, those of a core's own copies aside."""
        found = self._accesses.get(id(part))
        if found is None:
            found = self._accesses[id(part)] = {}
            for a in accesses_in(self.known, part.nodes):
                if a.load.buffer not in part.private:
                    found.setdefault(a.load.buffer, []).append(a)
        return found

    def _meet(self, opened: Open[Part], second: Part, a: Access, b: Access) -> bool:
        """Tell whether two accesses can be to one element, by different harts."""
        first = opened.part
        level, order = in_turn(opened, second)
        order = [*(f"a{d} = b{d}" for d in range(level)), *order]
        if first.who == second.who == "cores":
            i, j = len(first.around), len(second.around)
            order.append(f"(a{i} - b{j}) mod {self.cores} >= 1")
        return can_meet(self.known, a, b, order)
