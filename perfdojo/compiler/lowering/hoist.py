"""Invariant work leaves its loop: loads and operations that give the same value in every iteration.

    for j { y[j] = x[j] * a[i] }   ->   let t = a[i];  for j { y[j] = x[j] * t }

Index arithmetic stays, compilers move it better. What is evaluated only under a condition stays too, but for
loads that lie inside their buffer in any case; on a GPU, inside an input.
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.arena import INDEX_OPS
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.lir import Call, Const, For, If, Let, Load, Stmt, Value, Var, children
from perfdojo.compiler.lowering.literals import rounded
from perfdojo.compiler.lowering.walk import Body, Effects, Facts, changed, lazy_from, values


def hoisted(body: Body, context: Context, facts: Facts) -> Body:
    """Return the body with invariant work in front of each loop, outermost first."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For):
            lets, loop = _loop(s, context, facts)
            out += [*lets, replace(loop, body=hoisted(loop.body, context, facts))]
        elif isinstance(s, If):
            out.append(replace(s, body=hoisted(s.body, context, facts)))
        else:
            out.append(s)
    return tuple(out)


def worth(value: Value) -> bool:
    """Tell whether a value is worth a variable: no constant, variable, index arithmetic or part of a load."""
    if isinstance(value, Call):
        return value.op not in INDEX_OPS and not value.op.startswith("cycle:")
    return not isinstance(value, (Const, Var))


def base_name(value: Value) -> str:
    """Return what a variable for this value is called after: the buffer that it loads or spreads."""
    while isinstance(value, Call) and value.op in ("splat", "cast"):
        value = value.args[0]
    return value.buffer if isinstance(value, Load) else "t"


def _loop(s: For, context: Context, facts: Facts) -> tuple[list[Stmt], For]:
    if context.allows("fast"):
        s = replace(s, body=_multiplied(s, context, facts))
    finder = _Finder(facts.effects(s), context)
    finder.body(s.body, True)
    if not finder.found:
        return [], s
    lets: list[Stmt] = []
    variables: dict[int, Value] = {}
    for value in finder.found.values():
        var = context.arena.var(context.fresh(base_name(value)), value.type)
        lets.append(Let(var, value))
        context.arena.meaning[var.name] = value
        variables[id(value)] = var
    done: dict[int, Value] = {}

    def change(v: Value) -> Value:
        return context.arena.rebuild(v, lambda w: variables.get(id(w)), done)

    return lets, replace(s, body=changed(s.body, change))


def _multiplied(s: For, context: Context, facts: Facts) -> Body:
    """Return the body of a loop with divisions by what does not change in it as multiplications."""
    effects, arena = facts.effects(s), context.arena
    done: dict[int, Value] = {}

    def steady(v: Value) -> bool:
        return arena.variables(v).isdisjoint(effects.defined) and arena.buffers(v).isdisjoint(effects.written)

    def change(v: Value) -> Value | None:
        if not isinstance(v, Call) or v.op != "div" or v.type.dtype.bits < 32:
            return None
        over, by = v.args
        if steady(over) or not steady(by):
            return None
        return arena.call("mul", (arena.rebuild(over, change, done), _reciprocal(by)), v.type)

    def _reciprocal(by: Value) -> Value:
        if isinstance(by, Call) and by.op == "splat":
            return arena.call("splat", (_reciprocal(by.args[0]),), by.type)
        if isinstance(by, Const) and by.value:
            return arena.const(rounded(1.0 / by.value, by.type.dtype), by.type)
        return arena.call("div", (arena.const(1.0, by.type), by), by.type)

    return changed(s.body, lambda v: arena.rebuild(v, change, done))


class _Finder:
    """Finds the largest invariant values of a loop, in order."""

    def __init__(self, effects: Effects, context: Context) -> None:
        self.effects, self.context = effects, context
        self.found: dict[int, Value] = {}
        self._seen: set[tuple[int, bool]] = set()

    def body(self, body: Body, certain: bool) -> None:
        for s in body:
            for v in values(s):
                self.value(v, certain)
            if isinstance(s, For):
                self.body(s.body, certain)
            elif isinstance(s, If):
                self.body(s.body, False)

    def value(self, v: Value, certain: bool) -> None:
        if (id(v), certain) in self._seen or id(v) in self.found or self.context.arena.plain(v):
            return
        self._seen.add((id(v), certain))
        if worth(v) and self._invariant(v) and (certain or self._safe(v)):
            self.found[id(v)] = v
            return
        lazy = lazy_from(v)
        for number, child in enumerate(children(v)):
            self.value(child, certain and number < lazy)

    def _invariant(self, v: Value) -> bool:
        arena = self.context.arena
        return arena.variables(v).isdisjoint(self.effects.defined) and arena.buffers(v).isdisjoint(
            self.effects.written
        )

    def _safe(self, v: Value) -> bool:
        """Tell whether a load may happen although nothing asks for it, with those in its index."""
        if not isinstance(v, Load) or v.mask is not None or v.lane_offset is not None:
            return False
        if self.context.on_gpu and self.context.buffers[v.buffer].role != "in":
            return False  # another thread may be about to write it, or nothing has written it yet
        if not all(map(self._safe, self._loads(v.offset))):
            return False
        low, high = self.context.arena.range(self.context.arena.linear(v.offset))
        return low >= 0 and high + v.type.lanes <= self.context.layouts[v.buffer].elems

    def _loads(self, v: Value) -> list[Load]:
        """Return the loads of a value, those in the indices of others aside."""
        if isinstance(v, Load):
            return [v]
        return [load for c in children(v) for load in self._loads(c)]
