"""A statement in the notation of the kernel, for a comment: with numbers folded that sizes have become."""

from __future__ import annotations

import re

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Expr, Iter, Literal, Op, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.text.render import expression
from perfdojo.compiler.walk import map_statement


def told(s: Statement, context: Context) -> str:
    """Return the text of a statement; scopes of one iteration are 0 in it."""
    extents = context.forms.extents
    text = _text(s)
    if not _FOLDABLE.search(text) and 1 not in extents.values():
        return text

    def fold(e: Expr) -> Expr:
        if isinstance(e, Iter) and extents[e.scope] == 1:
            return Literal(0, I64)
        return _folded(e) if isinstance(e, Op) and len(e.args) == 2 else e

    return _text(map_statement(fold, s))


_FOLDABLE = re.compile(r"(?<![\w.])[01](?![\w.])")


def _text(s: Statement) -> str:
    guard = "" if s.guard is None else f" if {expression(s.guard)}"
    return f"{expression(s.target)} {s.op} {expression(s.value)}{guard}"


def _folded(e: Op) -> Expr:
    """Return `x * 1`, `x + 0` and the like of i64 as x."""
    first, second = e.args
    for one, other in ((first, second), (second, first)):
        if not isinstance(one, Literal) or one.dtype != I64:
            continue
        if e.op == "mul" and one.value in (0, 1):
            return other if one.value == 1 else one
        if (e.op == "add" or (e.op == "sub" and one is second)) and one.value == 0:
            return other
    return e
