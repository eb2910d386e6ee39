"""Reciprocal: a division becomes a product with the reciprocal, which may then be hoisted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.ir import Expr, Literal, Op, Program, Statement
from perfdojo.compiler.transforms._occurrences import rewritten, with_statement
from perfdojo.compiler.transforms._storage import reads_back
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_statement
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.walk import dtype_of


@dataclass(frozen=True, slots=True)
class Reciprocal(Transform):
    """Multiply by the reciprocal of a divisor: two roundings instead of one, and 1/y may be hoisted.

        reciprocal s
        s: y[{0}] = x[{0}] / a[]   ->   s: y[{0}] = x[{0}] * (1 / a[])

    `number n` takes the n-th division only, operations before their operands.

    0. s is a statement.
    1. The level is fast, whose error bound of a division covers it.
    2. s divides something other than 1; it has an n-th such division.
    3. The literals of the statement keep their types in the text.
    """

    level = "fast"
    aliases = ("divide_by_reciprocal",)

    statement: str = arg("statement")
    number: int = arg("int", "number", default=0, lowest=1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not setting.allows("fast"):
            return
        for name, place in program.statements.items():
            count = _multiplied(program, place.node, 0)[1]
            moves = [cls(name), *(cls(name, n) for n in range(1, count + 1) if count > 1)] if count else []
            yield from legal(moves, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_statement(program, self.statement)
        if not setting.allows("fast"):
            yield Violation(1, f"{setting.fp} rounds a quotient once", "compile with --fp fast")
        s = program.statements[self.statement].node
        after, count = _multiplied(program, s, self.number)
        if count < max(self.number, 1):
            reason = f"{self.statement} has {count} division{'' if count == 1 else 's'} of other than 1"
            yield Violation(2, reason)
        if not reads_back(after, program):
            yield Violation(3, f"a literal of {self.statement} would change its type")

    def rewrite(self, program: Program) -> Program:
        s = program.statements[self.statement].node
        return with_statement(program, _multiplied(program, s, self.number)[0])


def _multiplied(program: Program, s: Statement, number: int) -> tuple[Statement, int]:
    """The statement with products instead of divisions, and how many could be."""

    def rule(e: Op) -> Expr | None:
        if e.op != "div" or (isinstance(e.args[0], Literal) and e.args[0].value == 1):
            return None
        one = Literal(1.0, dtype_of(e, program))
        return Op("mul", (e.args[0], Op("div", (one, e.args[1]))))

    value, count = rewritten(s.value, rule, number)
    return replace(s, value=value), count


TRANSFORM = Reciprocal
