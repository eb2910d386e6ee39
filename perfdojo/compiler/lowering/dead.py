"""What nobody reads goes: variables, temporaries, stores that are overwritten before any load."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Comment, Copy, Set, Stmt, Store, Stream, Value
from perfdojo.compiler.lowering.walk import (
    ASSIGNMENTS,
    BLOCKS,
    Body,
    Effects,
    Facts,
    Key,
    key_of,
    place_of,
    values,
)


def alive(body: Body, context: Context, needed: frozenset[str] = frozenset()) -> Body:
    """Return the body without dead variables, dead temporaries and overwritten stores.

    `needed`: temporaries that are read elsewhere, where the body is only a part of the function.
    """
    body = _without_overwritten(body, Facts(context.arena))
    temporaries = {b.name for b in context.buffers.values() if b.role == "tmp"} - needed
    while True:
        variables, buffers = _read(body, context)
        kept = _kept(body, variables, temporaries - buffers)
        if kept is body:
            return body
        body = kept


def _read(body: Body, context: Context) -> tuple[set[str], set[str]]:
    """Return the variables and the buffers that a body reads."""
    variables: set[str] = set()
    buffers: set[str] = set()
    stack = list(body)
    while stack:
        s = stack.pop()
        for v in values(s):
            buffers |= context.arena.buffers(v)
            # a register that is only read to be set again is dead
            own = {s.var.name} if isinstance(s, Set) else set()
            variables |= context.arena.variables(v) - own
        if isinstance(s, Stream):
            buffers |= s.read
        if isinstance(s, Copy):
            buffers.add(s.source)
        if isinstance(s, BLOCKS):
            stack.extend(s.body)
    return variables, buffers


def _kept(body: Body, variables: set[str], unread: set[str]) -> Body:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, ASSIGNMENTS) and s.var.name not in variables:
            continue
        if isinstance(s, Store) and s.buffer in unread:
            continue
        if isinstance(s, BLOCKS):
            inner = _kept(s.body, variables, unread)
            if all(isinstance(t, Comment) for t in inner):
                out += inner
                continue
            s = s if inner is s.body else replace(s, body=inner)
        out.append(s)
    same = len(out) == len(body) and all(a is b for a, b in zip(out, body, strict=True))
    return body if same else tuple(out)


def _without_overwritten(body: Body, facts: Facts) -> Body:
    out: list[Stmt] = []
    covered: dict[Key, Store] = {}
    for s in reversed(body):
        if isinstance(s, Comment):
            out.append(s)
            continue
        if isinstance(s, Store):
            if key_of(s) in covered:
                continue
            covered[key_of(s)] = s
        # what a store itself loads is loaded before it covers anything
        covered = _still_covered(covered, facts.effects(s), facts.arena)
        if isinstance(s, BLOCKS):
            s = replace(s, body=_without_overwritten(s.body, facts))
        out.append(s)
    return tuple(reversed(out))


def _still_covered(covered: dict[Key, Store], effects: Effects, arena: Arena) -> dict[Key, Store]:
    """Return the stores of which no element is read, and whose elements are the same before a statement."""

    def steady(v: Value) -> bool:
        return arena.variables(v).isdisjoint(effects.defined) and arena.buffers(v).isdisjoint(effects.written)

    return {
        key: s for key, s in covered.items() if s.buffer not in effects.read and all(map(steady, place_of(s)))
    }
