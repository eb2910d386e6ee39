"""Hoist: what does not change in a scope is computed once before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Load, Node, Op, Place, Program, Scope, Statement
from perfdojo.compiler.transforms._proved import meets_writes
from perfdojo.compiler.transforms._storage import in_hardware_loop, reads_back, with_buffers
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    legal,
    made,
    no_free_name,
    no_scope,
    no_statement,
    siblings,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import edit_body, nodes, taken_names
from perfdojo.compiler.walk import dtype_of, iterators, loads, map_statements, subexpressions


@dataclass(frozen=True, slots=True)
class Hoist(Transform):
    """Compute once, right before a scope, what does not change in it: the largest such parts of a value.

        hoist s at k
                                                 s_h[] = sqrt(v[])
        k:K { s: y[{k}] = x[{k}] * sqrt(v[]) }   ->   k:K { s: y[{k}] = x[{k}] * s_h[] }

    Parts are operations and conversions that are no bools, and no integers that come from iterators alone.
    What the condition of a select, `and` or `or` asks stays there when it decides if something is loaded.

    0. s is a statement, k a scope, and the new names are free.
    1. k is around s.
    2. Some part does not use the iterations of k and of the scopes in it, loads nothing that k writes, and,
       where a guard or condition decides whether it is evaluated, loads only from arguments, inside them,
       and nothing that a concurrent scope around k writes.
    3. The literals of the statement keep their types in the text.
    4. k is not in a stream or a hardware loop.

    Scopes around k that are marked as concurrent stay so: the new buffers are private to their iterations.
    """

    aliases = ("licm", "bind_expr")

    statement: str = arg("statement")
    scope: str = arg("scope", "at")
    names: tuple[str, ...] = new()

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        found = (
            cls(name, scope.name)
            for name, place in program.statements.items()
            if isinstance(place.node.value, Op | Cast)
            for scope in place.around
        )
        yield from legal(found, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_statement(program, self.statement)
        yield from no_scope(program, self.scope)
        yield from no_free_name(program, self.names)
        around = program.statements[self.statement].around
        if self.scope not in (s.name for s in around):
            yield Violation(1, f"scope {self.scope} is not around {self.statement}")
        parts = self._parts(program)
        if not parts:
            reason = f"no operation of {self.statement} is the same in all iterations of {self.scope}"
            yield Violation(2, reason)
            return
        if len(self.names) > len(parts):
            yield Violation(0, f"{len(self.names)} names are given for {len(parts)} new buffers")
        if reason := in_hardware_loop(program.scopes[self.scope].around):
            yield Violation(4, reason)
        result = self.rewrite(program)
        if not all(reads_back(s, result) for s in self._changed(result, len(parts))):
            yield Violation(3, f"a literal of {self.statement} would change its type")

    def _changed(self, result: Program, count: int) -> Iterator[Statement]:
        """The statement and the new ones before the scope."""
        yield result.statements[self.statement].node
        position = result.scopes[self.scope].position
        for node in siblings(result, self.scope)[position - count : position]:
            assert isinstance(node, Statement)
            yield node

    def _parts(self, program: Program) -> list[Expr]:
        place = program.statements[self.statement]
        search = _Search(model(program), program.scopes[self.scope], lambda number: str(number))
        search.visit(place.node.value, place.node.guard is not None)
        return list(search.found.values())

    def rewrite(self, program: Program) -> Program:
        taken = taken_names(program)
        taken.update(self.names)
        node = program.statements[self.statement].node
        search = _Search(
            model(program),
            program.scopes[self.scope],
            lambda number: made(self.names, number, f"{self.statement}_h", taken),
        )
        value = search.visit(node.value, node.guard is not None)
        buffers = [Buffer(name, "tmp", dtype_of(e, program), ()) for name, e in search.found.items()]

        def statement(s: Statement) -> Statement:
            if s.name != self.statement:
                return s
            return Statement(s.name, s.target, s.op, value, s.guard, s.span)

        def inserted(body: tuple[Node, ...]) -> Iterator[Node]:
            for node in body:
                if isinstance(node, Scope) and node.name == self.scope:
                    for name, part in search.found.items():
                        yield Statement(name, Load(name, ()), "=", part)
                    yield Scope(
                        node.name, node.extent, map_statements(statement, node.body), node.mark, node.span
                    )
                else:
                    yield node

        around = program.scopes[self.scope].around
        result = edit_body(program, around[-1].name if around else None, inserted)
        return with_buffers(result, buffers)


class _Search:
    """Finds the parts of a value that may be computed before a scope, in the order of evaluation.

    Attributes:
        found: name of a new buffer -> what it holds.
    """

    def __init__(self, known: Model, place: Place[Scope], name: Callable[[int], str]) -> None:
        inside = list(nodes(place.node.body))
        self.known, self.name, self.place = known, name, place
        self.inner = {place.node.name, *(n.name for n in inside if isinstance(n, Scope))}
        self.written = {n.target.buffer for n in inside if isinstance(n, Statement)}
        self.found: dict[str, Expr] = {}
        self._known: dict[str, str] = {}

    def visit(self, e: Expr, lazy: bool) -> Expr:
        """Return an expression with its parts read from buffers; a `lazy` one need not be evaluated."""
        if not isinstance(e, Op | Cast):
            return e
        if self._may_move(e, lazy):
            return self._read(e)
        if isinstance(e, Cast):
            return Cast(e.dtype, self.visit(e.arg, lazy), e.span)
        if e.op not in ("select", "and", "or"):
            return Op(e.op, tuple(self.visit(a, lazy) for a in e.args), e.span)
        first, rest = e.args[0], e.args[1:]
        if not any(any(loads(a)) for a in rest):
            first = self.visit(first, lazy)
        return Op(e.op, (first, *(self.visit(a, True) for a in rest)), e.span)

    def _read(self, e: Expr) -> Load:
        text = repr(e)  # unlike ==, it tells zeros of both signs apart
        if text not in self._known:
            self._known[text] = self.name(len(self.found))
            self.found[self._known[text]] = e
        return Load(self._known[text], ())

    def _may_move(self, e: Expr, lazy: bool) -> bool:
        dtype = dtype_of(e, self.known.explicit)
        is_float = dtype.is_float
        if dtype == BOOL or not iterators(e).isdisjoint(self.inner):
            return False
        if not any(isinstance(p, Load) or (isinstance(p, Iter) and is_float) for p in subexpressions(e)):
            return False
        return all(
            load.buffer not in self.written and (not lazy or self._is_always_inside(load))
            for load in loads(e)
        )

    def _is_always_inside(self, load: Load) -> bool:
        """True for an element that exists and may be read, whatever the conditions are."""
        if self.known.buffers[load.buffer].role not in ("in", "inout"):
            return False
        if meets_writes(self.known, self.place, load.buffer):
            return False
        for index, extent in zip(load.indices, self.known.shape(load.buffer), strict=True):
            form = self.known.forms.form(index)
            assert form is not None
            low, high = self.known.forms.range(form)
            if low < 0 or high >= extent:
                return False
        return True


TRANSFORM = Hoist
