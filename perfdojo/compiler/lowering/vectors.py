"""A scope in lanes: full vectors in a loop or written out, then what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.ir import Load, Node, Scope, Statement
from perfdojo.compiler.lowering.accumulators import Accumulators
from perfdojo.compiler.lowering.context import Context, Frame, NotVectorisableError, Part
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.lanes import Sums, inner_scopes, inner_statements
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import INDEX, For, Stmt, Value
from perfdojo.compiler.lowering.shared import Shared
from perfdojo.compiler.walk import const_int, iterators, loads

MAX_WRITTEN_OUT = 8
"""Vectors of a scope that are written out one after the other instead of in a loop."""

MAX_STATEMENTS = 512
"""Copies of statements that writing out vectors may lead to."""

MAX_PARTIAL = 4
"""Partial results of one sum: an addition takes about as many cycles as this times its throughput."""

Nodes = Callable[[tuple[Node, ...], Frame], list[Stmt]]


@dataclass(frozen=True, slots=True)
class VectorScope:
    """One vector scope at one place of the program.

    `nodes` writes the body of the scope in a frame; `copies` counts how often @unroll repeats this place.
    `narrow`: a narrower vector that holds just what is left is used where there are masks, too. Measured on
    Zen 5: a depthwise convolution with rows of 56 takes half the time, as half a line is loaded at a time.
    """

    scope: Scope
    frame: Frame
    expressions: Expressions
    nodes: Nodes
    sums: Sums
    shared: Shared
    accumulators: Accumulators | None
    copies: int
    narrow: bool = False

    def code(self, lanes: int) -> list[Stmt]:
        """Return the code of the scope with `lanes` lanes.

        Raises:
            NotVectorisableError: something in the scope cannot be done in so many lanes.
        """
        if why_not := self.sums.why_not or self.shared.why_not:
            raise NotVectorisableError(why_not)
        extent = const_int(self.scope.extent)
        full, rest = divmod(extent, lanes)
        width = self.accumulators.width if self.accumulators else 1
        looped = 0
        out: list[Stmt] = []
        if full > MAX_WRITTEN_OUT or full * self._statements() > MAX_STATEMENTS:
            looped = full // width * width
            out.append(self._loop(lanes, width, looped * lanes))
        target = self.expressions.target
        whole_rest = self.narrow and rest >= target.min_lanes and lanes % rest == 0
        masked = rest > 0 and target.masked_memory and not whole_rest
        whole = range(looped, full)
        if self.expressions.context.trial and len(whole) > 2:
            whole = range(looped, full, len(whole) - 1)
        parts = [Part(Linear(k * lanes), None, k) for k in whole]
        if masked:
            parts.append(Part(Linear(full * lanes), self._first(rest, lanes), full))
        out += self._parts(lanes, parts)
        return out if masked else [*out, *self._rest(full * lanes, lanes // 2)]

    def _statements(self) -> int:
        written = [s for s in inner_scopes(self.scope.body) if s.mark == "unroll"]
        count = sum(1 for _ in inner_statements(self.scope.body))
        return count * prod(const_int(s.extent) for s in written) * self.copies

    def _first(self, count: int, lanes: int) -> Value:
        self.expressions.need("first", BOOL, lanes)
        arena = self.expressions.arena
        return arena.call("first", (arena.const(count, INDEX),), arena.type(BOOL, lanes))

    def _loop(self, lanes: int, width: int, stop: int) -> For:
        arena, step = self.expressions.arena, width * lanes
        var = arena.var(self.scope.name, INDEX, (0, stop - step))
        base = arena.atom(var)
        parts = [Part(plus(base, Linear(k * lanes)), None, k) for k in range(width)]
        body = self._parts(lanes, parts)
        return For(var, arena.const(0, INDEX), arena.const(stop, INDEX), step, tuple(body))

    def _parts(self, lanes: int, parts: list[Part]) -> list[Stmt]:
        frame = replace(self.frame, vector=self.scope.name, lanes=lanes, accumulators=self.accumulators)
        together = [(p,) for p in parts] if self.shared.in_turn else [tuple(parts)] if parts else []
        out: list[Stmt] = []
        for group in together:
            out += self.nodes(self.scope.body, replace(frame, parts=group))
        return out

    def _rest(self, start: int, lanes: int) -> list[Stmt]:
        """Return the code of the last iterations: narrower vectors while they are full, then one by one."""
        out: list[Stmt] = []
        extent = const_int(self.scope.extent)
        while lanes >= self.expressions.target.min_lanes and extent - start > 0:
            if extent - start >= lanes:
                try:
                    out += self._parts(lanes, [Part(Linear(start))])
                    start += lanes
                except NotVectorisableError:
                    break
            lanes //= 2
        if start < extent:
            out += self._one_by_one(start)
        return out

    def _one_by_one(self, start: int) -> list[Stmt]:
        arena, extent = self.expressions.arena, const_int(self.scope.extent)
        if start == extent - 1:
            env = {**self.frame.env, self.scope.name: Linear(start)}
            return self.nodes(self.scope.body, replace(self.frame, env=env))
        var = arena.var(self.expressions.context.fresh(self.scope.name), INDEX, (start, extent - 1))
        env = {**self.frame.env, self.scope.name: arena.atom(var)}
        body = self.nodes(self.scope.body, replace(self.frame, env=env))
        return [For(var, arena.const(start, INDEX), arena.const(extent, INDEX), 1, tuple(body))]


def stands_alone(scope: Scope, around: tuple[Scope, ...], context: Context) -> bool:
    """Tell whether a vector scope is one copy, or all sums of results whose shared operands stay outside.

    Other sums would be held in registers of other widths than where they begin or are used; what is loaded
    for all lanes anew in each turn of the loop around would be loaded for both widths.
    """
    if len(scope.body) == 1 and isinstance(scope.body[0], Statement) and scope.body[0].op == "=":
        return isinstance(scope.body[0].value, Load)
    found = list(inner_statements(scope.body))
    begun = {s.target.buffer for s in found if s.op == "="}
    sums = [s for s in found if s.op != "="]
    loop = next((s.name for s in reversed(around) if s.mark != "unroll" and const_int(s.extent) > 1), None)
    return bool(sums) and all(
        s.target.buffer in begun
        and context.buffers[s.target.buffer].role != "tmp"
        and all(scope.name in moving or loop not in moving for moving in map(_moving, loads(s.value)))
        for s in sums
    )


def _moving(load: Load) -> set[str]:
    return set[str]().union(*(iterators(i) for i in load.indices))


def partial_width(scope: Scope, lanes: int, home: Scope, sums: Sums) -> int:
    """Return over how many vectors each sum of a vector scope is spread."""
    inside = (home, *inner_scopes(home.body))
    elements = len(sums.statements) * prod(const_int(s.extent) for s in inside if s.mark == "unroll")
    vectors = const_int(scope.extent) // lanes
    return max(1, min(MAX_PARTIAL, vectors, 8 // elements))
