"""What the threads of a GPU block do in parts of a program, and whether those of two parts meet in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.meeting import MOST_PAIRS, accesses_in, can_meet
from perfdojo.compiler.analysis.tensor import TensorOp
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.analysis.waiting import Open, Turns, in_turn
from perfdojo.compiler.ir import BLOCK, Node, Scope
from perfdojo.compiler.tree import nodes


@dataclass(eq=False, slots=True)
class BlockPart:
    """Nodes that threads do while no thread waits for another one.

    Attributes:
        scopes: each thread does one iteration of these; along the dimensions that none of them has, the
            first thread alone does the nodes, or `every` thread does the same.
        around: all scopes around the nodes, outermost first.
        warp: the scope, all that the part is, whose iterations the lanes of a warp combine.
        tensor: what all that the part is means to the tensor cores, which lanes of a warp do together.
        kept: temporaries of which each thread has its own elements, or a warp its own matrices.
    """

    scopes: tuple[Scope, ...]
    nodes: tuple[Node, ...]
    around: tuple[Scope, ...]
    warp: Scope | None = None
    tensor: TensorOp | None = None
    every: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    barrier: bool = False
    wait: bool = False

    @property
    def copies(self) -> bool:
        """Whether what it writes may arrive later: threads copy while they go on."""
        return any(isinstance(n, Scope) and n.mark == "async" for n in nodes(self.nodes))

    @property
    def axes(self) -> dict[str, Scope]:
        """The scope along each dimension of the block, that of a warp aside."""
        return {s.mark: s for s in self.scopes}

    def touched(self) -> tuple[set[str], set[str]]:
        """Return the buffers that it reads and writes, those that each thread keeps aside."""
        found: tuple[set[str], set[str]] = set(), set()
        for load, writes in touches(self.nodes):
            if load.buffer not in self.kept:
                found[writes].add(load.buffer)
        return found


Item = BlockPart | Turns[BlockPart]


def all_parts(items: Sequence[Item]) -> Iterator[BlockPart]:
    """Yield the parts in the order of the text."""
    for item in items:
        if isinstance(item, BlockPart):
            yield item
        else:
            yield from all_parts(item.items)


class Meeting:
    """Answers for the parts of one kernel."""

    def __init__(self, known: Model) -> None:
        self.known = known

    def between(self, opened: Open[BlockPart], second: BlockPart) -> str:
        """Return "barrier" where two threads could touch one element in two parts, one of them writing it.

        One thread is enough where the first one's copies may not have arrived.
        """
        one, two = opened.part, second
        if not one.copies and not any(p.scopes or p.warp or p.tensor or p.every for p in (one, two)):
            return ""
        (read, write), (also_read, also_write) = one.touched(), two.touched()
        shared = (write & (also_read | also_write)) | (read & also_write)
        pairs = [
            (a, b)
            for a in accesses_in(self.known, one.nodes)
            for b in accesses_in(self.known, two.nodes)
            if a.load.buffer in shared and a.load.buffer == b.load.buffer and (a.writes or b.writes)
        ]
        if len(pairs) > MOST_PAIRS or any(self._meet(opened, two, a, b) for a, b in pairs):
            return "barrier"
        return ""

    def _meet(self, opened: Open[BlockPart], two: BlockPart, a: Access, b: Access) -> bool:
        """Tell whether two accesses can be to one element, by different threads of one block."""
        one = opened.part
        level, order = in_turn(opened, two)
        # iterations of the scopes of threads are different threads, not different times
        order += [f"a{d} = b{d}" for d in range(level) if a.scopes[d].mark not in BLOCK]
        if one.copies and a.writes:
            return can_meet(self.known, a, b, order)
        apart = []
        for axis in BLOCK:
            x, y = _thread(one, a, axis, "a"), _thread(two, b, axis, "b")
            if x is None or y is None:
                return can_meet(self.known, a, b, order)
            if x != y:
                apart.append(f"{x} != {y}")
        return bool(apart) and can_meet(self.known, a, b, [*order, f"({' or '.join(apart)})"])


def _thread(part: BlockPart, access: Access, axis: str, letter: str) -> str | None:
    """Return the number of the thread along an axis: an iteration, 0, or None where it is any."""
    if axis in part.every or (part.tensor is not None and axis == "block_x"):
        return None
    scope = part.axes.get(axis)
    if scope is None and part.warp is not None and axis == "block_x" and not access.writes:
        scope = part.warp
    if scope is None:
        return "0"
    return next(f"{letter}{d}" for d, s in enumerate(access.scopes) if s.name == scope.name)
