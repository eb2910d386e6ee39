"""Moves made on the tree, and which accesses change places by them: shares nothing with the analysis.

Each function returns the moved program and a function that gives a touch of it the iteration of the original.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Expr, Iter, Literal, Node, Op, Program, Scope, Statement
from perfdojo.compiler.walk import const_int, map_statement, scopes
from tests.verify.trace import Element, Touch, Trace

Iteration = dict[str, int]
Back = Callable[[str, Iteration], Iteration]
Moved = tuple[Program, Back]
Data = Mapping[str, Mapping[tuple[int, ...], int]]


def _same(statement: str, at: Iteration) -> Iteration:
    return at


def interchanged(program: Program, outer: str) -> Moved:
    def node(n: Node) -> Node:
        if isinstance(n, Statement):
            return n
        if n.name != outer:
            return replace(n, body=tuple(map(node, n.body)))
        (inner,) = n.body
        assert isinstance(inner, Scope)
        return replace(inner, body=(replace(n, body=inner.body),))

    return replace(program, body=tuple(map(node, program.body))), _same


def fissioned(program: Program, scope: str, cut: int) -> Moved:
    def nodes(body: tuple[Node, ...]) -> Iterator[Node]:
        for n in body:
            if isinstance(n, Statement):
                yield n
            elif n.name == scope:
                yield replace(n, body=n.body[:cut])
                yield _renamed(replace(n, body=n.body[cut:]), {scope: Iter("behind")}, "behind")
            else:
                yield replace(n, body=tuple(nodes(n.body)))

    def back(statement: str, at: Iteration) -> Iteration:
        return {scope if name == "behind" else name: i for name, i in at.items()}

    return replace(program, body=tuple(nodes(program.body))), back


def joined(program: Program, first: str, second: str, shift: int) -> Moved:
    extents = {s.name: const_int(s.extent) for s in scopes(program)}
    start = min(0, shift)
    stop = max(extents[first], extents[second] + shift)
    offsets = {first: start, second: start - shift}
    inside: dict[str, str] = {}

    def nodes(body: tuple[Node, ...]) -> tuple[Node, ...]:
        names = [n.name if isinstance(n, Scope) else "" for n in body]
        if first not in names:
            return tuple(n if isinstance(n, Statement) else replace(n, body=nodes(n.body)) for n in body)
        at = names.index(first)
        one, two = body[at], body[at + 1]
        assert isinstance(one, Scope)
        assert isinstance(two, Scope)
        assert two.name == second
        both = (*part(one), *part(two))
        return (*body[:at], Scope("joint", _number(stop - start), both), *body[at + 2 :])

    def part(scope: Scope) -> tuple[Node, ...]:
        value: Expr = Op("add", (Iter("joint"), _number(offsets[scope.name])))
        guard = Op(
            "and",
            (Op("ge", (value, _number(0))), Op("lt", (value, _number(extents[scope.name])))),
        )
        for s in _statements(scope.body):
            inside[s.name] = scope.name
        moved = _renamed(scope, {scope.name: value}, scope.name)
        return _guarded(moved.body, guard)

    def back(statement: str, at: Iteration) -> Iteration:
        scope = inside.get(statement, "")
        return {
            scope if name == "joint" else name: i + offsets[scope] if name == "joint" else i
            for name, i in at.items()
        }

    return replace(program, body=nodes(program.body)), back


def swapped(program: Program, first: Node, second: Node) -> Moved:
    def nodes(body: tuple[Node, ...]) -> tuple[Node, ...]:
        for at, n in enumerate(body):
            if n is first:
                assert body[at + 1] is second
                return (*body[:at], second, first, *body[at + 2 :])
        return tuple(n if isinstance(n, Statement) else replace(n, body=nodes(n.body)) for n in body)

    return replace(program, body=nodes(program.body)), _same


def _number(value: int) -> Literal:
    return Literal(value, I64)


def _statements(body: tuple[Node, ...]) -> Iterator[Statement]:
    for n in body:
        if isinstance(n, Statement):
            yield n
        else:
            yield from _statements(n.body)


def _renamed(scope: Scope, values: dict[str, Expr], name: str) -> Scope:
    def node(n: Node) -> Node:
        if isinstance(n, Statement):
            return map_statement(lambda e: values.get(e.scope, e) if isinstance(e, Iter) else e, n)
        return replace(n, body=tuple(map(node, n.body)))

    return replace(scope, name=name, body=tuple(map(node, scope.body)))


def _guarded(body: tuple[Node, ...], guard: Expr) -> tuple[Node, ...]:
    return tuple(
        replace(n, guard=guard if n.guard is None else Op("and", (guard, n.guard)))
        if isinstance(n, Statement)
        else replace(n, body=_guarded(n.body, guard))
        for n in body
    )


# ---------------------------------------------------------------- order


@dataclass(frozen=True)
class Touched:
    """One access in a run: the number-th of a statement in an iteration."""

    statement: str
    at: tuple[tuple[str, int], ...]
    number: int
    stored: Element
    how: str


class _Plain(Trace):
    """A run in which nothing starts by itself: moved text must not make a reduction start anew."""

    def accesses(self) -> list[Touch]:
        self.buffers = {b.name: b for b in self.program.buffers}
        self.starts = []
        self._body(self.program.body)
        return self.touches


def touched(program: Program, data: Data, back: Back = _same) -> list[Touched]:
    """Every access of a run, in order."""
    numbers: dict[object, int] = {}
    known: dict[object, tuple[tuple[str, int], ...]] = {}
    found = []
    for t in _Plain(program, data).accesses():
        when = t.statement, t.iteration
        number = numbers[when] = numbers.get(when, -1) + 1
        if not number:
            known[when] = tuple(sorted(back(t.statement, dict(t.iteration)).items()))
        found.append(Touched(t.statement, known[when], number, t.stored, t.how))
    return found


@dataclass
class Run:
    """The accesses of a run, by element those pairs (numbers in `touched`) of which one writes."""

    data: Data
    touched: list[Touched]
    commute: Callable[[str], bool]
    pairs: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        by_element: dict[Element, list[int]] = defaultdict(list)
        for n, t in enumerate(self.touched):
            by_element[t.stored].append(n)
        for (buffer, _), group in by_element.items():
            free = self.commute(buffer)
            hows = [self.touched[n].how for n in group]
            for j, y in enumerate(group):
                for i, x in enumerate(group[:j]):
                    alike = hows[i] == hows[j]
                    if not (alike and (hows[i] == "read" or (free and hows[i] != "write"))):
                        self.pairs.append((x, y))

    def reversed(self, after: list[Touched]) -> list[tuple[Touched, Touched]] | None:
        """The pairs that are in another order in `after`; None when other elements are touched there.

        `commute` tells whether reductions into a buffer may change their order.
        """
        place = {t: n for n, t in enumerate(after)}
        at = [place.get(t, -1) for t in self.touched]
        if -1 in at or len(after) != len(at):
            return None
        return [(self.touched[x], self.touched[y]) for x, y in self.pairs if at[x] > at[y]]
