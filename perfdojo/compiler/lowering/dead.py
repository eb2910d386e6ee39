"""What nobody reads goes: variables, temporaries, stores that are overwritten before any load."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Comment, Set, Stmt, Store
from perfdojo.compiler.lowering.walk import ASSIGNMENTS, BLOCKS, Body, Facts, Key, key_of, values


def alive(body: Body, context: Context) -> Body:
    """Return the body without dead variables, dead temporaries and overwritten stores."""
    body = _without_overwritten(body, Facts(context.arena))
    temporaries = {b.name for b in context.buffers.values() if b.role == "tmp"}
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
    covered: dict[Key, str] = {}
    for s in reversed(body):
        if isinstance(s, Comment):
            out.append(s)
            continue
        effects = facts.effects(s)
        if isinstance(s, Store):
            key = key_of(s)
            if key in covered:
                continue
            covered = _unread(covered, effects.read)
            covered[key] = s.buffer
        else:
            covered = _unread(covered, effects.read)
            if isinstance(s, BLOCKS):
                s = replace(s, body=_without_overwritten(s.body, facts))
        out.append(s)
    return tuple(reversed(out))


def _unread(covered: dict[Key, str], read: frozenset[str]) -> dict[Key, str]:
    if not covered or not read:
        return covered
    return {k: b for k, b in covered.items() if b not in read}
