"""Iterations of concurrent scopes must not meet: a record of the accesses made, and the rule on it.

The rule is that of docs/language.md: no two iterations touch the same storage, one of them writing, but for
reductions with one sign under `@vector`, and for temporaries that are private to the iterations. What holds
of the accesses that really happen holds in every order and interleaving of the iterations.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise

from perfdojo.compiler.ir import LANE_MARKS, Buffer
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.terms import element_name

READ, WRITE, REDUCE = 0, 1, {"+=": 2, "*=": 3, "max=": 4, "min=": 5, "maxnum=": 6, "minnum=": 7}
"""Kinds of access; each is below 8."""

MANY = -1
"""Stands for several iterations."""


@dataclass(slots=True)
class Record:
    """Accesses in the order in which they were made, each as address * 8 + kind.

    Attributes:
        buffers, starts: which buffers the addresses belong to.
    """

    buffers: list[Buffer] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)

    def name_of(self, address: int) -> str:
        """Return the name of the element at an address."""
        which = bisect_right(self.starts, address) - 1
        return element_name(self.buffers[which], address - self.starts[which])

    def buffer_of(self, address: int) -> Buffer:
        """Return the buffer that an address belongs to."""
        return self.buffers[bisect_right(self.starts, address) - 1]


@dataclass(slots=True)
class Concurrent:
    """A concurrent scope.

    Attributes:
        inside: temporaries that nothing outside of the scope accesses.
    """

    name: str
    mark: str
    inside: frozenset[str]

    def check(self, record: Record, bounds: list[int]) -> None:
        """Judge one run of the scope, iteration n being the entries from bounds[n] to bounds[n + 1].

        Raises:
            Fault: two iterations touch one element, and one of them writes it.
        """
        private: dict[str, bool] = {}
        wrote: dict[int, int] = {}
        read: dict[int, int] = {}
        reduced: dict[int, tuple[int, int]] = {}
        lanes = self.mark in LANE_MARKS
        entries = record.entries
        for n in range(len(bounds) - 1):
            for entry in entries[bounds[n] : bounds[n + 1]]:
                cell, kind = entry >> 3, entry & 7
                other = wrote.get(cell, n)
                if other == n and kind != READ:
                    other = read.get(cell, n)
                if other == n and cell in reduced:
                    before, sign = reduced[cell]
                    other = n if sign == kind and lanes else before
                if other != n:
                    name = record.buffer_of(cell).name
                    if name not in private:
                        private[name] = name in self.inside and _filled_first(record, bounds, name)
                    if not private[name]:
                        raise Fault(self._meeting(record.name_of(cell), other, n))
                    continue
                if kind == READ:
                    read[cell] = MANY if read.get(cell, n) != n else n
                elif kind == WRITE or not lanes:
                    wrote[cell] = n
                else:
                    before, sign = reduced.get(cell, (n, kind))
                    reduced[cell] = (n if before == n else MANY), kind

    def _meeting(self, element: str, first: int, second: int) -> str:
        others = f"iteration {first}" if first != MANY else "other iterations"
        return (
            f"has the concurrent scope {self.name} (@{self.mark}), in which iteration {second} and {others} "
            f"touch {element}, one of them writing"
        )


def _filled_first(record: Record, bounds: list[int], name: str) -> bool:
    """Tell whether each iteration writes each element of a buffer before it reads it."""
    which = next(i for i, b in enumerate(record.buffers) if b.name == name)
    start = record.starts[which]
    stop = record.starts[which + 1] if which + 1 < len(record.starts) else None
    for first, last in pairwise(bounds):
        written: set[int] = set()
        for entry in record.entries[first:last]:
            cell, kind = entry >> 3, entry & 7
            if cell < start or (stop is not None and cell >= stop):
                continue
            if kind == WRITE:
                written.add(cell)
            elif cell not in written:
                return False
    return True
