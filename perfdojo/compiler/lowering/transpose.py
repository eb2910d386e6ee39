"""Vectors whose lanes lie apart, but beside those of others: loaded as rows and transposed in registers.

    y[0:4] = x[0 + lanes * 9]                 let r0 = x[0:4], r1 = x[9:4], r2 = x[18:4], r3 = x[27:4]
    y[7:4] = x[1 + lanes * 9]       ->        let c0, c1, c2, c3 = transposed(r0, r1, r2, r3)
    ...                                       y[0:4] = c0;  y[7:4] = c1;  ...

It is done for loads that stand in one run of stores, as @unroll around @vector leaves them, when together
they are as many as they have lanes. They read the same elements before and after: nothing in the run writes
what they load, or what says where it lies. Two loads of every second element are taken apart in the same way:

    x[0 + lanes * 2], x[1 + lanes * 2]   ->   let r0 = x[0:4], r1 = x[4:4];  evens(r0, r1), odds(r0, r1)
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Let, Load, Stmt, Store, Value, Var
from perfdojo.compiler.lowering.walk import ASSIGNMENTS, BLOCKS, Body, Facts, values, with_values

Key = tuple[str, str, int, int, int, tuple[tuple[int, int], ...]]
"""Buffer, type, lanes, stride and first lanes of a load, and the variable part of its offset."""


def transposed(body: Body, context: Context, facts: Facts) -> Body:
    """Return the body with strided loads that complete each other made of whole vectors."""
    out: list[Stmt] = []
    run: list[Stmt] = []
    for s in body:
        if isinstance(s, BLOCKS):
            out += [*_Run(run, context, facts).code(), replace(s, body=transposed(s.body, context, facts))]
            run = []
        else:
            run.append(s)
    return (*out, *_Run(run, context, facts).code())


class _Run:
    """Statements without a loop or a condition between them."""

    def __init__(self, run: list[Stmt], context: Context, facts: Facts) -> None:
        self.run, self.context, self.arena, self.facts = run, context, context.arena, facts
        self.written = {s.buffer for s in run if isinstance(s, Store)}
        self.defined = {s.var.name for s in run if isinstance(s, ASSIGNMENTS)}
        self.used: dict[int, int] = {}
        """Place of the first use of each load, though a condition may leave it out there."""

    def code(self) -> list[Stmt]:
        """Return the statements rewritten."""
        found = self._strided()
        before: dict[int, list[Stmt]] = {}
        columns: dict[int, Value] = {}
        for key, loads in found.items():
            pairs = key[3] == 2
            for group in _pairs(loads) if pairs else _complete(loads, key[2]):
                first = min(self.used[id(load)] for load in group)
                lets, made = self._pair(key, group) if pairs else self._columns(key, group)
                before.setdefault(first, []).extend(lets)
                for load, var in zip(group, made, strict=True):
                    columns.setdefault(id(load), var)
        if not columns:
            return self.run
        done: dict[int, Value] = {}

        def change(v: Value) -> Value:
            return self.arena.rebuild(v, lambda w: columns.get(id(w)), done)

        out: list[Stmt] = []
        for place, s in enumerate(self.run):
            out += [*before.get(place, ()), with_values(s, change)]
        return out

    def _strided(self) -> dict[Key, dict[int, Load]]:
        """Return the strided loads that surely happen, by the constant part of their offset."""
        found: dict[Key, dict[int, Load]] = {}
        for place, s in enumerate(self.run):
            for v in values(s):
                for load, certain in self.facts.loads(v):
                    self.used.setdefault(id(load), place)
                    stride = self._stride(load) if certain else 0
                    if stride:
                        form, lanes = self.arena.linear(load.offset), load.type.lanes
                        first = self.arena.span(lanes, load.mask)
                        key = load.buffer, load.type.dtype.name, lanes, stride, first, form.terms
                        found.setdefault(key, {}).setdefault(form.const, load)
        return found

    def _stride(self, load: Load) -> int:
        """Elements between the lanes of a load that can become a column; 0 for other loads."""
        lanes, dtype = load.type.lanes, load.type.dtype
        where = load.lane_offset
        if not isinstance(where, Call):
            return 0
        arena = self.arena
        if not (
            arena.buffers(load).isdisjoint(self.written) and arena.variables(load).isdisjoint(self.defined)
        ):
            return 0
        if where.op != "mul" or not isinstance(where.args[1], Const):
            return 0
        if not (isinstance(where.args[0], Call) and where.args[0].op == "iota"):
            return 0
        stride = int(where.args[1].value)
        if not (load.mask is None or (stride == 2 and self._first_alone(load.mask))):
            return 0
        steps = [op for d in _distances(lanes) for op in (f"zip_low:{d}", f"zip_high:{d}")]
        steps = ["evens", "odds"] if stride == 2 else steps
        memory = "load" if load.mask is None else "masked_load"
        return stride if all(self.context.supports(op, dtype, lanes) for op in (memory, *steps)) else 0

    @staticmethod
    def _first_alone(mask: Value) -> bool:
        """Tell whether a mask is that of the first so many lanes."""
        return isinstance(mask, Call) and mask.op == "first" and isinstance(mask.args[0], Const)

    def _pair(self, key: Key, loads: list[Load]) -> tuple[list[Stmt], list[Var]]:
        """Return what defines every second element of a stretch and those between, and their variables.

        Of masked loads the same elements are loaded, and the lanes outside the mask are 0.
        """
        start, lanes, type = self.arena.linear(loads[0].offset), key[2], loads[0].type
        lets: list[Stmt] = []

        def named(value: Value) -> Var:
            var = self.arena.var(self.context.fresh(key[0]), type)
            lets.append(Let(var, value))
            return var

        def row(at: int) -> Value:
            count = 2 * key[4] - at
            if count <= 0:
                return self.arena.const(0.0 if type.dtype.is_float else 0, type)
            mask = None
            if count < lanes:
                mask_type = self.arena.type(BOOL, lanes)
                mask = self.arena.call("first", (self.arena.const(count, INDEX),), mask_type)
            return named(self.arena.load(key[0], self.arena.offset(plus(start, Linear(at))), type, mask))

        rows = row(0), row(lanes)
        return lets, [named(self.arena.call(op, rows, type)) for op in ("evens", "odds")]

    def _columns(self, key: Key, loads: list[Load]) -> tuple[list[Stmt], list[Var]]:
        """Return what defines the columns of a square of elements, and the variables that hold them."""
        first, stride, type = loads[0], key[3], loads[0].type
        lets: list[Stmt] = []

        def named(value: Value) -> Var:
            var = self.arena.var(self.context.fresh(first.buffer), type)
            lets.append(Let(var, value))
            return var

        corner = self.arena.linear(first.offset)
        rows = [
            named(self.arena.load(first.buffer, self.arena.offset(plus(corner, Linear(k * stride))), type))
            for k in range(type.lanes)
        ]
        for d in _distances(type.lanes):
            for i in range(type.lanes):
                if not i & d:
                    pair = rows[i], rows[i + d]
                    rows[i] = named(self.arena.call(f"zip_low:{d}", pair, type))
                    rows[i + d] = named(self.arena.call(f"zip_high:{d}", pair, type))
        return lets, rows


def _distances(lanes: int) -> list[int]:
    """Return lanes/2, lanes/4, ... 1: each step exchanges a bit of the row with that bit of the lane."""
    return [lanes >> k for k in range(1, lanes.bit_length())]


def _pairs(loads: dict[int, Load]) -> list[list[Load]]:
    """Return pairs of loads that begin at neighbouring elements, a load in two of them where one is left."""
    pairs: list[list[Load]] = []
    end = None
    for start in sorted(loads):
        if end is not None and start < end:
            continue
        first = next((f for f in (start, start - 1) if f in loads and f + 1 in loads), None)
        if first is not None:
            pairs.append([loads[first], loads[first + 1]])
            end = first + 2
    return pairs


def _complete(loads: dict[int, Load], lanes: int) -> list[list[Load]]:
    """Return the groups of `lanes` loads that begin at neighbouring elements, each load in one at most."""
    groups: list[list[Load]] = []
    end = None
    for start in sorted(loads):
        if (end is None or start >= end) and all(start + k in loads for k in range(lanes)):
            groups.append([loads[start + k] for k in range(lanes)])
            end = start + lanes
    return groups
