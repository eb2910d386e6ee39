"""A tree whose accesses, order and loops are decided -> `StreamNest`: registers and pointers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from perfdojo.compiler.lowering.nests.movers import Job
from perfdojo.compiler.lowering.nests.nest import (
    Argument,
    Compute,
    Constant,
    Item,
    Launch,
    Loop,
    Mover,
    StreamNest,
    Transfer,
)
from perfdojo.compiler.lowering.nests.registers import STREAMS, allocated
from perfdojo.compiler.lowering.nests.tree import Block, Fixed, Line, NestError, Nodes, Site

IMMEDIATE = 2048
"""Offsets of loads and stores lie below this, and above its negative."""
MAX_ARGUMENTS = 8
"""Pointers that are passed in registers."""
MAX_POINTERS = 6
"""Registers of the integer core for pointers that move and for counters: t1 to t6."""


def finished(nodes: Nodes, jobs: Sequence[Job], fixed: dict[str, Fixed]) -> StreamNest:
    """Return the nest.

    Raises:
        NestError: registers run out.
    """
    used = _used(nodes)
    registers = allocated(nodes, [c for c in fixed if c in used]) | STREAMS
    writer = _Writer(jobs, registers)
    body = writer.body(nodes, ())
    setup = tuple(
        Constant(registers[name], value.value, value.type) for name, value in fixed.items() if name in used
    )
    if len(writer.arguments) > MAX_ARGUMENTS:
        raise NestError(
            f"it needs {len(writer.arguments)} pointers, and {MAX_ARGUMENTS} are passed in registers"
        )
    own = sum(1 for p in writer.pointers if p.chain or p.base)
    numbers = own + len(_counts(body)) + _deepest(body)
    if numbers > MAX_POINTERS:
        raise NestError(
            f"it needs {numbers} integer registers for pointers and counters, over {MAX_POINTERS}"
        )
    return StreamNest(
        tuple(writer.arguments),
        tuple((p.argument, p.base) for p in writer.pointers),
        tuple(_mover(j) for j in jobs),
        setup,
        body,
    )


def _used(nodes: Nodes) -> set[str]:
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, Block):
            found |= _used(n.body)
        else:
            found |= {a for a in n.args if isinstance(a, str)}
    return found


def _deepest(items: tuple[Item, ...]) -> int:
    """Return the counters that are alive at the same time: of the core's loops that lie in each other."""
    return max((1 + _deepest(i.body) for i in items if isinstance(i, Loop) and not i.frep), default=0)


def _counts(items: tuple[Item, ...]) -> set[int]:
    """Return the passes of the FPU's loops; each has a register."""
    found: set[int] = set()
    for i in items:
        if isinstance(i, Loop):
            found |= _counts(i.body) | ({i.count} if i.frep and i.count > 1 else set())
    return found


def _mover(job: Job) -> Mover:
    bounds = tuple(n for n, _ in job.pattern.dims)
    strides = tuple(s for _, s in job.pattern.dims)
    return Mover(job.number, job.group[0], job.group[2], job.pattern.repeat, bounds, strides)


Around = tuple[tuple[str, int], ...]
"""Loops of the integer core around a place, outermost first, with their iterations."""


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A pointer: where it starts, and how the iterations of loops move it.

    Attributes:
        argument: number of the one that it starts from.
        base: bytes that it starts behind that.
        chain: loops around it, outermost first, to the innermost that moves it: iterations, bytes of each.
    """

    argument: int
    base: int
    chain: tuple[tuple[str, int, int], ...]

    def step(self, loops: Around) -> int:
        """Return the bytes that it moves at the end of an iteration of the innermost of these loops.

        A loop has moved it by all of its iterations when it ends; the one around takes that back.
        """
        level = len(loops) - 1
        if tuple(c[:2] for c in self.chain[: level + 1]) != loops:
            return 0
        inner = self.chain[level + 1][1] * self.chain[level + 1][2] if level + 1 < len(self.chain) else 0
        return self.chain[level][2] - inner


@dataclass(slots=True)
class _Writer:
    """Writes items; makes arguments and pointers as they are needed."""

    jobs: Sequence[Job]
    registers: dict[str, int]
    arguments: list[Argument] = field(default_factory=list)
    pointers: list[_Pointer] = field(default_factory=list)

    def body(self, nodes: Nodes, around: Around) -> tuple[Item, ...]:
        """Return the items of the body of the innermost of the loops `around`."""
        out: list[Item] = []
        for job in self.jobs:
            if job.path == tuple(name for name, _ in around):
                buffer, terms, _ = job.group
                pointer, offset = self._pointer(buffer, terms, job.pattern.start, job.steps, around, True)
                out.append(Launch(job.number, pointer, offset))
        out += self._items(nodes, around)
        return tuple(out)

    def _items(self, nodes: Nodes, around: Around) -> list[Item]:
        out: list[Item] = []
        for n in nodes:
            if isinstance(n, Line):
                out.append(self._line(n, around))
                continue
            names = tuple(name for name, _ in n.loops)
            if n.frep:
                out.append(Loop(names, n.count, True, tuple(self._items(n.body, around))))
                continue
            inside = (*around, *n.loops)
            body = self.body(n.body, inside)
            moved = ((k, p.step(inside)) for k, p in enumerate(self.pointers))
            out.append(Loop(names, n.count, False, body, tuple(m for m in moved if m[1])))
        return out

    def _line(self, n: Line, around: Around) -> Item:
        if n.op == "load":
            (site,) = n.reads
            return self._transfer(site, False, n.dest, around)
        if isinstance(n.dest, Site):
            return self._transfer(n.dest, True, n.args[0], around)
        args = tuple(self.registers[a] for a in n.args if isinstance(a, str))
        assert len(args) == len(n.args)
        return Compute(n.op, n.type, self.registers[n.dest], args)

    def _transfer(self, site: Site, store: bool, register: object, around: Around) -> Transfer:
        assert isinstance(register, str)
        pointer, offset = self._pointer(site.buffer, site.terms, site.const, site.steps, around, False)
        return Transfer(store, self.registers[register], pointer, offset, site.bytes)

    def _pointer(
        self,
        buffer: str,
        terms: tuple[tuple[str, int], ...],
        const: int,
        steps: tuple[tuple[str, int], ...],
        around: Around,
        exact: bool,
    ) -> tuple[int, int]:
        """Return a pointer and an offset from it; `exact`: a pointer that moves needs none."""
        argument = Argument(buffer, terms)
        if argument not in self.arguments:
            self.arguments.append(argument)
        known = dict(steps)
        chain = [(name, count, known.get(name, 0)) for name, count in around]
        while chain and not chain[-1][2]:
            chain.pop()
        base = 0
        if exact and chain:
            base = const
        elif not -IMMEDIATE <= const < IMMEDIATE and not exact:
            base = const // IMMEDIATE * IMMEDIATE
        pointer = _Pointer(self.arguments.index(argument), base, tuple(chain))
        if pointer not in self.pointers:
            self.pointers.append(pointer)
        return self.pointers.index(pointer), const - base
