"""What the harts of a cluster do in a program with @core and @dma scopes, and where they wait for each other.

Everything outside of such scopes is done by the first core alone. All harts run the loops around them.
Between two parts of which one touches what another hart does in the other, all of them arrive at a barrier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Node, Scope, Statement
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int

Who = Literal["first", "cores", "dma"]

ALONE = frozenset(("vector", "stream", "frep"))
"""Marks of scopes that one hart runs as a whole."""
MOST_PAIRS = 64
"""Pairs of accesses that are told apart element by element; parts with more wait for each other."""


@dataclass(eq=False, slots=True)
class Part:
    """Sibling nodes that some harts run while the others go on.

    Attributes:
        around: the loops that all harts run, outermost first.
        barrier: all harts arrive at one before it.
        wait: the DMA engine has to be idle before it.
        private: temporaries of which each core has its own copy.
    """

    who: Who
    nodes: tuple[Node, ...]
    around: tuple[Scope, ...]
    barrier: bool = False
    wait: bool = False
    private: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True)
class Turns:
    """A loop that all harts run."""

    scope: Scope
    items: list[Item]
    depth: int
    barrier: bool = False


Item = Part | Turns


class _Open(NamedTuple):
    """A part that ran since the last barrier.

    Attributes:
        carrier: depth of the loop in an earlier iteration of which it did; None: in the same one of all.
        last: that was the iteration before.
    """

    part: Part
    carrier: int | None = None
    last: bool = False


def parts(known: Model, cores: int, copied: Collection[str]) -> list[Item]:
    """Return the parts of a program, their barriers set.

    Args:
        cores: that run the program.
        copied: the @dma scopes that the DMA engine can do.
    """
    items = list(_cut(known, known.explicit.body, (), cores, frozenset(copied)))
    _Waiting(known, cores).settle(items, [])
    return items


def all_parts(items: Sequence[Item]) -> Iterator[Part]:
    """Yield the parts in the order of the text."""
    for item in items:
        if isinstance(item, Part):
            yield item
        else:
            yield from all_parts(item.items)


def names_in(part: Part) -> frozenset[str]:
    """Return the buffers that a part accesses."""
    from perfdojo.compiler.analysis.touches import touches

    return frozenset(load.buffer for load, _ in touches(part.nodes))


# ---------------------------------------------------------------- who does what


def _cut(
    known: Model, body: Sequence[Node], around: tuple[Scope, ...], cores: int, copied: frozenset[str]
) -> Iterator[Item]:
    first: list[Node] = []
    for node in body:
        who = _who(node, cores, copied)
        if who == "first":
            first.append(node)
            continue
        if first:
            yield Part("first", tuple(first), around)
            first = []
        assert isinstance(node, Scope)
        if who == "all":
            inner = list(_cut(known, node.body, (*around, node), cores, copied))
            yield Turns(node, inner, len(around))
        elif who == "cores":
            yield Part("cores", (node,), around, private=private_buffers(known, node.name))
        else:
            yield Part("dma", (node,), around)
    if first:
        yield Part("first", tuple(first), around)


def _who(node: Node, cores: int, copied: frozenset[str]) -> Who | Literal["all"]:
    if isinstance(node, Statement):
        return "first"
    if node.name in copied:
        return "dma"
    if node.mark == "core" and cores > 1 and const_int(node.extent) > 1:
        return "cores"
    if node.mark in ALONE:
        return "first"
    return "all" if any(_who(n, cores, copied) != "first" for n in node.body) else "first"


# ---------------------------------------------------------------- where they wait


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
            names = {n.name for n in all_nodes(part.nodes) if isinstance(n, Statement)}
            seen: dict[tuple[object, ...], Access] = {}
            for group in self.known.accesses:
                for a in group:
                    if a.statement.name in names and a.load.buffer not in part.private:
                        key = (a.load, a.writes, a.conditions, tuple(s.name for s in a.scopes))
                        seen.setdefault(key, a)
            found = self._accesses[id(part)] = {}
            for a in seen.values():
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
        one = [f"a{d}" for d in range(len(a.scopes))]
        two = [f"b{d}" for d in range(len(b.scopes))]
        order = [f"a{d} = b{d}" for d in range(level)]
        if carrier is not None:
            order.append(f"b{level} = a{level} + 1" if opened.last else f"a{level} < b{level}")
        if first.who == second.who == "cores":
            i, j = len(first.around), len(second.around)
            order.append(f"(a{i} - b{j}) mod {self.cores} >= 1")
        sets = self.known.sets
        try:
            with sets.decided():
                text = f"{{ [{', '.join(one)}] -> [{', '.join(two)}] : {' and '.join(order) or '1 = 1'} }}"
                pairs = sets.possible(a).apply_range(sets.possible(b).reverse())
                return not pairs.intersect(sets.map(text)).is_empty()
        except Undecided:
            return True


def _unique(opened: list[_Open]) -> list[Part]:
    return list(dict.fromkeys(o.part for o in opened))


def _waits(items: Sequence[Item]) -> bool:
    """Tell whether there is a barrier in a loop, which each of its iterations then comes to."""
    return any(item.barrier or (isinstance(item, Turns) and _waits(item.items)) for item in items)
