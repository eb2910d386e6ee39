"""Outline: an operation of a value becomes a statement of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.coverage import exactly
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.ir import Buffer, Cast, Expr, Load, Node, Op, Program, Statement
from perfdojo.compiler.transforms._storage import in_hardware_loop, reads_back, with_buffers
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    legal,
    made,
    no_free_name,
    no_statement,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import edit_body, taken_names
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import dtype_of, loads


@dataclass(frozen=True, slots=True)
class Outline(Transform):
    """Give an operation of a value a statement of its own, right before the one that uses it.

        outline s number 3
                                             s_v: v[] = exp(x[{0}])
        s: y[{0}] = 1 / (1 + exp(x[{0}]))    ->   s: y[{0}] = 1 / (1 + v[])

    Operations and conversions are numbered as they stand in the text of the value, each before its operands;
    those in an index, a condition or one of the branches of a select are not, nor those that give a bool.
    With `expand_buffer` and `fission_scope` it then gets a nest of its own; `inline` is the way back.

    0. s is a statement, and the new name is free.
    1. s has an n-th operation.
    2. The literals of both statements keep their types in the text.
    3. No scope around s is @vector, a stream or a hardware loop.
    4. (D) No data decide whether s happens, as later moves could leave it open that the value is written
       whenever it is read; and the program stays proved.

    Scopes around s that are marked as concurrent stay so: the new buffer is private to their iterations.
    """

    aliases = ("split_statement", "name_value")

    statement: str = arg("statement")
    number: int = arg("int", "number", lowest=1)
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        found = (
            cls(name, number)
            for name, place in program.statements.items()
            for number in range(1, len(parts(program, place.node)) + 1)
        )
        yield from legal(found, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_statement(program, self.statement)
        yield from no_free_name(program, self.names)
        place = program.statements[self.statement]
        count = len(parts(program, place.node))
        if self.number > count:
            what = "1 operation" if count == 1 else f"{count} operations"
            yield Violation(1, f"{self.statement} has {what} that can stand alone")
            return
        result = self.rewrite(program)
        known = set(program.statements)
        changed = [p.node for s, p in result.statements.items() if s not in known or s == self.statement]
        if not all(reads_back(s, result) for s in changed):
            yield Violation(2, f"a literal of {self.statement} would change its type")
        vector = next((s.name for s in place.around if s.mark == "vector"), "")
        if vector:
            yield Violation(3, f"scope {vector} around {self.statement} is @vector")
        if reason := in_hardware_loop(place.around):
            yield Violation(3, reason)
        if place.node.guard is not None and any(True for _ in loads(place.node.guard)):
            yield Violation(4, f"data decide whether {self.statement} happens")
        elif not _is_clear(model(program), self.statement):
            try:
                verify(replace(result, source=None))  # its words would come from the text of another program
            except PerfDojoError as error:
                yield Violation(4, f"the result could not be proved: {error.message}")

    def rewrite(self, program: Program) -> Program:
        place = program.statements[self.statement]
        s, part = place.node, parts(program, place.node)[self.number - 1]
        taken = taken_names(program)
        taken.update(self.names)
        name = made(self.names, 0, f"{self.statement}_v", taken)
        value = _without(s.value, part, Load(name, ()))

        def inserted(body: tuple[Node, ...]) -> Iterator[Node]:
            for node in body:
                if node.name == self.statement and isinstance(node, Statement):
                    yield Statement(name, Load(name, ()), "=", part, s.guard)
                    yield Statement(s.name, s.target, s.op, value, s.guard, s.span)
                else:
                    yield node

        result = edit_body(program, place.around[-1].name if place.around else None, inserted)
        return with_buffers(result, [Buffer(name, "tmp", dtype_of(part, program), ())])


def _is_clear(known: Model, statement: str) -> bool:
    """True when a statement happens always, or exactly where linear forms say."""
    at = next(n for n, (_, s) in enumerate(known.statements) if s.name == statement)
    held = [exactly(known, c) for c in known.accesses[at][-1].conditions]
    return all(forms is not None and all(f.quasi_affine for f in forms) for forms in held)


def parts(program: Program, s: Statement) -> list[Expr]:
    """Return the operations of a statement that can stand alone, each before its operands."""
    found: list[Expr] = []

    def visit(e: Expr) -> None:
        if not isinstance(e, Op | Cast):
            return
        if dtype_of(e, program) != BOOL:
            found.append(e)
        if isinstance(e, Cast):
            visit(e.arg)
        elif e.op not in ("select", "and", "or"):
            for a in e.args:
                visit(a)

    visit(s.value)
    return found


def _without(e: Expr, part: Expr, instead: Load) -> Expr:
    """Return an expression with one of its parts, that very object, read from a buffer."""
    if e is part:
        return instead
    if isinstance(e, Cast):
        return Cast(e.dtype, _without(e.arg, part, instead), e.span)
    if isinstance(e, Op):
        return Op(e.op, tuple(_without(a, part, instead) for a in e.args), e.span)
    return e


TRANSFORM = Outline
