"""Walking the target IR: the values of a statement, what a body defines, reads and writes, its accesses in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.lowering.arena import Arena, children
from perfdojo.compiler.lowering.lir import Call, For, If, Let, Load, Set, Stmt, Store, Value, Var

Body = tuple[Stmt, ...]
LAZY: dict[str, int] = {"select": 1, "and": 1, "or": 1}
"""Operations whose operands from this one on are evaluated only when the first, of one lane, says so."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Variables that a body defines or sets, buffers that it reads, buffers that it writes; threads in it."""

    defined: frozenset[str]
    read: frozenset[str]
    written: frozenset[str]
    parallel: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """A load or a store of a body, in the order of execution.

    `certain`: happens in every run of the body (each loop runs at least once).
    """

    buffer: str
    offset: Value
    lanes: int
    mask: Value | None
    store: bool
    certain: bool
    gather: bool = False

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What tells whether two accesses are of the same elements; values are one object each."""
        return self.buffer, id(self.offset), self.lanes, id(self.mask)


def values(s: Stmt) -> tuple[Value, ...]:
    """Return the values that a statement evaluates, without those of its body."""
    if isinstance(s, Let | Set):
        return (s.value,)
    if isinstance(s, Store):
        found = (s.offset, s.value)
        return found if s.mask is None else (*found, s.mask)
    if isinstance(s, If):
        return (s.condition,)
    return (s.start, s.stop) if isinstance(s, For) else ()


def with_values(s: Stmt, change: Callable[[Value], Value]) -> Stmt:
    """Return the statement with its direct values changed; the body stays."""
    old = values(s)
    new = tuple(map(change, old))
    if all(a is b for a, b in zip(old, new, strict=True)):
        return s
    if isinstance(s, Let | Set):
        return replace(s, value=new[0])
    if isinstance(s, Store):
        return Store(s.buffer, new[0], new[1], new[2] if len(new) > 2 else None)
    if isinstance(s, If):
        return If(new[0], s.body)
    assert isinstance(s, For)
    return replace(s, start=new[0], stop=new[1])


def changed(body: Body, change: Callable[[Value], Value]) -> Body:
    """Return the body with all values changed, nested ones too."""
    return tuple(
        replace(t, body=changed(t.body, change)) if isinstance(t, For | If) else t
        for t in (with_values(s, change) for s in body)
    )


class Facts:
    """Answers about statements of one function, each worked out once."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        # the key object is kept beside the answer, so that its id is not used again
        self._effects: dict[int, tuple[object, Effects]] = {}
        self._loads: dict[int, tuple[tuple[Load, bool], ...]] = {}

    def effects(self, s: Stmt) -> Effects:
        """Return the effects of a statement with its body."""
        found = self._effects.get(id(s))
        if found is None:
            found = self._effects[id(s)] = s, self._effects_of(s)
        return found[1]

    def _effects_of(self, s: Stmt) -> Effects:
        read = frozenset[str]().union(*(self.arena.buffers(v) for v in values(s)))
        if isinstance(s, Store):
            return Effects(frozenset(), read, frozenset((s.buffer,)))
        if isinstance(s, Let | Set):
            return Effects(frozenset((s.var.name,)), read, frozenset())
        if isinstance(s, For | If):
            inner = [self.effects(t) for t in s.body]
            own = frozenset((s.var.name,)) if isinstance(s, For) else frozenset[str]()
            return Effects(
                own.union(*(e.defined for e in inner)),
                read.union(*(e.read for e in inner)),
                frozenset[str]().union(*(e.written for e in inner)),
                (isinstance(s, For) and s.parallel) or any(e.parallel for e in inner),
            )
        return Effects(frozenset(), read, frozenset())

    def loads(self, value: Value) -> tuple[tuple[Load, bool], ...]:
        """Return the loads of a value in order, each with whether it happens whenever the value is needed."""
        found = self._loads.get(id(value))
        if found is None:
            found = self._loads[id(value)] = tuple(self._loads_of(value))
        return found

    def _loads_of(self, value: Value) -> Iterator[tuple[Load, bool]]:
        if not self.arena.buffers(value):
            return
        lazy = lazy_from(value)
        for number, child in enumerate(children(value)):
            for load, certain in self.loads(child):
                yield load, certain and number < lazy
        if isinstance(value, Load):
            yield value, True

    def accesses(self, body: Body, certain: bool = True) -> Iterator[Access]:
        """Yield the accesses of a body in order."""
        for s in body:
            for v in values(s):
                for load, always in self.loads(v):
                    gather = load.lane_offset is not None
                    yield Access(
                        load.buffer,
                        load.offset,
                        load.type.lanes,
                        load.mask,
                        False,
                        certain and always,
                        gather,
                    )
            if isinstance(s, Store):
                yield Access(s.buffer, s.offset, s.value.type.lanes, s.mask, True, certain)
            elif isinstance(s, For):
                yield from self.accesses(s.body, certain)
            elif isinstance(s, If):
                yield from self.accesses(s.body, False)


def lazy_from(value: Value) -> int:
    """Return the number of the first operand that is not always evaluated; a large number when all are."""
    if isinstance(value, Call) and value.op in LAZY and value.args[0].type.lanes == 1:
        return LAZY[value.op]
    return 1 << 30


def names_of(body: Body) -> set[str]:
    """Return the variables that are set somewhere in a body."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, Set):
            found.add(s.var.name)
        elif isinstance(s, For | If):
            found |= names_of(s.body)
    return found


__all__ = [
    "Access",
    "Body",
    "Effects",
    "Facts",
    "Var",
    "changed",
    "lazy_from",
    "names_of",
    "values",
    "with_values",
]
