"""Every access to a buffer: where it stands, under which conditions it happens, what it names.

`model(program)` is the ground of all analyses; it is built once for a program and remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from perfdojo.compiler.analysis.affine import Affine, Forms
from perfdojo.compiler.ir import Buffer, Cast, Expr, Load, Op, Program, Scope, Statement
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import const_int, statements
from perfdojo.compiler.walk import scopes as all_scopes

if TYPE_CHECKING:
    from perfdojo.compiler.analysis.sets import Sets

Condition = tuple[Expr, bool]
"""A bool expression and the value that it has where an access happens."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One read or write in the text; it happens once in each iteration in which `conditions` hold.

    Attributes:
        kind: read, write (`=`), or reduce: a reduction reads and writes its target.
        load: the access as written.
        statement: the statement it is part of.
        scopes: the scopes around it, outermost first.
        position: number of the statement in the text.
        indices: linear form of each index.
    """

    kind: OneOf["read", "write", "reduce"]
    load: Load
    statement: Statement
    scopes: tuple[Scope, ...]
    position: int
    conditions: tuple[Condition, ...]
    indices: tuple[Affine, ...]

    @property
    def writes(self) -> bool:
        """It changes its element."""
        return self.kind != "read"

    @property
    def reads(self) -> bool:
        """It depends on what its element was."""
        return self.kind != "write"


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A bound program with explicit starts, and its accesses.

    Attributes:
        program: as given.
        explicit: the program that is analysed, its starts explicit.
        started: names of the statements that `explicit_starts` added.
        statements: every statement with its scopes, in the order of the text.
        accesses: of each statement (by position), in the order of evaluation: its own write is last.
        by_buffer: of each buffer, in the order of the text.
        extent_in_text: positions of the first and the last statement of each scope.
        answers: what analyses remember about the program, by question.
    """

    program: Program
    explicit: Program
    started: frozenset[str]
    buffers: dict[str, Buffer]
    scopes: dict[str, Scope]
    forms: Forms
    statements: list[tuple[tuple[Scope, ...], Statement]]
    accesses: list[list[Access]]
    by_buffer: dict[str, list[Access]] = field(default_factory=dict)
    extent_in_text: dict[str, tuple[int, int]] = field(default_factory=dict)
    answers: dict[tuple[object, ...], object] = field(default_factory=dict)
    _sets: list[Sets] = field(default_factory=list)

    @property
    def sets(self) -> Sets:
        """The integer sets of the program; isl is loaded when they are first asked for."""
        if not self._sets:
            from perfdojo.compiler.analysis.sets import Sets

            self._sets.append(Sets(self))
        return self._sets[0]

    def shape(self, buffer: str) -> tuple[int, ...]:
        """Extents of a buffer."""
        return tuple(const_int(e) for e in self.buffers[buffer].shape)

    def stored(self, buffer: str) -> tuple[int, ...]:
        """Dimensions of a buffer that are materialised: two accesses that agree in them share storage."""
        found = self.buffers[buffer]
        return tuple(d for d in range(len(found.shape)) if d not in found.reuse)

    def element(self, buffer: str, at: Sequence[int]) -> str:
        """Return `name[0,*]` for stored indices; `*` stands for a dimension that is not materialised."""
        numbers = iter(at)
        stored = self.stored(buffer)
        rank = len(self.buffers[buffer].shape)
        return f"{buffer}[{','.join(str(next(numbers)) if d in stored else '*' for d in range(rank))}]"

    def within(self, scope: str) -> list[Access]:
        """Accesses inside a scope, in the order of the text."""
        first, last = self.extent_in_text[scope]
        return [a for group in self.accesses[first : last + 1] for a in group]


def model(program: Program | Model) -> Model:
    """Return the accesses of a bound program; the last programs asked for are remembered."""
    if isinstance(program, Model):
        return program
    for number, known in enumerate(_RECENT):
        if known.program is program:
            _RECENT.append(_RECENT.pop(number))
            return known
    built = _build(program)
    _RECENT.append(built)
    del _RECENT[:-4]
    return built


