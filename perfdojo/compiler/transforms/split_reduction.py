"""Split reduction: several accumulators, and their combination behind (rfactor)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.coverage import Coverage
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.dtypes import I64, DType
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Node, Place, Program, Scope, Statement
from perfdojo.compiler.starts import neutral
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    broken_mark,
    bytes_of,
    in_hardware_loop,
    marked_around,
    with_buffers,
)
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    legal,
    made,
    no_free_name,
    no_scope,
    no_statement,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import edit_body, fresh, taken_names
from perfdojo.compiler.verify import MAX_BYTES
from perfdojo.compiler.walk import const_int, iterators, loads, map_expr, map_statements


@dataclass(frozen=True, slots=True)
class SplitReduction(Transform):
    """Give each iteration of a scope that a reduction runs over its own accumulator; combine them behind.

        split_reduction s by ki
                                           ki_s:n { p[{ki_s}] = 0 }
        ko:m { ki:n { s: a[] += e } }  ->  ko:m { ki:n { s: p[{ki}] += e } }
                                           ki_c:n { a[] += p[{ki_c}] }

    The accumulators stand around `around ko`; without, around the outermost scope, ki or one around it, that
    does not index a and in which nothing else accesses a. Scopes in it that index a index p as well.

    0. s is a statement, ki and ko are scopes, and the new name is free.
    1. s is a reduction, and ki is around it, and in ko or the same.
    2. ki does not occur in the indices of a, and these load nothing.
    3. Inside ki, and ko if it is given, only s accesses a.
    4. The level is reassoc where a holds floats, whose sums depend on their order.
    5. p takes at most 2^47 bytes.
    6. Without the guard of s, its target stays inside a, in elements that were written before, and marks
       stay true.
    7. The accumulators do not stand in a stream or a hardware loop.

    Without a guard scopes marked as concurrent stay so: where a has an element for each iteration p has one,
    else p is private to it.
    """

    aliases = ("rfactor", "split_accumulator")

    statement: str = arg("statement")
    scope: str = arg("scope", "by")
    around: str = arg("scope", "around", default="")
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        found = (
            cls(name, scope.name, outer)
            for name, place in program.statements.items()
            if place.node.op != "=" and setting.reorders(program.buffer(place.node.target.buffer).dtype)
            for scope in place.around
            if const_int(scope.extent) > 1
            for outer in ("", *_outer(place, scope.name))
        )
        yield from legal(found, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_statement(program, self.statement)
        yield from no_scope(program, *filter(None, (self.scope, self.around)))
        yield from no_free_name(program, self.names)
        node, around = program.statements[self.statement].node, program.statements[self.statement].around
        name = node.target.buffer
        if node.op == "=":
            yield Violation(1, f"{self.statement} is no reduction")
        if self.scope not in (s.name for s in around):
            yield Violation(1, f"scope {self.scope} is not around {self.statement}")
            return
        outer = self.around or self.scope
        if outer not in (
            s.name for s in (*program.scopes[self.scope].around, program.scopes[self.scope].node)
        ):
            yield Violation(1, f"scope {outer} is not around scope {self.scope}")
            return
        if self.scope in iterators(node.target):
            yield Violation(
                2, f"scope {self.scope} indexes {name}: each iteration has its own element already"
            )
        if any(load is not node.target for load in loads(node.target)):
            yield Violation(2, f"data decide which element of {name} {self.statement} accumulates into")
        known = model(program)
        if other := _other_access(known, outer, self.statement, name):
            yield Violation(3, f"{other} accesses {name} inside scope {outer} too")
            return
        if not setting.reorders(program.buffer(name).dtype):
            reason = f"{self.statement} sums floats, which {setting.fp} keeps in order"
            yield Violation(4, reason, "compile with --fp reassoc")
        plan = self._plan(program)
        if reason := in_hardware_loop(program.scopes[plan.around.name].around):
            yield Violation(7, reason)
        if (size := bytes_of(self._accumulators(program, plan, "p"))) > MAX_BYTES:
            yield Violation(5, f"the accumulators would take {size} bytes; the limit is 2^47")
        if node.guard is not None:
            yield from self._unguarded(program, known)

    def _unguarded(self, program: Program, known: Model) -> Iterator[Violation]:
        name = program.statements[self.statement].node.target.buffer
        access = next(a for a in known.by_buffer[name] if a.statement.name == self.statement and a.writes)
        for form, extent in zip(access.indices, known.shape(name), strict=True):
            low, high = known.forms.range(form)
            if low < 0 or high >= extent:
                yield Violation(6, f"only the guard of {self.statement} keeps its target inside {name}")
        result = self.rewrite(program)
        if reason := broken_mark(result, marked_around(known, name)):
            yield Violation(6, f"without the guard of {self.statement}, {reason}")
        if program.buffer(name).role == "inout":
            return
        try:
            for read, _ in Coverage(model(result), result.body, only=(name,)).uncovered():
                reason = f"{read.statement.name} would read elements of {name} that nothing wrote"
                yield Violation(6, f"without the guard of {self.statement}, {reason}")
        except Undecided:
            yield Violation(6, f"which elements of {name} are written is open: {UNDECIDED}")

    def _plan(self, program: Program) -> _Plan:
        place = program.statements[self.statement]
        used = iterators(place.node.target)
        names = [s.name for s in place.around]
        at = names.index(self.scope)
        known = model(program)
        buffer = place.node.target.buffer
        outermost = names.index(self.around) if self.around else at
        for n in range(at - 1, -1, -1):
            if self.around or _other_access(known, names[n], self.statement, buffer):
                break
            if names[n] not in used:
                outermost = n
        inner = place.around[outermost:]
        kept = (program.scopes[self.scope].node, *(s for s in inner if s.name in used))
        return _Plan(place.around[outermost], kept)

    def _accumulators(self, program: Program, plan: _Plan, name: str) -> Buffer:
        target = program.buffer(program.statements[self.statement].node.target.buffer)
        return Buffer(
            name, "tmp", target.dtype, tuple(Literal(extent_of(program, s.name), I64) for s in plan.kept)
        )

    def rewrite(self, program: Program) -> Program:
        plan = self._plan(program)
        s = program.statements[self.statement].node
        taken = taken_names(program)
        taken.update(self.names)
        name = made(self.names, 0, f"{s.target.buffer}_p", taken)
        p = self._accumulators(program, plan, name)
        partial = Load(name, tuple(Iter(k.name) for k in plan.kept))
        start = Statement(fresh(f"{s.name}_s", taken), partial, "=", _neutral(s.op, p.dtype))
        combine = Statement(fresh(f"{s.name}_c", taken), s.target, s.op, partial)

        def inner(t: Statement) -> Statement:
            return replace(t, target=partial) if t.name == s.name else t

        def placed(body: tuple[Node, ...]) -> Iterator[Node]:
            for node in body:
                if isinstance(node, Scope) and node.name == plan.around.name:
                    yield _nest(plan.kept, start, "_s", taken)
                    yield replace(node, body=map_statements(inner, node.body))
                    # The scope that is split is innermost here: its accumulators of one element meet.
                    yield _nest((*plan.kept[1:], plan.kept[0]), combine, "_c", taken)
                else:
                    yield node

        around = program.scopes[plan.around.name].around
        return with_buffers(edit_body(program, around[-1].name if around else None, placed), (p,))


def _outer(place: Place[Statement], scope: str) -> list[str]:
    """Return the scopes around `scope` that index no target, but hold others that do."""
    used = iterators(place.node.target)
    names = [s.name for s in place.around]
    found = names[: names.index(scope) + 1]
    return [s for n, s in enumerate(found) if s not in used and not used.isdisjoint(names[n:])]


class _Plan(NamedTuple):
    """Before and behind which scope accumulators start and end; the scopes that index them, `by` first."""

    around: Scope
    kept: tuple[Scope, ...]


def _nest(scopes: tuple[Scope, ...], statement: Statement, suffix: str, taken: set[str]) -> Node:
    """A statement in copies of scopes, without their marks."""
    renamed: dict[str, Expr] = {s.name: Iter(fresh(s.name + suffix, taken)) for s in scopes}

    def at(e: Expr) -> Expr:
        return renamed.get(e.scope, e) if isinstance(e, Iter) else e

    target = map_expr(at, statement.target)
    assert isinstance(target, Load)
    node: Node = replace(statement, target=target, value=map_expr(at, statement.value))
    for s in reversed(scopes):
        new_name = renamed[s.name]
        assert isinstance(new_name, Iter)
        node = Scope(new_name.scope, s.extent, (node,))
    return node


def _other_access(known: Model, scope: str, statement: str, buffer: str) -> str:
    """Return the statement that accesses a buffer in a scope otherwise than as the target of `statement`."""
    for a in known.within(scope):
        if a.load.buffer == buffer and not (a.writes and a.statement.name == statement):
            return a.statement.name
    return ""


def _neutral(op: str, dtype: DType) -> Literal:
    """Return what changes no value; for sums of floats -0.0, as 0.0 would turn a sum of -0.0 into 0.0."""
    return Literal(-0.0, dtype) if op == "+=" and dtype.is_float else neutral(op, dtype)


TRANSFORM = SplitReduction
