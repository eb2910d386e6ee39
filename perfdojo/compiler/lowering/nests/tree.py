"""A nest as a tree of FPU instructions on virtual registers, whose operands may lie in memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from perfdojo.compiler.lowering.lir import VType
from perfdojo.compiler.lowering.nests.limits import WORD_BYTES


class NestError(Exception):
    """Says why a scope is not streamed; caught inside lowering."""


class Site(NamedTuple):
    """An access: `const` bytes from the start of a buffer, moved by `terms` and by the loops of the nest.

    Attributes:
        terms: counters of loops around the nest, or arithmetic on them, and what each adds, in elements.
        steps: loops of the nest and the bytes that each iteration of theirs adds.
    """

    buffer: str
    terms: tuple[tuple[str, int], ...]
    const: int
    steps: tuple[tuple[str, int], ...]
    type: VType

    @property
    def bytes(self) -> int:
        """Bytes of the access."""
        return self.type.lanes * self.type.dtype.bytes

    def at(self, loop: str, iteration: int) -> Site:
        """Return the access in one iteration of a loop."""
        step = dict(self.steps).get(loop, 0)
        kept = tuple(s for s in self.steps if s[0] != loop)
        return self._replace(const=self.const + step * iteration, steps=kept)


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A constant, the same in all lanes; equal to those of the same bits: -0.0 is not 0.0."""

    value: float
    type: VType

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and (self.value.hex(), self.type) == (other.value.hex(), other.type)

    def __hash__(self) -> int:
        return hash((self.value.hex(), self.type))


class Spread(NamedTuple):
    """A scalar to be taken for all lanes: in a register, or in the first lane of a word in memory."""

    scalar: str | Site


Arg = str | Site | Fixed | Spread
"""An operand: a virtual register, memory, a constant, or a scalar for all lanes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction. `op` is that of `nest.Compute`, or load and store of the FPU's own port.

    Attributes:
        loose: its product may be rounded before the sum.
        streamed: accesses that have become operands called ft0 to ft2, each with the number of its mover.
    """

    op: str
    type: VType
    dest: str | Site
    args: tuple[Arg, ...]
    loose: bool = False
    streamed: tuple[tuple[Site, int], ...] = ()

    @property
    def reads(self) -> tuple[Site, ...]:
        """The different accesses among the operands; one that occurs twice is one element of a stream."""
        found: list[Site] = []  # of three at most: comparing them takes less than hashing
        for a in self.args:
            site = a.scalar if isinstance(a, Spread) else a
            if isinstance(site, Site) and site not in found:
                found.append(site)
        return tuple(found)

    def touched(self) -> tuple[list[Site], list[Site]]:
        """Return what it reads and what it writes in memory, on whichever way."""
        push = [s for s, number in self.streamed if self.dest == f"ft{number}"]
        read = [s for s, number in self.streamed if self.dest != f"ft{number}"]
        return [*self.reads, *read], [*push, *([self.dest] if isinstance(self.dest, Site) else [])]


@dataclass(frozen=True, slots=True)
class Block:
    """A loop.

    Attributes:
        loops: (name, iterations) of the scopes that it runs, outermost first.
        front, back: iterations at both ends, of all scopes together, that it leaves out.
    """

    loops: tuple[tuple[str, int], ...]
    frep: bool
    body: tuple[Node, ...]
    front: int = 0
    back: int = 0

    @property
    def count(self) -> int:
        """Passes of the body."""
        return prod(n for _, n in self.loops) - self.front - self.back

    def place(self, iteration: int) -> list[tuple[str, int]]:
        """Return the iteration of each scope in one of all of them together."""
        found = []
        for name, n in reversed(self.loops):
            found.append((name, iteration % n))
            iteration //= n
        return found[::-1]


Node = Line | Block
Nodes = tuple[Node, ...]


def aligned(site: Site) -> bool:
    """Tell whether an access is always one whole word of a stream."""
    size = site.type.dtype.bytes
    moved = (*(c * size for _, c in site.terms), *(s for _, s in site.steps), site.const)
    return site.bytes == WORD_BYTES and all(m % WORD_BYTES == 0 for m in moved)


def lines_of(nodes: Nodes) -> list[Line]:
    """Return all lines of a tree, in the order of the text."""
    found: list[Line] = []
    for n in nodes:
        found += [n] if isinstance(n, Line) else lines_of(n.body)
    return found