_RECENT: list[Model] = []


def common_scopes(a: Access, b: Access) -> int:
    """Return how many scopes enclose both accesses."""
    count = 0
    for x, y in zip(a.scopes, b.scopes, strict=False):
        if x.name != y.name:
            break
        count += 1
    return count


def _build(program: Program) -> Model:
    explicit = explicit_starts(program)
    buffers = {b.name: b for b in explicit.buffers}
    scopes = {s.name: s for s in all_scopes(explicit)}
    forms = _forms({n: const_int(s.extent) for n, s in scopes.items()}, buffers)
    listed = list(statements(explicit))
    started: frozenset[str] = frozenset()
    if explicit is not program:
        started = frozenset(s.name for _, s in listed) - {s.name for _, s in statements(program)}
    accesses = [list(_accesses(forms, around, s, i)) for i, (around, s) in enumerate(listed)]
    built = Model(program, explicit, started, buffers, scopes, forms, listed, accesses)
    for position, (around, _) in enumerate(listed):
        for scope in around:
            first, _ = built.extent_in_text.get(scope.name, (position, position))
            built.extent_in_text[scope.name] = (first, position)
    for group in accesses:
        for access in group:
            built.by_buffer.setdefault(access.load.buffer, []).append(access)
    return built


def _forms(extents: dict[str, int], buffers: dict[str, Buffer]) -> Forms:
    """Return the forms of a recent program where they mean the same: a move leaves most expressions alone."""
    for known in reversed(_RECENT):
        if known.forms.extents == extents and known.buffers == buffers:
            return known.forms
    return Forms(extents, buffers)


def _accesses(
    forms: Forms, scopes: tuple[Scope, ...], statement: Statement, position: int
) -> Iterator[Access]:
    def access(
        load: Load, kind: OneOf["read", "write", "reduce"], conditions: tuple[Condition, ...]
    ) -> Access:
        indices = []
        for index in load.indices:
            form = forms.form(index)
            assert form is not None, "an index is an integer"
            indices.append(form)
        return Access(kind, load, statement, scopes, position, conditions, tuple(indices))

    guard = statement.guard
    conditions: tuple[Condition, ...] = ()
    if guard is not None:
        yield from (access(load, "read", held) for load, held in _reads(guard, ()))
        if forms.value(guard).range != (1, 1):
            conditions = parts(guard, True)
    target = statement.target
    for expr in (*target.indices, statement.value):
        yield from (access(load, "read", held) for load, held in _reads(expr, conditions))
    yield access(target, "reduce" if statement.op in REDUCTIONS else "write", conditions)


def _reads(expr: Expr, held: tuple[Condition, ...]) -> Iterator[tuple[Load, tuple[Condition, ...]]]:
    """Yield each load with the conditions under which it is evaluated, inner indices before the load."""
    match expr:
        case Load(indices=indices):
            for index in indices:
                yield from _reads(index, held)
            yield expr, held
        case Cast(arg=arg):
            yield from _reads(arg, held)
        case Op(op="select", args=(c, a, b)):
            yield from _reads(c, held)
            yield from _reads(a, (*held, *parts(c, True)))
            yield from _reads(b, (*held, *parts(c, False)))
        case Op(op="and" | "or" as op, args=(a, b)):
            yield from _reads(a, held)
            yield from _reads(b, (*held, *parts(a, op == "and")))
        case Op(args=args):
            for a in args:
                yield from _reads(a, held)


def parts(expr: Expr, value: bool) -> tuple[Condition, ...]:
    """Cut a condition into those that all have to hold for it."""
    match expr:
        case Op(op="not", args=(a,)):
            return parts(a, not value)
        case Op(op="and" | "or" as op, args=(a, b)) if (op == "and") == value:
            return parts(a, value) + parts(b, value)
        case _:
            return ((expr, value),)
