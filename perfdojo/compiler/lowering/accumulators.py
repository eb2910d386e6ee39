"""Sums over lanes: vectors of partial results that live around a loop and become one element behind it."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfdojo.compiler.ir import Statement
from perfdojo.compiler.lowering.context import NotVectorisableError
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import Let, Set, Stmt, Store, Value, Var
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.starts import neutral


@dataclass(slots=True)
class Accumulators:
    """The partial results of the reductions that end behind one scope.

    Attributes:
        width: vectors that one element is spread over, so that additions need not wait for each other.
        inside: counters of the loops inside the scope; an element must not depend on them.
    """

    expressions: Expressions
    width: int
    inside: set[str] = field(default_factory=set)
    _made: dict[tuple[str, Linear, str, int, int], Var] = field(default_factory=dict)

    def add(self, s: Statement, where: Linear, value: Value, mask: Value | None, number: int) -> Stmt:
        """Return the statement that adds a vector to its partial result; `number` counts vectors."""
        arena, lanes = self.expressions.arena, value.type.lanes
        if any(not arena.variables(a).isdisjoint(self.inside) for a in arena.atoms(where)):
            raise NotVectorisableError(f"the element that {s.name} adds to changes inside the scope")
        var = self._partial(s, where, value, number % self.width)
        total = self.expressions.operate(REDUCTIONS[s.op], (var, value), value.type.dtype)
        if mask is not None:
            self.expressions.need("select", value.type.dtype, lanes)
            total = arena.call("select", (mask, total, var), value.type)
        return Set(var, total)

    def _partial(self, s: Statement, where: Linear, value: Value, number: int) -> Var:
        key = s.target.buffer, where, s.op, number, value.type.lanes
        found = self._made.get(key)
        if found is None:
            self.expressions.need(f"reduce_{REDUCTIONS[s.op]}", value.type.dtype, value.type.lanes)
            context = self.expressions.context
            found = self._made[key] = self.expressions.arena.var(context.fresh(s.target.buffer), value.type)
        return found

    def opened(self) -> list[Stmt]:
        """Return the definitions, each at the neutral element."""
        arena = self.expressions.arena
        out: list[Stmt] = []
        for (_, _, op, _, _), var in self._made.items():
            out.append(Let(var, arena.const(neutral(op, var.type.dtype).value, var.type), True))
        return out

    def closed(self) -> list[Stmt]:
        """Return the code that adds the partial results up, pairwise, and to the elements."""
        groups: dict[tuple[str, Linear, str], dict[int, list[Value]]] = {}
        for (buffer, where, op, _, lanes), var in self._made.items():
            groups.setdefault((buffer, where, op), {}).setdefault(lanes, []).append(var)
        out: list[Stmt] = []
        for (buffer, where, op), vectors in groups.items():
            out.append(self._sum(buffer, where, REDUCTIONS[op], vectors))
        return out

    def _sum(self, buffer: str, where: Linear, op: str, vectors: dict[int, list[Value]]) -> Store:
        arena = self.expressions.arena
        scalars: list[Value] = []
        for parts in vectors.values():
            whole = self._pairwise(op, parts)
            type = arena.type(whole.type.dtype)
            scalars.append(arena.call(f"reduce_{op}", (whole,), type))
        total = self._pairwise(op, scalars)
        at = arena.offset(where)
        old = arena.load(buffer, at, total.type)
        return Store(buffer, at, self.expressions.operate(op, (old, total), total.type.dtype))

    def _pairwise(self, op: str, parts: list[Value]) -> Value:
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [
                self.expressions.operate(op, (p[0], p[1]), p[0].type.dtype) if len(p) == 2 else p[0]
                for p in pairs
            ]
        return parts[0]
