"""The plan of an execution: the tree of a program, and which of its scopes run as NumPy axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from perfdojo.compiler.interpret.independent import Access, independent
from perfdojo.compiler.interpret.private import with_copies
from perfdojo.compiler.interpret.tree import Loop, Node, Step, loops, reads, with_starts
from perfdojo.compiler.ir import Program


@dataclass(frozen=True, slots=True)
class Plan:
    """What the engine executes; `extents` holds every scope."""

    program: Program
    body: tuple[Node, ...]
    extents: dict[str, int] = field(default_factory=dict)


def plan(program: Program) -> Plan:
    """Return the plan of a bound program."""
    body = with_starts(program)
    extents = {loop.scope: loop.extent for loop in loops(body)}
    program, body = with_copies(program, body, extents)
    decided = tuple(_decide(node, frozenset(), program, extents) for node in body)
    return Plan(program, decided, extents)


def _decide(node: Node, outer: frozenset[str], program: Program, extents: dict[str, int]) -> Node:
    """Turn scopes into axes, inner ones first, wherever that cannot change a result.

    An axis runs each step of its body for all iterations before the next step. That is the same when,
    for every buffer written in the body, different iterations touch different elements. A buffer that
    only one step of the body touches, once, may be touched by all iterations: this step keeps their
    order (`Step.serial`), which needs all loops between to be axes too.
    """
    if isinstance(node, Step):
        return node
    body = tuple(_decide(n, outer | {node.scope}, program, extents) for n in node.body)
    node = replace(node, body=body)
    if node.extent == 1:
        return node
    touched: dict[str, list[Access]] = {}
    for access in _accesses(body, True):
        touched.setdefault(access.buffer, []).append(access)
    serial: set[str] = set()
    for name, accesses in touched.items():
        if not any(a.write for a in accesses):
            continue
        if independent(node.scope, accesses, outer, program.buffer(name), extents):
            continue
        if len(accesses) > 1 or not accesses[0].axes_only:
            return node
        serial.add(name)
    return replace(node, body=_mark(body, node.scope, serial), axis=True)


def _accesses(body: tuple[Node, ...], axes_only: bool) -> Iterator[Access]:
    for node in body:
        if isinstance(node, Loop):
            yield from _accesses(node.body, axes_only and (node.axis or node.extent == 1))
            continue
        yield Access(node.target.buffer, node.target.indices, True, axes_only)
        yield from (Access(load.buffer, load.indices, False, axes_only) for load in reads(node))


def _mark(body: tuple[Node, ...], scope: str, serial: set[str]) -> tuple[Node, ...]:
    marked: list[Node] = []
    for node in body:
        if isinstance(node, Loop):
            marked.append(replace(node, body=_mark(node.body, scope, serial)))
        elif node.target.buffer in serial:
            marked.append(replace(node, serial=node.serial | {scope}))
        else:
            marked.append(node)
    return tuple(marked)
