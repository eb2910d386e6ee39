"""Temporaries get their memory: stack when small, heap otherwise, for each thread where private."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import (
    Allocate,
    Comment,
    Fence,
    For,
    If,
    Let,
    Load,
    Prefetch,
    Set,
    Stmt,
    Store,
    Stream,
    Value,
    children,
)
from perfdojo.compiler.walk import scopes


def placed(body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """Return the body with an `Allocate` for each temporary that is still accessed."""
    uses: dict[str, _Uses] = {}
    _collect(body, None, context.arena, uses)
    front: list[Stmt] = []
    inside: dict[int, tuple[list[Stmt], list[str]]] = {}
    free = context.target.stack_bytes
    overlapping = _overlapping(context)
    for name, layout in context.layouts.items():
        if layout.buffer.role != "tmp" or name not in uses:
            continue
        loop = uses[name].private_to(name in overlapping)
        small = layout.bytes <= min(context.target.stack_buffer_bytes, free)
        stack = small if layout.buffer.space not in ("heap", "tcdm") else False
        if layout.buffer.space == "register":
            context.notes.append(f"{name}: space(register) needs memory, {layout.bytes} bytes")
        if stack:
            free -= layout.bytes
        elif layout.buffer.space == "stack":
            context.notes.append(f"{name}: {layout.bytes} bytes are too many for the stack")
        allocate = Allocate(name, layout.buffer.dtype, layout.elems, "stack" if stack else "heap")
        if loop is None:
            front.append(allocate)
            continue
        allocations, private = inside.setdefault(id(loop), ([], []))
        if stack:
            allocations.append(allocate)
        else:
            front.append(replace(allocate, copies=context.threads))
            private.append(name)
    return (*front, *_filled(body, inside))


def _overlapping(context: Context) -> frozenset[str]:
    """Temporaries that the iterations of a parallel scope each need a copy of, though they index it."""
    if context.threads == 1:
        return frozenset()
    parallel = [s.name for s in scopes(context.program) if s.mark == "parallel"]
    return frozenset(b for name in parallel for b in private_buffers(context.program, name))


def _filled(body: tuple[Stmt, ...], inside: dict[int, tuple[list[Stmt], list[str]]]) -> Iterator[Stmt]:
    for s in body:
        if not isinstance(s, For) or not inside:
            yield s
            continue
        allocations, private = inside.get(id(s), ([], []))
        yield replace(s, body=(*allocations, *_filled(s.body, inside)), private=tuple(private))


@dataclass(slots=True)
class _Uses:
    """Parallel loops that access a buffer (None: outside of any); whether their counters are in offsets."""

    loops: list[For | None] = field(default_factory=list)
    indexed: bool = False

    def private_to(self, overlapping: bool) -> For | None:
        """Return the parallel loop whose iterations each have their own content of the buffer.

        A buffer that they index is shared, each having its own elements, unless those are `overlapping`.
        """
        first = self.loops[0]
        if (self.indexed and not overlapping) or any(loop is not first for loop in self.loops):
            return None
        return first


def _collect(body: tuple[Stmt, ...], parallel: For | None, arena: Arena, uses: dict[str, _Uses]) -> None:
    def access(buffer: str, offset: Value) -> None:
        found = uses.setdefault(buffer, _Uses())
        if parallel not in found.loops[-1:]:
            found.loops.append(parallel)
        if parallel is not None and parallel.var.name in arena.variables(offset):
            found.indexed = True

    def value(v: Value | None) -> None:
        if v is None or not arena.buffers(v):
            return
        if isinstance(v, Load):
            access(v.buffer, v.offset)
        for c in children(v):
            value(c)

    for s in body:
        match s:
            case For():
                _collect(s.body, s if s.parallel else parallel, arena, uses)
            case If():
                value(s.condition)
                _collect(s.body, parallel, arena, uses)
            case Let() | Set():
                value(s.value)
            case Store():
                access(s.buffer, s.offset)
                value(s.offset)
                value(s.value)
                value(s.mask)
            case Stream():
                for argument, offset in zip(s.nest.arguments, s.pointers, strict=True):
                    access(argument.buffer, offset)
                _collect(s.otherwise, parallel, arena, uses)
            case Allocate() | Comment() | Prefetch() | Fence():
                pass
