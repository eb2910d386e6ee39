"""Statements without the conditions that are the same in all iterations."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.analysis.accesses import Condition, model
from perfdojo.compiler.analysis.bounds import bounded, implied, tighter
from perfdojo.compiler.bind import folded
from perfdojo.compiler.dtypes import BOOL, F64, I64
from perfdojo.compiler.ir import Cast, Expr, Literal, Load, Op, Program, Statement
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.walk import subexpressions

_CONDITIONAL = frozenset(("select", "and", "or"))
Held = tuple[Condition, ...]


class Decided:
    """Simplifies the statements of one program; what does not change comes back as it is."""

    def __init__(self, program: Program) -> None:
        self.forms = model(program).forms

    def statement(self, s: Statement) -> Statement | None:
        """Return the statement without decided conditions; None when it never happens."""
        held: Held = ()
        left: list[Expr] = []
        for condition in () if s.guard is None else _conjuncts(s.guard):
            value = self._value(condition, held)
            if value is False:
                return None
            if value is None:
                left.append(self._expr(condition, held, True))
                held = (*held, (condition, True))
        guard = None
        for condition in left:
            guard = condition if guard is None else Op("and", (guard, condition))
        target = self._expr(s.target, held, True)
        assert isinstance(target, Load)
        made = replace(s, target=target, value=self._expr(s.value, held, True), guard=guard)
        return s if made == s else made

    def _value(self, condition: Expr, held: Held) -> bool | None:
        """What a condition is in every iteration in which others hold; None when that differs."""
        found = self.forms.value(condition).range
        if found is not None and found[0] == found[1]:
            return found[0] == 1
        if not held or not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
            return None
        known = [f for c in held for f in implied(self.forms, c)]
        for form in implied(self.forms, (condition, True)):  # one; it is >= 0 where the condition holds only
            low, high = bounded(self.forms, form, known, tighter(self.forms, known))
            return True if low >= 0 else False if high < 0 else None
        return None

    def _expr(self, e: Expr, held: Held, typed: bool) -> Expr:
        """Return `e` simplified. What has its type from itself keeps that, unless its place is `typed`."""
        if not any(isinstance(n, Op) and n.op in _CONDITIONAL for n in subexpressions(e)):
            return e
        if isinstance(e, Load):
            return replace(e, indices=tuple(self._expr(i, held, False) for i in e.indices))
        if isinstance(e, Cast):
            return replace(e, arg=self._expr(e.arg, held, False))
        assert isinstance(e, Op)
        if e.op == "select":
            return self._select(e, held, typed)
        if e.op in ("and", "or"):
            return self._logic(e, held)
        typed = typed and OPS[e.op].rule != "compare"
        args = tuple(self._expr(a, held, True) for a in e.args)
        if not typed and not any(map(_has_type, args)):
            args = tuple(self._expr(a, held, False) for a in e.args)
        if e.op in ("floordiv", "mod") and isinstance(args[1], Literal) and args[1].value == 0:
            args = (args[0], e.args[1])  # written out, a division by 0 is refused as a mistake
        if e.op == "neg" and isinstance(args[0], Literal):
            return _negated(args[0])  # their text is the same
        return folded(replace(e, args=args))

    def _select(self, e: Op, held: Held, typed: bool) -> Expr:
        condition, one, two = e.args
        value = self._value(condition, held)
        if value is not None:
            chosen = self._expr(one if value else two, held, typed)
            if typed or _has_type(chosen):
                return chosen
        then, other = (*held, (condition, True)), (*held, (condition, False))
        first = self._expr(condition, held, True)
        a, b = self._expr(one, then, True), self._expr(two, other, True)
        if not typed and not _has_type(a) and not _has_type(b):
            a, b = self._expr(one, then, False), self._expr(two, other, False)
        return replace(e, args=(first, a, b))

    def _logic(self, e: Op, held: Held) -> Expr:
        left, right = e.args
        neutral = e.op == "and"
        if self._value(left, held) is neutral:
            return self._expr(right, held, True)
        behind = (*held, (left, neutral))
        if self._value(right, behind) is neutral:
            return self._expr(left, held, True)
        return replace(e, args=(self._expr(left, held, True), self._expr(right, behind, True)))


def _conjuncts(e: Expr) -> tuple[Expr, ...]:
    if isinstance(e, Op) and e.op == "and":
        return _conjuncts(e.args[0]) + _conjuncts(e.args[1])
    return (e,)


def _negated(e: Literal) -> Literal:
    """Return -e; integers wrap."""
    value = -e.value
    if not e.dtype.is_float and not e.dtype.smallest <= value <= e.dtype.largest:
        value += (1 << e.dtype.bits) if value < 0 else -(1 << e.dtype.bits)
    return replace(e, value=value)


def _has_type(e: Expr) -> bool:
    """Tell whether `e` has its type wherever it stands: f32 literals, say, take that of their place."""
    if isinstance(e, Literal):
        return e.dtype in (BOOL, I64, F64)
    if not isinstance(e, Op) or OPS[e.op].rule in ("compare", "logic"):
        return True
    return any(map(_has_type, e.args[1:] if e.op == "select" else e.args))
