"""Dot products of signed bytes on targets that multiply unsigned ones by signed ones, so have `biased`.

    for k { s = dot:i8(s, x, y) }   ->   var m = 0;  for k { s = dot:u8(s, biased(x), y)
                                                             m = dot:u8(m, 128, y) }  s = s - m

Each x counts 128 too much, so m is what s has too much; all sums of the loop with the same y share it. Sums
in i32 wrap, so s is exact.
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.dtypes import U8
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Call, For, Let, Set, Stmt, Value, Var
from perfdojo.compiler.lowering.walk import BLOCKS, Body, Facts, names_of, values

DOT, NATIVE, BIAS = "dot:i8", "dot:u8", 128


def biased(body: Body, context: Context, facts: Facts) -> Body:
    """Return the body with the sums of its loops made of the target's own dot products."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, BLOCKS):
            s = replace(s, body=biased(s.body, context, facts))
        if isinstance(s, For) and not s.parallel:
            out += _loop(s, context, facts)
        else:
            out.append(s)
    return tuple(out)


def _loop(s: For, context: Context, facts: Facts) -> list[Stmt]:
    arena = context.arena
    sums = _sums(s, context, facts)
    if not sums:
        return [s]
    shared: dict[tuple[int, ...], Var] = {}
    over: dict[str, Var] = {}
    for var, ys in sums.values():
        key = tuple(map(id, ys))
        if key not in shared:
            shared[key] = arena.var(context.fresh("over"), var.type)
        over[var.name] = shared[key]
    body: list[Stmt] = []
    done: dict[str, int] = {}
    """Dot products so far, of each sum and of what the sums share."""
    for t in s.body:
        dot = _dot(t)
        if dot is None or not isinstance(t, Set) or t.var.name not in over:
            body.append(t)
            continue
        var, (old, x, y) = over[t.var.name], dot.args
        lanes = arena.type(U8, x.type.lanes)
        body.append(Set(t.var, arena.call(NATIVE, (old, arena.call("biased", (x,), lanes), y), dot.type)))
        done[t.var.name] = done.get(t.var.name, 0) + 1
        if done[t.var.name] > done.get(var.name, 0):
            done[var.name] = done[t.var.name]
            body.append(Set(var, arena.call(NATIVE, (var, arena.const(BIAS, lanes), y), var.type)))
    before = [Let(v, arena.const(0, v.type), True) for v in shared.values()]
    after = [Set(v, arena.call("sub", (v, over[v.name]), v.type)) for v, _ in sums.values()]
    return [*before, replace(s, body=tuple(body)), *after]


def _sums(loop: For, context: Context, facts: Facts) -> dict[str, tuple[Var, list[Value]]]:
    """Return the variables that a loop only adds dot products to, with their second factors in order.

    Those factors are the same wherever they stand in an iteration.
    """
    arena, changed, stored = context.arena, names_of(loop.body), facts.effects(loop).written
    found: dict[str, tuple[Var, list[Value]]] = {}
    others: set[str] = set()
    for s in loop.body:
        dot = _dot(s)
        able = dot is not None and context.supports("biased", U8, dot.args[1].type.lanes)
        if not (able and isinstance(s, Set) and dot is not None):
            others |= _named(s, context)
            continue
        _, x, y = dot.args
        others |= arena.variables(x) | arena.variables(y)
        if not (arena.variables(y).isdisjoint(changed) and arena.buffers(y).isdisjoint(stored)):
            others.add(s.var.name)
        found.setdefault(s.var.name, (s.var, []))[1].append(y)
    return {name: sums for name, sums in found.items() if name not in others}


def _dot(s: Stmt) -> Call | None:
    """Return the dot product of signed bytes that a statement adds to its own variable."""
    value = s.value if isinstance(s, Set) else None
    own = isinstance(s, Set) and isinstance(value, Call) and value.op == DOT and value.args[0] is s.var
    return value if own and isinstance(value, Call) else None


def _named(s: Stmt, context: Context) -> set[str]:
    """Return the variables that a statement reads or sets, those inside of it too."""
    found = {s.var.name} if isinstance(s, Let | Set | For) else set()
    for v in values(s):
        found |= context.arena.variables(v)
    if isinstance(s, BLOCKS):
        for t in s.body:
            found |= _named(t, context)
    return found
