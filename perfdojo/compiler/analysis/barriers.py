"""Where the harts of a cluster wait for each other.

Between two parts of which one touches what another hart does in the other, all of them arrive at a barrier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.harts import Item, Part, Turns
from perfdojo.compiler.analysis.meeting import MOST_PAIRS, accesses_in, can_meet


def set_barriers(known: Model, items: Sequence[Item], cores: int) -> None:
    """Set the barriers of a program, and the waits for the DMA engine, in all its parts."""
    _Waiting(known, cores).settle(items, [])


class _Open(NamedTuple):
    """A part that ran since the last barrier.

    Attributes:
        carrier: depth of the loop in an earlier iteration of which it did; None: in the same one of all.
        last: that was the iteration before.
    """

    part: Part
    carrier: int | None = None
    last: bool = False


class _Waiting:
    """Sets barriers: greedily, each as late as it can be."""

    def __init__(self, known: Model, cores: int) -> None:
        self.known, self.cores = known, cores
        self._accesses: dict[int, dict[str, list[Access]]] = {}
        self._answers: dict[tuple[_Open, Part], str] = {}

    def settle(self, items: Sequence[Item], before: list[_Open]) -> list[_Open]:
        """Set the barriers of sibling items and return what is open behind them."""
        opened = before
        for item in items:
            if item.barrier:
                opened = []
            if isinstance(item, Turns):
                opened = self._loop(item, opened)
                continue
            found = {self._between(o, item) for o in opened}
            if "barrier" in found:
                item.barrier, opened = True, []
            item.wait = item.wait or "wait" in found
            opened = [*opened, _Open(item)]
        return opened

    def _loop(self, loop: Turns, before: list[_Open]) -> list[_Open]:
        # what iterations ask of each other, then what they ask of what was before
        last = self.settle(loop.items, [])
        each = _waits(loop.items)
        last = self.settle(loop.items, [_Open(part, loop.depth, each) for part in _unique(last)])
        clash, stopped = self._enters(loop.items, before)
        if clash:
            loop.barrier = True
        after = [_Open(part) for part in _unique(last)]
        return after if loop.barrier or stopped else [*before, *after]

    def _enters(self, items: Sequence[Item], before: list[_Open]) -> tuple[bool, bool]:
        """Tell whether items clash with what was before, up to their first barrier; whether there is one."""
        for item in items:
            if item.barrier:
                return False, True
            if isinstance(item, Turns):
                clash, stopped = self._enters(item.items, before)
                if clash or stopped:
                    return clash, stopped
                continue
            found = {self._between(o, item) for o in before}
            if "barrier" in found:
                return True, False
            item.wait = item.wait or "wait" in found
        return False, False

    def _between(self, opened: _Open, second: Part) -> str:
        """Return what has to stand between two parts: a barrier, a wait for the DMA engine, or ""."""
        key = opened, second
        if key not in self._answers:
            self._answers[key] = self._asked(opened, second)
        return self._answers[key]

    def _asked(self, opened: _Open, second: Part) -> str:
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

    def _meet(self, opened: _Open, second: Part, a: Access, b: Access) -> bool:
        """Tell whether two accesses can be to one element, by different harts."""
        first, carrier = opened.part, opened.carrier
        common = 0
        for x, y in zip(first.around, second.around, strict=False):
            if x.name != y.name:
                break
            common += 1
        level = common if carrier is None else carrier
        order = [f"a{d} = b{d}" for d in range(level)]
        if carrier is not None:
            order.append(f"b{level} = a{level} + 1" if opened.last else f"a{level} < b{level}")
        if first.who == second.who == "cores":
            i, j = len(first.around), len(second.around)
            order.append(f"(a{i} - b{j}) mod {self.cores} >= 1")
        return can_meet(self.known, a, b, order)


def _unique(opened: list[_Open]) -> list[Part]:
    return list(dict.fromkeys(o.part for o in opened))


def _waits(items: Sequence[Item]) -> bool:
    """Tell whether there is a barrier in a loop, which each of its iterations then comes to."""
    return any(item.barrier or (isinstance(item, Turns) and _waits(item.items)) for item in items)
