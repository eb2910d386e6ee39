"""Executes stream nests on NumPy memory, with read streams as early or as late as the hardware may be.

`early`: data movers read as far ahead as their queues allow and writes arrive late; else each element is read
when it is taken and written at once. A nest that means one thing has the same result either way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.interpret.exact import operation
from perfdojo.compiler.lowering.lir import VType
from perfdojo.compiler.lowering.nests.nest import (
    Compute,
    Constant,
    Item,
    Launch,
    Loop,
    Mover,
    StreamNest,
    Transfer,
)
from perfdojo.compiler.numpy_types import NUMPY

Bytes = NDArray[np.uint8]
AHEAD = 4
"""Elements that a read stream holds before they are taken."""
LATE = 12
"""Instructions after which the last word of a write stream has surely arrived."""
FMA = {"fma": (1, 1), "fms": (1, -1), "nfms": (-1, 1), "nfma": (-1, -1)}


def addresses(m: Mover, start: int) -> Iterator[int]:
    """Yield what the address generator of a mover delivers, by the hardware's own rule."""
    steps: list[int] = []
    moved = 0
    for n, s in zip(m.bounds, m.strides, strict=True):
        steps.append(s - moved)
        moved += (n - 1) * s
    place, counts = start, [0] * len(m.bounds)
    while True:
        yield place
        level = next((k for k, n in enumerate(m.bounds) if counts[k] != n - 1), None)
        if level is None:
            return
        counts[:level] = [0] * level
        counts[level] += 1
        place += steps[level]


class Machine:
    """One run of a nest on `memory`: the bytes of each argument of the nest."""

    def __init__(self, nest: StreamNest, memory: list[Bytes], early: bool) -> None:
        self.nest, self.memory, self.early = nest, memory, early
        self.registers: list[Bytes | None] = [None] * 32
        self.movers = {m.number: m for m in nest.movers}
        self.argument = dict.fromkeys(self.movers, 0)
        self.jobs: dict[int, deque[Iterator[int]]] = {n: deque() for n in self.movers}
        self.ready: dict[int, deque[Bytes]] = {n: deque() for n in self.movers}
        self.left: dict[int, int] = dict.fromkeys(self.movers, 0)
        self.late: deque[tuple[int, int, int, Bytes]] = deque()
        self.pointers = [base for _, base in nest.pointers]
        self.now = 0
        self.issued = 0

    def run(self) -> None:
        """Run the nest; every stream is to be used up."""
        for c in self.nest.setup:
            self._constant(c)
        self._items(self.nest.body)
        self._arrive(None)
        for n, m in self.movers.items():
            assert not self.ready[n], f"ft{n} has elements that nobody took"
            assert not any(True for job in self.jobs[n] for _ in job), f"ft{n} has addresses left"
            assert self.left[n] % m.repeat == 0

    def _constant(self, c: Constant) -> None:
        self.registers[c.register] = _packed(np.full(c.type.lanes, c.value, NUMPY[c.type.dtype.name]), c.type)

    def _items(self, items: tuple[Item, ...]) -> None:
        for item in items:
            match item:
                case Compute():
                    self._compute(item)
                case Transfer():
                    self._transfer(item)
                case Launch():
                    self._launch(item)
                case Loop():
                    for _ in range(item.count):
                        self._items(item.body)
                        for pointer, amount in item.steps:
                            self.pointers[pointer] += amount

    # ------------------------------------------------------------ memory

    def _launch(self, item: Launch) -> None:
        argument, _ = self.nest.pointers[item.pointer]
        m = self.movers[item.mover]
        assert self.nest.arguments[argument].buffer == m.buffer
        self.argument[item.mover] = argument
        start = self.pointers[item.pointer] + item.offset
        assert start % 8 == 0
        self.jobs[item.mover].append(addresses(m, start))
        if self.early and not m.write:
            self._ahead(item.mover)

    def _ahead(self, n: int) -> None:
        while len(self.ready[n]) < AHEAD and self.jobs[n]:
            place = next(self.jobs[n][0], None)
            if place is None:
                self.jobs[n].popleft()
            else:
                self.ready[n].append(self._word(n, place).copy())

    def _word(self, n: int, place: int) -> Bytes:
        memory = self.memory[self.argument[n]]
        assert 0 <= place <= len(memory) - 8, f"ft{n} leaves {self.movers[n].buffer} at {place}"
        return memory[place : place + 8]

    def _pop(self, n: int) -> Bytes:
        m = self.movers[n]
        assert not m.write, f"ft{n} is read and is a write stream"
        if self.left[n] % m.repeat == 0:
            if not self.early:
                self._refill(n)
            assert self.ready[n], f"ft{n} has no more elements"
        self.left[n] += 1
        head = self.ready[n][0]
        if self.left[n] % m.repeat == 0:
            self.ready[n].popleft()
            if self.early:
                self._ahead(n)
        return head

    def _refill(self, n: int) -> None:
        while self.jobs[n] and not self.ready[n]:
            place = next(self.jobs[n][0], None)
            if place is None:
                self.jobs[n].popleft()
            else:
                self.ready[n].append(self._word(n, place).copy())

    def _push(self, n: int, value: Bytes) -> None:
        assert self.movers[n].write, f"ft{n} is written and is a read stream"
        place = None
        while place is None:
            assert self.jobs[n], f"ft{n} has no more addresses"
            place = next(self.jobs[n][0], None)
            if place is None:
                self.jobs[n].popleft()
        if self.early:
            self.late.append((self.now + LATE, n, place, value))
        else:
            self._word(n, place)[:] = value

    def _arrive(self, until: int | None) -> None:
        while self.late and (until is None or self.late[0][0] <= until):
            _, n, place, value = self.late.popleft()
            self._word(n, place)[:] = value

    def _transfer(self, t: Transfer) -> None:
        self._tick()
        argument, _ = self.nest.pointers[t.pointer]
        memory = self.memory[argument]
        place = self.pointers[t.pointer] + t.offset
        assert 0 <= place <= len(memory) - t.bytes
        if t.store:
            memory[place : place + t.bytes] = self._value(t.register)[: t.bytes]
        else:
            boxed = np.full(8, 0xFF, np.uint8)
            boxed[: t.bytes] = memory[place : place + t.bytes]
            self.registers[t.register] = boxed

    # ------------------------------------------------------------ arithmetic

    def _tick(self) -> None:
        self.now += 1
        self.issued += 1
        self._arrive(self.now)

    def _value(self, register: int) -> Bytes:
        value = self.registers[register]
        assert value is not None, f"f{register} is read before it is set"
        return value

    def _compute(self, c: Compute) -> None:
        self._tick()
        popped: dict[int, Bytes] = {}
        for a in c.args:
            if a in self.movers and a not in popped:
                popped[a] = self._pop(a)
        args = [popped[a] if a in popped else self._value(a) for a in c.args]
        old = None
        if c.op.split(":")[0] in ("mac", "msub", "reduce_add"):
            assert c.dest not in self.movers
            old = _lanes(self._value(c.dest), c.type)
        made = args[0] if c.op == "copy" else _result(c, args, old)
        if c.dest in self.movers:
            self._push(c.dest, made)
        else:
            self.registers[c.dest] = made.copy()


