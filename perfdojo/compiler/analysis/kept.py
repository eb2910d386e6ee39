"""Temporaries of a GPU kernel of which each block, or each thread of it, has its own elements.

    4@grid_x 32@block_x a[{0}*32 + {1}] = 0.0              thread i of block b holds a[b*32 + i]: float a
    | 8 32@block_x a[{0}*32 + {2}] += x[{0},{1},{2}]
    | 32@warp m[{0}] max= a[{0}*32 + {1}]                  and all threads of block b hold m[b]: float m

An element belongs to the blocks and threads whose numbers its indices are made of; along dimensions of the
block that no index has, each thread holds it. So all of these threads do what writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.block import BlockPart
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.digits import Split, split_high, split_low
from perfdojo.compiler.analysis.fragments import matrix_digits
from perfdojo.compiler.analysis.meeting import accesses_in
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import GRID, Node, Scope
from perfdojo.compiler.walk import const_int

WARP = 32
"""Lanes of a warp, on all devices (CUDA C++ Programming Guide)."""
MAX_THREADS = 1024
"""Of a block, on all devices; same source."""
MAX_EXTENT = {
    "grid_x": (1 << 31) - 1,
    "grid_y": 65535,
    "grid_z": 65535,
    "block_x": 1024,
    "block_y": 1024,
    "block_z": 64,
}
"""Largest extent of each dimension, the same for all compute capabilities from 3.0 on.

Source: CUDA C++ Programming Guide, table of technical specifications per compute capability.
"""


def under_grid(nodes: tuple[Node, ...]) -> tuple[list[Scope], tuple[Node, ...]]:
    """Return the scopes whose iterations are blocks, one for each dimension, and what a block does.

    A second scope along one dimension, which the language allows, is a loop of the block.
    """
    grid: list[Scope] = []
    while len(nodes) == 1 and isinstance(nodes[0], Scope) and nodes[0].mark in GRID:
        if nodes[0].mark in (s.mark for s in grid):
            break
        grid.append(nodes[0])
        nodes = nodes[0].body
    return grid, nodes


@dataclass(frozen=True, slots=True)
class Held:
    """How blocks or threads hold a temporary.

    Attributes:
        splits: what of the index along a dimension of the buffer is left to the holder.
        axes: dimensions of the block along which threads have elements of their own.
        lasting: it lives from part to part.
        matrices: a warp holds its matrices, each of 16 rows and columns, for tensor cores.
    """

    splits: Mapping[int, Split] = field(default_factory=dict)
    axes: frozenset[str] = frozenset()
    lasting: bool = False
    matrices: bool = False


def held_by_blocks(known: Model, grid: Sequence[Scope], name: str, accesses: Sequence[Access]) -> Held | None:
    """Return how the blocks of a grid hold a temporary that only they access; None where they share it."""
    splits: dict[int, Split] = {}
    open_ = {s.name for s in grid if const_int(s.extent) > 1}
    axes = {s.name: s for s in grid}
    for d in known.stored(name):
        found = split_high(known, [a.indices[d] for a in accesses], axes)
        if found is not None:
            splits[d] = found
            open_ -= found.scopes
    open_ = {s for s in open_ if not _could_own(known, s, name)}
    return None if open_ else Held(splits)


class Holders:
    """Which temporaries of one kernel the threads of a block hold.

    Args:
        parts: of the kernel; they get their `kept`, and `every` where copies of a value need it.
        threads: of the block along each dimension.
        blocks: how blocks hold the temporaries that may become those of threads.
        fits: tells whether a thread can hold one so.
    """

    def __init__(
        self,
        known: Model,
        parts: Sequence[BlockPart],
        threads: Mapping[str, int],
        blocks: Mapping[str, Held],
        fits: Callable[[str, Held], bool],
    ) -> None:
        self.known, self.parts, self.threads = known, parts, threads
        self._active = {axis for axis, n in threads.items() if n > 1}
        self._missing = {
            id(p): frozenset(self._active - p.axes.keys() - ({"block_x"} if p.warp or p.tensor else set()))
            for p in parts
        }
        self.held = {}
        for name, block in blocks.items():
            found = self._found(name, block)
            if found is not None and fits(name, found):
                self.held[name] = found
        while refused := set(self._refused()):
            self.held = {name: how for name, how in self.held.items() if name not in refused}
        for p in parts:
            p.kept = frozenset({load.buffer for load, _ in touches(p.nodes)} & self.held.keys())
            lasting = any(name in self.held and self.held[name].lasting for name in _written(p))
            p.every = self._missing[id(p)] if lasting else frozenset()

    def _found(self, name: str, block: Held) -> Held | None:
        """Return how threads hold a temporary, None where they share it."""
        used = [(p, a) for p in self.parts for a in accesses_in(self.known, p.nodes) if a.load.buffer == name]
        splits, axes = dict(block.splits), set[str]()
        for d in self.known.stored(name):
            before = block.splits.get(d)
            forms = [a.indices[d] if before is None else before.local(a.indices[d]) for _, a in used]
            numbered = [_numbered(p, a, f) for (p, a), f in zip(used, forms, strict=True)]
            found = split_low(self.known, numbered, self.threads)
            if found is not None:
                splits[d] = found if before is None else before.then(found)
                axes |= found.scopes & self.threads.keys()
        private: set[str] | None = None
        users = list({id(p): p for p, _ in used}.values())
        for p in users:
            own = {s.mark for s in p.scopes if _could_own(self.known, s.name, name)}
            private = own if private is None else private & own
        axes |= private or set()
        if not all(self._covered(p, a, axes) for p, a in used):
            return None
        named = [(p, [_numbered(p, a, form) for form in a.indices]) for p, a in used]
        matrices = matrix_digits(self.known, name, named, splits, self.threads)
        held = Held(splits, frozenset(axes), len(users) > 1)
        return held if matrices is None else replace(held, splits=matrices, matrices=True)

    def _covered(self, part: BlockPart, access: Access, axes: Collection[str]) -> bool:
        """Tell whether all threads that do a part have elements of their own of what it writes."""
        if not access.writes:
            return True
        if part.warp is not None and self.threads["block_x"] != WARP:
            return False
        return (part.axes.keys() & self._active) <= set(axes)

    def _refused(self) -> Iterator[str]:
        """Yield temporaries that some threads would not hold: a part also writes what only one may write."""
        for p in self.parts:
            written = _written(p)
            if (self._missing[id(p)] or p.warp is not None) and not written <= self.held.keys():
                yield from (n for n in written & self.held.keys() if self.held[n].lasting)


def _could_own(known: Model, scope: str, name: str) -> bool:
    """Tell whether each iteration of a scope could have its own copy, whether or not it needs one."""
    try:
        return is_private(known, scope, name)
    except Undecided:
        return False


def _written(part: BlockPart) -> set[str]:
    return {load.buffer for load, writes in touches(part.nodes) if writes}


def _numbered(part: BlockPart, access: Access, form: Affine) -> Affine:
    """Return the form with the dimension of the block in place of the scope that gives its number."""
    axes = {s.name: axis for axis, s in part.axes.items()}
    if part.warp is not None and not access.writes:
        axes[part.warp.name] = "block_x"
    return form.renamed(axes)
