"""Rewriting the operations of one value that have a form: all of them, or one by its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from perfdojo.compiler.ir import Cast, Expr, Op, Program, Statement
from perfdojo.compiler.walk import map_statements

Rule = Callable[[Op], Expr | None]
"""What an operation becomes; None when it has not the form."""


def rewritten(expr: Expr, rule: Rule, number: int = 0, first: int = 1) -> tuple[Expr, int]:
    """Return an expression with occurrences rewritten, and how many there are.

    Args:
        number: the occurrence that is rewritten, operations before their operands; 0: all.
        first: number of the first one.
    """
    count = 0

    def visit(e: Expr) -> Expr:
        nonlocal count
        if isinstance(e, Cast):
            return replace(e, arg=visit(e.arg))
        if not isinstance(e, Op):
            return e
        mine = -1
        if rule(e) is not None:
            mine = first + count
            count += 1
        inner = replace(e, args=tuple(map(visit, e.args)))
        if mine < 0 or number not in (0, mine):
            return inner
        # An operand that was rewritten may have taken the form away, as a*b + c*d does in one of two places.
        found = rule(inner)
        return inner if found is None else found

    return visit(expr), count


def with_statement(program: Program, changed: Statement) -> Program:
    """Return the program with the statement of that name replaced."""
    body = map_statements(lambda s: changed if s.name == changed.name else s, program.body)
    return replace(program, body=body)