def _lanes(value: Bytes, type: VType) -> NDArray[Any]:
    found = value.view(NUMPY[type.dtype.name])[: type.lanes]
    if type.lanes == 1 and type.dtype.bits < 64:
        assert bool((value[type.dtype.bytes :] == 0xFF).all()), "a narrow value is not boxed"
    return found.copy()


def _packed(lanes: NDArray[Any], type: VType) -> Bytes:
    value = np.full(8, 0xFF, np.uint8)
    value[: type.lanes * type.dtype.bytes] = lanes.view(np.uint8)
    return value


def _result(c: Compute, args: list[Bytes], old: NDArray[Any] | None) -> Bytes:
    def of(op: str, *operands: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(operation(op, c.type.dtype)(*operands), NUMPY[c.type.dtype.name])

    op, _, replicates = c.op.partition(":")
    if op == "pack":
        return np.concatenate([a[:4] for a in args])
    if op == "splat":
        one = args[0].view(NUMPY[c.type.dtype.name])[0]
        return _packed(np.full(c.type.lanes, one, NUMPY[c.type.dtype.name]), c.type)
    lanes = [_lanes(a, c.type) for a in args]
    if replicates:
        lanes[-1] = np.full_like(lanes[-1], lanes[-1][0])
    with np.errstate(all="ignore"):
        if op in FMA:
            product, addend = FMA[op]
            a, b, d = lanes
            return _packed(of("fma", a if product > 0 else -a, b, d if addend > 0 else -d), c.type)
        if op in ("mac", "msub"):
            assert old is not None
            a, b = lanes
            return _packed(of("fma", a if op == "mac" else -a, b, old), c.type)
        if op == "reduce_add":
            assert old is not None
            half = c.type.lanes // 2
            pairs = [
                of("add", lanes[0][k : k + 1], lanes[0][k + 1 : k + 2]) for k in range(0, c.type.lanes, 2)
            ]
            sums = np.concatenate([of("add", old[k : k + 1], p) for k, p in enumerate(pairs)])
            value = np.full(8, 0xFF, np.uint8)
            value[: half * c.type.dtype.bytes] = sums.view(np.uint8)
            return value
        return _packed(of(op, *lanes), c.type)
