"""Walking the target IR: values of a statement, what a body defines, reads and writes, accesses in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.lir import (
    INDEX,
    Call,
    Comment,
    Const,
    Copy,
    For,
    If,
    Kernel,
    Let,
    Load,
    Prefetch,
    Set,
    Share,
    Stmt,
    Store,
    Stream,
    Tensor,
    Threads,
    Value,
    children,
)

Body = tuple[Stmt, ...]
BLOCKS = (For, If, Share, Threads, Kernel)
"""Statements with a body."""

ASSIGNMENTS = (Let, Set)
"""Statements that give a variable its value."""

LAZY: dict[str, int] = {"select": 1, "and": 1, "or": 1}
"""Operations whose operands from this one on are evaluated only when the first, of one lane, says so."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Variables that a body defines or sets, buffers that it reads, buffers that it writes; threads in it."""

    defined: frozenset[str]
    read: frozenset[str]
    written: frozenset[str]
    parallel: bool = False


Key = tuple[str, int, int, int]
"""Buffer, offset, lanes and mask: equal for accesses of the same elements, as values are one object each."""


class Access(NamedTuple):
    """A load or a store of a body, in the order of execution.

    `certain`: happens in every run of the body (each loop runs at least once).
    """

    key: Key
    buffer: str
    offset: Value
    lanes: int
    mask: Value | None
    store: bool
    certain: bool
    gather: bool


def key_of(s: Load | Store) -> Key:
    """Return the key of a load without gather, or of a store."""
    lanes = s.type.lanes if isinstance(s, Load) else s.value.type.lanes
    return s.buffer, id(s.offset), lanes, id(s.mask)


def place_of(s: Load | Store) -> tuple[Value, ...]:
    """Return the values that say which elements a load without gather, or a store, is of."""
    return (s.offset,) if s.mask is None else (s.offset, s.mask)


def values(s: Stmt) -> tuple[Value, ...]:
    """Return the values that a statement evaluates, without those of its body."""
    if isinstance(s, Store):
        found = (s.offset, s.value)
        return found if s.mask is None else (*found, s.mask)
    if isinstance(s, ASSIGNMENTS):
        return (s.value,)
    if isinstance(s, If):
        return (s.condition,)
    if isinstance(s, Prefetch):
        return (s.offset,)
    if isinstance(s, Stream):
        return s.pointers
    if isinstance(s, Copy):
        return s.to_offset, s.from_offset
    if isinstance(s, Tensor):
        return s.number, *(m.offset for m in s.memory), *(number for _, number in s.factors)
    return (s.start, s.stop) if isinstance(s, For) else ()


def with_values(s: Stmt, change: Callable[[Value], Value]) -> Stmt:
    """Return the statement with its direct values changed; the body stays."""
    old = values(s)
    new = tuple(map(change, old))
    if all(a is b for a, b in zip(old, new, strict=True)):
        return s
    if isinstance(s, ASSIGNMENTS):
        return replace(s, value=new[0])
    if isinstance(s, Store):
        return Store(s.buffer, new[0], new[1], new[2] if len(new) > 2 else None, s.streamed)
    if isinstance(s, Prefetch):
        return replace(s, offset=new[0])
    if isinstance(s, If):
        return If(new[0], s.body)
    if isinstance(s, Stream):
        return replace(s, pointers=new)
    if isinstance(s, Copy):
        return replace(s, to_offset=new[0], from_offset=new[1])
    if isinstance(s, Tensor):
        moved = tuple(replace(m, offset=v) for m, v in zip(s.memory, new[1:], strict=False))
        names = (name for name, _ in s.factors)
        factors = tuple(zip(names, new[1 + len(moved) :], strict=True))
        return replace(s, number=new[0], memory=moved, factors=factors)
    assert isinstance(s, For)
    return replace(s, start=new[0], stop=new[1])


def changed(body: Body, change: Callable[[Value], Value]) -> Body:
    """Return the body with all values changed, nested ones too."""
    return tuple(
        replace(t, body=changed(t.body, change)) if isinstance(t, BLOCKS) else t
        for t in (with_values(s, change) for s in body)
    )


