"""What the threads of a GPU block do in parts of a program, and whether those of two parts meet in memory."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.meeting import MOST_PAIRS, accesses_in, can_meet
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import BLOCK, Node, Scope


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
            for a in accesses_in(self.known, one.nodes)
            for b in accesses_in(self.known, two.nodes)
            if a.load.buffer in shared and a.load.buffer == b.load.buffer and (a.writes or b.writes)
        ]
        if len(pairs) > MOST_PAIRS:
            return True
        return any(self._meet(one, two, a, b) for a, b in pairs)

    def _meet(self, one: BlockPart, two: BlockPart, a: Access, b: Access) -> bool:
        """Tell whether two accesses can be to one element, by different threads of one block."""
        same = [f"a{d} = b{d}" for d in range(self.depth)]
        apart = [
            f"{x} != {y}"
            for axis in BLOCK
            if (x := _thread(one, a, axis, "a")) != (y := _thread(two, b, axis, "b"))
        ]
        return bool(apart) and can_meet(self.known, a, b, [*same, f"({' or '.join(apart)})"])


def _thread(part: BlockPart, access: Access, axis: str, letter: str) -> str:
    """Return the number of the thread along an axis: the iteration of a scope, 0 where there is none."""
    names = {s.name for s in part.scopes if s.mark == axis}
    return next((f"{letter}{d}" for d, s in enumerate(access.scopes) if s.name in names), "0")
