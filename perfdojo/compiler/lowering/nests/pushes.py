"""Results reach a stream in the order of the text: all of one stream come from one unit of the FPU.

Units have different latencies, and where results of several are ready, any may be next: what is pushed to a
stream could overtake what was pushed before. Registers have a scoreboard for that, streams have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perfdojo.compiler.lowering.lir import VType
from perfdojo.compiler.lowering.nests.limits import MAX_INSTRUCTIONS
from perfdojo.compiler.lowering.nests.tree import Fixed, Line, NestError, Node, Nodes, lines_of

ADD, SIMPLE, CONVERT, DIVIDE = "add", "simple", "convert", "divide"
"""Units: additions, products, multiply-adds; signs and comparisons; scalars into lanes; divisions, roots."""
_UNITS = {
    **dict.fromkeys(("copy", "neg", "abs", "minnum", "maxnum"), SIMPLE),
    **dict.fromkeys(("splat", "pack"), CONVERT),
    **dict.fromkeys(("div", "sqrt"), DIVIDE),
}
_FACTORS = {"copy": 1.0, "neg": -1.0}
"""Products that are the same: exact, and one unit further."""


def unit(op: str) -> str:
    """Return the unit of an operation of `nest.Compute`."""
    return _UNITS.get(op.split(":")[0], ADD)


def in_order(nodes: Nodes, fixed: dict[str, Fixed]) -> tuple[Nodes, dict[str, Fixed]]:
    """Return a tree each of whose streams is written by one unit, and its constants.

    Copies become products with 1 where others compute; other results of a wrong unit pass through a register.

    Raises:
        NestError: a loop of the FPU would hold too many instructions.
    """
    pushes: dict[str, list[tuple[Line, int]]] = {}
    for line, times in _weighted(nodes, 1):
        if isinstance(line.dest, str) and any(line.dest == f"ft{k}" for _, k in line.streamed):
            pushes.setdefault(line.dest, []).append((line, times))
    wanted = {
        stream: min((ADD, SIMPLE), key=lambda u: sum(n * _price(line, u) for line, n in lines))
        for stream, lines in pushes.items()
        if len({unit(line.op) for line, _ in lines}) > 1
    }
    if not wanted:
        return nodes, fixed
    made = _Rewriter(wanted, dict(fixed))
    return made.body(nodes), made.fixed


def _weighted(nodes: Nodes, times: int) -> Iterator[tuple[Line, int]]:
    for n in nodes:
        if isinstance(n, Line):
            yield n, times
        else:
            yield from _weighted(n.body, times * n.count)


def _price(line: Line, by: str) -> int:
    """Return how many instructions more it takes that a result comes from a unit."""
    return 0 if unit(line.op) == by or (by == ADD and line.op in _FACTORS) else 1


class _Rewriter:
    """Writes the tree anew; `wanted`: the unit that writes each stream."""

    def __init__(self, wanted: dict[str, str], fixed: dict[str, Fixed]) -> None:
        self.wanted, self.fixed = wanted, fixed
        self._count = 0

    def body(self, nodes: Nodes) -> Nodes:
        out: list[Node] = []
        for n in nodes:
            if isinstance(n, Line):
                out += self._line(n)
                continue
            inner = replace(n, body=self.body(n.body))
            size = len(lines_of(inner.body))
            if n.frep and size > MAX_INSTRUCTIONS:
                raise NestError(
                    f"the body of {n.loops[-1][0]} takes {size} instructions, over {MAX_INSTRUCTIONS}"
                )
            out.append(inner)
        return tuple(out)

    def _line(self, n: Line) -> list[Line]:
        by = self.wanted.get(n.dest, "") if isinstance(n.dest, str) else ""
        if not by or unit(n.op) == by:
            return [n]
        if by == ADD and n.op in _FACTORS:
            return [replace(n, op="mul", args=(*n.args, self._constant(_FACTORS[n.op], n.type)))]
        self._count += 1
        name = f"%q{self._count}"
        own = tuple(s for s in n.streamed if f"ft{s[1]}" != n.dest)
        push = tuple(s for s in n.streamed if f"ft{s[1]}" == n.dest)
        first = replace(n, dest=name, streamed=own)
        if by == SIMPLE:
            return [first, Line("copy", n.type, n.dest, (name,), streamed=push)]
        return [first, Line("mul", n.type, n.dest, (name, self._constant(1.0, n.type)), streamed=push)]

    def _constant(self, value: float, type: VType) -> str:
        wanted = Fixed(value, type)
        for name, known in self.fixed.items():
            if known == wanted:
                return name
        name = f"#{len(self.fixed)}"
        self.fixed[name] = wanted
        return name