class Facts:
    """Answers about statements of one function, each worked out once."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        # the key object is kept beside the answer, so that its id is not used again
        self._effects: dict[int, tuple[object, Effects]] = {}
        self._accesses: dict[int, tuple[object, list[Access]]] = {}
        self._loads: dict[int, tuple[tuple[Load, bool], ...]] = {}
        self._reads: dict[int, list[Access]] = {}

    def effects(self, s: Stmt) -> Effects:
        """Return the effects of a statement with its body."""
        found = self._effects.get(id(s))
        if found is None:
            defined: set[str] = set()
            read: set[str] = set()
            written: set[str] = set()
            parallel = self._gather(s, defined, read, written)
            made = Effects(frozenset(defined), frozenset(read), frozenset(written), parallel)
            found = self._effects[id(s)] = s, made
        return found[1]

    def _gather(self, s: Stmt, defined: set[str], read: set[str], written: set[str]) -> bool:
        """Add the effects of a statement to the sets; tell whether there are threads in it."""
        for v in values(s):
            if not self.arena.plain(v):
                read |= self.arena.buffers(v)
        if isinstance(s, Store):
            written.add(s.buffer)
        elif isinstance(s, Stream | Tensor):
            read |= s.read
            written |= s.written
        elif isinstance(s, Copy):
            read.add(s.source)
            written.add(s.to)
        elif isinstance(s, ASSIGNMENTS):
            defined.add(s.var.name)
        elif isinstance(s, BLOCKS):
            return self._gather_body(s, defined, read, written)
        return False

    def _gather_body(
        self, s: For | If | Share | Threads | Kernel, defined: set[str], read: set[str], written: set[str]
    ) -> bool:
        parallel = isinstance(s, For) and s.parallel
        if isinstance(s, For):
            defined.add(s.var.name)
        for t in s.body:
            if isinstance(t, BLOCKS):
                inner = self.effects(t)
                defined |= inner.defined
                read |= inner.read
                written |= inner.written
                parallel = parallel or inner.parallel
            else:
                self._gather(t, defined, read, written)
        return parallel

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

    def accesses(self, body: Body) -> list[Access]:
        """Return the accesses of a body in order."""
        found: list[Access] = []
        for s in body:
            if isinstance(s, BLOCKS):
                found += self._nested(s)
            elif not isinstance(s, Comment):
                self._add(s, found)
        return found

    def _nested(self, s: For | If | Share | Threads | Kernel) -> list[Access]:
        known = self._accesses.get(id(s))
        if known is None:
            found: list[Access] = []
            self._add(s, found)
            inner = self.accesses(s.body)
            found += inner if isinstance(s, For) else (a._replace(certain=False) for a in inner)
            known = self._accesses[id(s)] = s, found
        return known[1]

    def _add(self, s: Stmt, found: list[Access]) -> None:
        """Add the accesses of the values of a statement, then that of a store."""
        for v in values(s):
            if not self.arena.plain(v):
                found += self._reads_of(v)
        if isinstance(s, Store):
            lanes = s.value.type.lanes
            found.append(Access(key_of(s), s.buffer, s.offset, lanes, s.mask, True, True, False))
        elif isinstance(s, Stream | Tensor):
            found += [_whole(b, s, False) for b in sorted(s.read)]
            found += [_whole(b, s, True) for b in sorted(s.written)]
        elif isinstance(s, Copy):
            found += [_whole(s.source, s, False), _whole(s.to, s, True)]

    def _reads_of(self, value: Value) -> list[Access]:
        known = self._reads.get(id(value))
        if known is None:
            known = self._reads[id(value)] = []
            for load, always in self.loads(value):
                lanes, gather = load.type.lanes, load.lane_offset is not None
                key = key_of(load)
                known.append(Access(key, load.buffer, load.offset, lanes, load.mask, False, always, gather))
        return known


def _whole(buffer: str, s: Stream | Copy | Tensor, store: bool) -> Access:
    """Return an access that stands for all those of a statement to a buffer: no register takes its place."""
    return Access((buffer, id(s), 0, 0), buffer, Const(0, INDEX), 1, None, store, False, True)


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
        elif isinstance(s, BLOCKS):
            found |= names_of(s.body)
    return found
