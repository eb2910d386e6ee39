"""Scalar replacement: elements that a loop works on again and again stay in registers for its duration.

    for k { c[i] = c[i] + a[k] }   ->   var r = c[i];  for k { r = r + a[k] };  c[i] = r

It is done at the outermost loop that allows it. Conditions, for each buffer that the loop writes: (1) no
offset depends on the loop or on anything defined in it; (2) two accesses are of the same elements or of none
in common; (3) each element is accessed in every run or lies inside the buffer in any case; (4) with threads,
it is written in every run, so that nothing is written back that another thread owns; on a GPU its first
access happens in every run, so that nothing is loaded that nobody has written; (5) its value crosses
iterations.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import For, If, Let, Load, Set, Stmt, Store, Value, Var
from perfdojo.compiler.lowering.walk import BLOCKS, Access, Body, Facts, Key, key_of, with_values

MAX_REGISTERS = 256
"""Elements or vectors that one loop may keep; more would only move through the stack."""


def promoted(body: Body, context: Context, facts: Facts, own: frozenset[str] = frozenset()) -> Body:
    """Return the body with scalar replacement done in all its loops.

    Args:
        own: buffers of which each thread has its own copy.
    """
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For):
            before, loop, after = _loop(s, context, facts, own)
            out += [*before, replace(loop, body=promoted(loop.body, context, facts, own)), *after]
        elif isinstance(s, If):
            out.append(replace(s, body=promoted(s.body, context, facts, own)))
        else:
            out.append(s)
    return tuple(out)


def _loop(s: For, context: Context, facts: Facts, own: frozenset[str]) -> tuple[list[Stmt], For, list[Stmt]]:
    effects = facts.effects(s)
    if effects.parallel or not effects.written:
        return [], s, []
    groups: dict[str, list[Access]] = {}
    for a in facts.accesses(s.body):
        if a.buffer in effects.written:
            groups.setdefault(a.buffer, []).append(a)
    before: list[Stmt] = []
    after: list[Stmt] = []
    registers: dict[Key, Var] = {}
    for buffer, accesses in groups.items():
        if not all(_invariant(a, effects.defined, effects.written, context) for a in accesses):
            continue
        kept = _kept(accesses, context, context.concurrent and buffer not in own)
        if len(kept) + len(registers) > MAX_REGISTERS:
            continue
        for first, written in kept:
            dtype = context.buffers[buffer].dtype
            type = context.arena.type(dtype, first.lanes)
            var = context.arena.var(context.fresh(buffer), type)
            registers[first.key] = var
            load = context.arena.load(buffer, first.offset, type, first.mask)
            before.append(Let(var, load, mutable=True))
            if written:
                after.append(Store(buffer, first.offset, var, first.mask))
    if not registers:
        return [], s, []
    return before, replace(s, body=_replaced(s.body, registers, context)), after


def _invariant(a: Access, defined: frozenset[str], written: frozenset[str], context: Context) -> bool:
    """Condition 1."""
    arena = context.arena
    parts = (a.offset,) if a.mask is None else (a.offset, a.mask)
    return not a.gather and all(
        arena.variables(p).isdisjoint(defined) and arena.buffers(p).isdisjoint(written) for p in parts
    )


def _kept(accesses: list[Access], context: Context, shared: bool) -> list[tuple[Access, bool]]:
    """Return the elements to keep, conditions 2 to 5: the first access of each, and whether it is written."""
    first: dict[Key, Access] = {}
    certain: dict[Key, bool] = {}
    written: dict[Key, bool] = {}
    certainly_written: dict[Key, bool] = {}
    for a in accesses:
        first.setdefault(a.key, a)
        certain[a.key] = certain.get(a.key, False) or a.certain
        written[a.key] = written.get(a.key, False) or a.store
        certainly_written[a.key] = certainly_written.get(a.key, False) or (a.store and a.certain)
    if not _disjoint(list(first.values()), context):
        return []
    kept = []
    for key, a in first.items():
        if a.store and a.certain:
            continue
        if not certain[key] and not _inside(a, context):
            continue
        if shared and written[key] and not certainly_written[key]:
            continue
        if shared and context.on_gpu and not a.certain:
            continue
        kept.append((a, written[key]))
    return kept


def _disjoint(accesses: list[Access], context: Context) -> bool:
    """Condition 2 for accesses with different keys: their offsets differ by constants, wide enough."""
    if len(accesses) == 1:
        return True
    forms = [context.arena.linear(a.offset) for a in accesses]
    if any(f.terms != forms[0].terms for f in forms):
        return False
    span = context.arena.span
    spans = sorted((f.const, span(a.lanes, a.mask)) for f, a in zip(forms, accesses, strict=True))
    return all(low + width <= high for (low, width), (high, _) in pairwise(spans))


def _inside(a: Access, context: Context) -> bool:
    low, high = context.arena.range(context.arena.linear(a.offset))
    # a load in the index might itself be of an element that there is not
    known = a.mask is None and not context.arena.buffers(a.offset)
    return known and low >= 0 and high + a.lanes <= context.layouts[a.buffer].elems


def _replaced(body: Body, registers: dict[Key, Var], context: Context) -> Body:
    done: dict[int, Value] = {}

    def change(v: Value) -> Value | None:
        if isinstance(v, Load) and v.lane_offset is None:
            return registers.get(key_of(v))
        return None

    def rebuilt(v: Value) -> Value:
        return context.arena.rebuild(v, change, done)

    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Store):
            var = registers.get(key_of(s))
            out.append(with_values(s, rebuilt) if var is None else Set(var, rebuilt(s.value)))
            continue
        t = with_values(s, rebuilt)
        out.append(replace(t, body=_replaced(t.body, registers, context)) if isinstance(t, BLOCKS) else t)
    return tuple(out)
