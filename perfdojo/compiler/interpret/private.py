"""Temporaries that every iteration of a scope fills before it reads them get a copy for each iteration.

Iterations that share a `tmp` only as scratch space can then run side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.interpret.independent import Access, independent
from perfdojo.compiler.interpret.indices import interval
from perfdojo.compiler.interpret.tree import Loop, Node, Step, reads
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Program
from perfdojo.compiler.walk import const_int, iterators, map_expr

LARGEST = 1 << 22
"""Elements that a temporary may have with its copies."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One access with the scopes between it and the scope in question; `fills` for an unguarded `=`."""

    access: Access
    within: tuple[str, ...]
    fills: bool


def with_copies(
    program: Program, body: tuple[Node, ...], extents: Mapping[str, int]
) -> tuple[Program, tuple[Node, ...]]:
    """Return the program and its plan with a dimension more in each temporary that can have copies."""
    total: dict[str, int] = {}
    for place in _places(body, ()):
        total[place.access.buffer] = total.get(place.access.buffer, 0) + 1
    done: list[Node] = []
    for node in body:
        program, changed = _expand(program, node, frozenset(), extents, total)
        done.append(changed)
    return program, tuple(done)


def _expand(
    program: Program, node: Node, outer: frozenset[str], extents: Mapping[str, int], total: dict[str, int]
) -> tuple[Program, Node]:
    if isinstance(node, Step):
        return program, node
    if node.extent > 1:
        for name in _wanting(program, node, outer, extents, total):
            program, node = _copied(program, node, name)
    body: list[Node] = []
    for inner in node.body:
        program, changed = _expand(program, inner, outer | {node.scope}, extents, total)
        body.append(changed)
    return program, replace(node, body=tuple(body))


def _wanting(
    program: Program, loop: Loop, outer: frozenset[str], extents: Mapping[str, int], total: dict[str, int]
) -> list[str]:
    """Return the temporaries that, copied, leave nothing else that keeps the iterations in order."""
    touched: dict[str, list[_Place]] = {}
    for place in _places(loop.body, ()):
        touched.setdefault(place.access.buffer, []).append(place)
    found = []
    for name, places in touched.items():
        accesses = [p.access for p in places]
        buffer = program.buffer(name)
        if len(places) == 1 or not any(a.write for a in accesses):
            continue
        if independent(loop.scope, accesses, outer, buffer, extents):
            continue
        kept = (const_int(n) for d, n in enumerate(buffer.shape) if d not in buffer.reuse)
        elements = prod(kept) * loop.extent
        if buffer.role != "tmp" or len(places) != total[name] or elements > LARGEST:
            return []
        if not _filled_first(places, outer | {loop.scope}, buffer, extents):
            return []
        found.append(name)
    return found


def _filled_first(
    places: list[_Place], outer: frozenset[str], buffer: Buffer, extents: Mapping[str, int]
) -> bool:
    """Tell whether the first access of an iteration writes all elements that its other accesses name."""
    first = places[0]
    if not first.fills:
        return False
    dimensions = [d for d in range(len(buffer.shape)) if d not in buffer.reuse]
    for place in places[1:]:
        shared = outer | set(_common(first.within, place.within))
        free: list[str] = []
        for d in dimensions:
            written, named = first.access.indices[d], place.access.indices[d]
            if written == named and iterators(written) <= shared:
                continue
            if not isinstance(written, Iter) or written.scope in shared:
                return False
            bounds = interval(named, extents)
            if bounds[0] < 0 or bounds[1] >= extents[written.scope]:
                return False
            free.append(written.scope)
        if len(set(free)) < len(free):
            return False
    return True


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> Iterator[str]:
    for a, b in zip(first, second, strict=False):
        if a != b:
            return
        yield a


def _places(body: tuple[Node, ...], within: tuple[str, ...]) -> Iterator[_Place]:
    """Yield the accesses in the order in which one iteration makes them."""
    for node in body:
        if isinstance(node, Loop):
            yield from _places(node.body, (*within, node.scope))
            continue
        for load in reads(node):
            yield _Place(Access(load.buffer, load.indices, False), within, False)
        target = Access(node.target.buffer, node.target.indices, True)
        yield _Place(target, within, node.op == "=" and node.guard is None)


def _copied(program: Program, loop: Loop, name: str) -> tuple[Program, Loop]:
    """Add a dimension to `name`, indexed by the iteration of `loop`."""

    def index(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer == name:
            return replace(expr, indices=(*expr.indices, Iter(loop.scope)))
        return expr

    def step(node: Node) -> Node:
        if isinstance(node, Loop):
            return replace(node, body=tuple(step(n) for n in node.body))
        target = map_expr(index, node.target)
        assert isinstance(target, Load)
        guard = None if node.guard is None else map_expr(index, node.guard)
        return replace(node, target=target, value=map_expr(index, node.value), guard=guard)

    extent = Literal(loop.extent, I64)
    buffers = tuple(replace(b, shape=(*b.shape, extent)) if b.name == name else b for b in program.buffers)
    changed = step(loop)
    assert isinstance(changed, Loop)
    return replace(program, buffers=buffers), changed
