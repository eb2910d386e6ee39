"""What a program does, element by element: runs a small program and notes every fault of an access.

Shares no code with the analyses: iterations are enumerated, starts of reductions follow docs/language.md
literally. Only integers and bools are computed; the value of a float is never looked at.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from perfdojo.compiler.dtypes import BOOL, DType
from perfdojo.compiler.ir import (
    CONCURRENT_MARKS,
    Buffer,
    Cast,
    Expr,
    Iter,
    Literal,
    Load,
    Node,
    Op,
    Program,
    Scope,
    Statement,
)
from perfdojo.compiler.walk import const_int, dtype_of, iterators, loads, scopes, statements

Element = tuple[str, tuple[int, ...]]
Value = int | None


@dataclass(frozen=True)
class Fault:
    """One thing that went wrong, where: the iteration is that of the scopes around the access."""

    kind: str
    what: str
    iteration: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Touch:
    """One access to storage: read, write, or the sign of a reduction (which is both)."""

    iteration: tuple[tuple[str, int], ...]
    stored: Element
    how: str
    statement: str


@dataclass
class Trace:
    """One run; `data` gives the elements of integer and bool arguments."""

    program: Program
    data: Mapping[str, Mapping[tuple[int, ...], int]]
    faults: list[Fault] = field(default_factory=list)
    at: dict[str, int] = field(default_factory=dict)
    values: dict[Element, Value] = field(default_factory=dict)
    written: set[Element] = field(default_factory=set)
    ever_written: set[Element] = field(default_factory=set)
    started: dict[Element, tuple[int, ...]] = field(default_factory=dict)
    touches: list[Touch] = field(default_factory=list)
    statement: str = ""

    def buffer(self, name: str) -> Buffer:
        return self.buffers[name]

    def run(self) -> list[Fault]:
        self.buffers = {b.name: b for b in self.program.buffers}
        self.around = {s.name: around for around, s in statements(self.program)}
        self.starts = self._implicit_starts()
        self._body(self.program.body)
        for b in self.program.buffers:
            if b.role == "out":
                for at in itertools.product(*(range(const_int(e)) for e in b.shape)):
                    if (b.name, at) not in self.ever_written:
                        self.faults.append(Fault("never written", f"{b.name}[{','.join(map(str, at))}]"))
                        break
        self._races()
        return self.faults

    # ------------------------------------------------------------ running

    def _body(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            if isinstance(node, Statement):
                for statement, scope in self.starts:
                    if scope is None and statement is node:
                        self._start(statement, len(self.around[statement.name]))
                self._statement(node)
                continue
            for statement, scope in self.starts:
                if scope is node:
                    self._start(statement, self.around[statement.name].index(node))
            for i in range(const_int(node.extent)):
                self.at[node.name] = i
                self._body(node.body)
            del self.at[node.name]

    def _statement(self, s: Statement) -> None:
        self.statement = s.name
        if s.guard is not None and self._value(s.guard) == 0:
            return
        element = self._locate(s.target)
        value = self._value(s.value)
        if s.op != "=":
            old = None if element is None else self._read(s.target, element, s.op)
            value = None if old is None or value is None else _reduce(s.op, old, value)
        if element is not None:
            self._write(s.target.buffer, element, value, s.op)

    def _write(self, buffer: str, at: tuple[int, ...], value: Value, op: str) -> None:
        stored = self._stored(buffer, at)
        dtype = self.buffer(buffer).dtype
        self.values[stored] = None if value is None else _wrap(value, dtype)
        self.written.add(stored)
        self.ever_written.add((buffer, at))
        if op == "=":
            self._touch(stored, "write")

    def _read(self, load: Load, at: tuple[int, ...], how: str = "read") -> Value:
        stored = self._stored(load.buffer, at)
        b = self.buffer(load.buffer)
        if b.role in ("tmp", "out") and stored not in self.written:
            name = f"{stored[0]}[{','.join(map(str, stored[1]))}]"
            self.faults.append(Fault("unwritten", name, tuple(self.at.items())))
        self._touch(stored, how)
        if stored in self.values:
            return self.values[stored]
        return None if b.dtype.is_float else self.data.get(load.buffer, {}).get(at, 0)

    def _touch(self, stored: Element, how: str) -> None:
        self.touches.append(Touch(tuple(self.at.items()), stored, how, self.statement))

    def _stored(self, buffer: str, at: tuple[int, ...]) -> Element:
        reuse = self.buffer(buffer).reuse
        return buffer, tuple(i for d, i in enumerate(at) if d not in reuse)

    def _locate(self, load: Load, report: bool = True) -> tuple[int, ...] | None:
        at = [self._value(i) for i in load.indices]
        shape = [const_int(e) for e in self.buffer(load.buffer).shape]
        inside = True
        for d, (i, n) in enumerate(zip(at, shape, strict=True)):
            if i is None or not 0 <= i < n:
                inside = False
                if report:
                    what = f"{load.buffer} index {i} of dimension {d}"
                    self.faults.append(Fault("bounds", what, tuple(self.at.items())))
        return tuple(i for i in at if i is not None) if inside else None

    # ------------------------------------------------------------ starts of reductions

    def _implicit_starts(self) -> list[tuple[Statement, Scope | None]]:
        """Each reduction that starts implicitly, with the scope whose begin starts it (None: itself)."""
        seen: set[str] = set()
        found = []
        for around, s in statements(self.program):
            name = s.target.buffer
            if self.buffer(name).role not in ("tmp", "out") or name in seen:
                continue
            seen.add(name)
            if s.op != "=":
                used = set().union(*(iterators(i) for i in s.target.indices)) if s.target.indices else set()
                found.append((s, next((c for c in around if c.name not in used), None)))
        return found

    def _start(self, s: Statement, depth: int) -> None:
        self.statement = f"{s.name}_start"
        inner = self.around[s.name][depth:]
        event = tuple(self.at.values())
        for numbers in itertools.product(*(range(const_int(c.extent)) for c in inner)):
            self.at.update(zip((c.name for c in inner), numbers, strict=True))
            at = self._locate(s.target, report=False)
            for c in inner:
                del self.at[c.name]
            if at is None:
                continue
            element = (s.target.buffer, at)
            if self.started.setdefault(element, event) != event:
                self.faults.append(Fault("started again", f"{element[0]}[{','.join(map(str, at))}]"))
            dtype = self.buffer(element[0]).dtype
            neutral = {"+=": 0, "*=": 1, "max=": dtype.smallest, "min=": dtype.largest}[s.op]
            self._write(*element, None if dtype.is_float else int(neutral), "=")

    # ------------------------------------------------------------ races

    def _races(self) -> None:
        for scope in scopes(self.program):
            if scope.mark in CONCURRENT_MARKS or scope.mark == "vector":
                shared = self.shared(scope.name, scope.mark == "vector")
                self.faults += [
                    Fault("race", f"{scope.name} {b}") for b in sorted(shared - self.private(scope.name))
                ]

    def shared(self, scope: str, vector: bool = False) -> set[str]:
        """Buffers of which two iterations of a scope touch one element, one of them writing.

        Args:
            vector: leave out elements that reductions of one sign alone touch.
        """
        seen: dict[tuple[object, Element], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for touch in self.touches:
            at = dict(touch.iteration)
            if scope in at:
                around = tuple(itertools.takewhile(lambda item: item[0] != scope, touch.iteration))
                seen[around, touch.stored][at[scope]].add(touch.how)
        found = set()
        for (_, stored), by_iteration in seen.items():
            hows = set().union(*by_iteration.values())
            is_reduction = vector and len(hows) == 1 and "write" not in hows
            if len(by_iteration) > 1 and hows != {"read"} and not is_reduction:
                found.add(stored[0])
        return found

    def private(self, scope: str) -> set[str]:
        """The tmp that each iteration of a scope writes before it reads, and that no other text accesses."""
        found = {name for name, b in self.buffers.items() if b.role == "tmp"}
        for around, s in statements(self.program):
            if all(c.name != scope for c in around):
                parts = (s.target, s.value, *(() if s.guard is None else (s.guard,)))
                found -= {load.buffer for part in parts for load in loads(part)}
        begun: set[tuple[object, Element]] = set()
        for touch in self.touches:
            if scope not in dict(touch.iteration):
                found.discard(touch.stored[0])
                continue
            depth = [name for name, _ in touch.iteration].index(scope)
            key = (touch.iteration[: depth + 1], touch.stored)
            if key not in begun and touch.how != "write":
                found.discard(touch.stored[0])
            begun.add(key)
        return found

    # ------------------------------------------------------------ values

    def _value(self, e: Expr) -> Value:
        """The value of an integer or bool; None for floats, whose operands are visited all the same."""
        match e:
            case Literal(value=value, dtype=dtype):
                return None if dtype.is_float else int(value)
            case Iter(scope=scope):
                return self.at[scope]
            case Load():
                at = self._locate(e)
                return None if at is None else self._read(e, at)
            case Cast(dtype=dtype, arg=arg):
                inner = self._value(arg)
                if inner is None or dtype.is_float:
                    return None
                return int(inner != 0) if dtype == BOOL else _wrap(inner, dtype)
            case Op(op="select", args=(c, a, b)):
                return self._value(a if self._value(c) else b)
            case Op(op="and", args=(a, b)):
                return self._value(b) if self._value(a) else 0
            case Op(op="or", args=(a, b)):
                return 1 if self._value(a) else self._value(b)
            case Op(op=op, args=args):
                values = [self._value(a) for a in args]
                if None in values:
                    return None
                found = _OPERATIONS[op](*values)
                return int(found) if op in _TRUTHS else _wrap(int(found), dtype_of(e, self.program))
        raise AssertionError(e)


def _wrap(value: int, dtype: DType) -> int:
    if dtype == BOOL:
        return int(value != 0)
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind == "int" and value >> (dtype.bits - 1) else value


def _reduce(op: str, old: int, value: int) -> int:
    return {"+=": old + value, "*=": old * value, "max=": max(old, value), "min=": min(old, value)}[op]


_TRUTHS = {"lt", "le", "gt", "ge", "eq", "ne", "not"}
_OPERATIONS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "not": lambda a: not a,
}


def elements(program: Program, buffer: str) -> Iterator[tuple[int, ...]]:
    """All elements of a buffer."""
    return itertools.product(*(range(const_int(e)) for e in program.buffer(buffer).shape))
