"""Contract fma: a product that is added becomes one operation with one rounding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import Expr, Literal, Op, Program, Statement
from perfdojo.compiler.transforms._occurrences import rewritten, with_statement
from perfdojo.compiler.transforms._storage import broken_mark, marked_around, reads_back
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_statement
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.walk import dtype_of


@dataclass(frozen=True, slots=True)
class ContractFma(Transform):
    """Make one multiply-add of a product and the sum around it: it rounds once instead of twice.

        contract_fma s
        s: y[] = a*b + c   ->   s: y[] = fma(a, b, c)
        s: y[] = c - a*b   ->   s: y[] = fma(-a, b, c)
        s: y[] += a*b      ->   s: y[] = fma(a, b, y[])

    `number n` takes the n-th one only: the sum of the statement itself is first, then operations before
    their operands.

    0. s is a statement.
    1. The level allows contraction.
    2. s adds to or subtracts from a product of floats; it has an n-th such operation.
    3. The literals of the statement keep their types in the text.
    4. Scopes marked as concurrent stay so; a sum over the lanes of a scope has to stay a reduction.
    """

    level = "contract"
    aliases = ("use_fma",)

    statement: str = arg("statement")
    number: int = arg("int", "number", default=0, lowest=1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not setting.allows("contract"):
            return
        for name, place in program.statements.items():
            count = _contracted(program, place.node, 0)[1]
            moves = [cls(name), *(cls(name, n) for n in range(1, count + 1) if count > 1)] if count else []
            yield from legal(moves, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_statement(program, self.statement)
        if not setting.allows("contract"):
            yield Violation(1, f"{setting.fp} keeps both roundings", "compile with --fp contract")
        s = program.statements[self.statement].node
        after, count = _contracted(program, s, self.number)
        if count < max(self.number, 1):
            what = f"{count} sum of a product" if count == 1 else f"{count} sums of products"
            yield Violation(2, f"{self.statement} has {what} of floats")
        if not reads_back(after, program):
            yield Violation(3, f"a literal of {self.statement} would change its type")
        marked = marked_around(model(program), s.target.buffer) if after.op != s.op else []
        if marked and (reason := broken_mark(with_statement(program, after), marked)):
            yield Violation(4, reason)

    def rewrite(self, program: Program) -> Program:
        s = program.statements[self.statement].node
        return with_statement(program, _contracted(program, s, self.number)[0])


def _contracted(program: Program, s: Statement, number: int) -> tuple[Statement, int]:
    """The statement with fused operations, and how many could be."""

    def rule(e: Op) -> Expr | None:
        return _fused(e) if e.op in ("add", "sub") and dtype_of(e, program).is_float else None

    is_float = program.buffer(s.target.buffer).dtype.is_float
    whole = s.op == "+=" and isinstance(s.value, Op) and s.value.op == "mul" and is_float
    value, count = rewritten(s.value, rule, number, 1 + whole)
    if whole and number in (0, 1):
        assert isinstance(value, Op)
        return replace(s, op="=", value=Op("fma", (*value.args, s.target))), count + 1
    return replace(s, value=value), count + whole


def _fused(e: Op) -> Expr | None:
    left, right = e.args
    if isinstance(left, Op) and left.op == "mul":
        return Op("fma", (*left.args, right if e.op == "add" else _negative(right)))
    if isinstance(right, Op) and right.op == "mul":
        a, b = right.args
        return Op("fma", (a if e.op == "add" else _negative(a), b, left))
    return None


def _negative(e: Expr) -> Expr:
    if isinstance(e, Op) and e.op == "neg":
        return e.args[0]
    return Literal(-e.value, e.dtype) if isinstance(e, Literal) else Op("neg", (e,))


TRANSFORM = ContractFma
