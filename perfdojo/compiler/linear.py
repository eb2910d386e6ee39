"""Index expressions as linear forms over iterators, and back: the arithmetic of every rewrite of indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from perfdojo.compiler.bind import folded
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Load, Op


@dataclass(frozen=True, slots=True)
class Linear:
    """`const` plus the sum of coefficient * iterator; terms in order of appearance, no coefficient is 0."""

    terms: tuple[tuple[str, int], ...] = ()
    const: int = 0

    def coefficient(self, scope: str) -> int:
        """Return the coefficient of the iterator of `scope`, 0 when it does not occur."""
        return next((c for s, c in self.terms if s == scope), 0)

    def without(self, scopes: frozenset[str] | set[str]) -> Linear:
        """Return the form without the terms of `scopes`."""
        return Linear(tuple((s, c) for s, c in self.terms if s not in scopes), self.const)

    def only(self, scopes: frozenset[str] | set[str]) -> Linear:
        """Return the terms of `scopes` alone, without the constant."""
        return Linear(tuple((s, c) for s, c in self.terms if s in scopes))

    def span(self, extents: Mapping[str, int]) -> tuple[int, int]:
        """Return the smallest and largest value while each iterator runs over its extent."""
        ends = [c * (extents[s] - 1) for s, c in self.terms]
        return self.const + sum(min(e, 0) for e in ends), self.const + sum(max(e, 0) for e in ends)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """Return this form + `times` * `other`."""
        found = dict(self.terms)
        for scope, c in other.terms:
            found[scope] = found.get(scope, 0) + times * c
        return Linear(tuple((s, c) for s, c in found.items() if c), self.const + times * other.const)


def iteration(scope: str, step: int = 1, start: int = 0) -> Linear:
    """Return the form `step` * iterator of `scope` + `start`."""
    return Linear(((scope, step),), start)


def linear(expr: Expr) -> Linear | None:
    """Return the linear form of an i64 expression, None when it is not one."""
    if isinstance(expr, Iter):
        return Linear(((expr.scope, 1),))
    if isinstance(expr, Literal):
        return Linear((), int(expr.value)) if expr.dtype == I64 else None
    if not isinstance(expr, Op) or expr.op not in _LINEAR:
        return None
    left = linear(expr.args[0])
    right = None if left is None else linear(expr.args[-1])
    return None if left is None or right is None else _combined(expr.op, left, right)


_LINEAR = frozenset(("add", "sub", "mul", "neg"))


def _combined(op: str, left: Linear, right: Linear) -> Linear | None:
    """The form of an operation on two forms; the only operand of `neg` is both."""
    if op == "add":
        return left.plus(right)
    if op == "sub":
        return left.plus(right, -1)
    if op == "neg":
        return Linear().plus(left, -1)
    if op != "mul" or (left.terms and right.terms):
        return None
    form, factor = (left, right.const) if left.terms else (right, left.const)
    return Linear().plus(form, factor)


def expression(form: Linear) -> Expr:
    """Return the expression that spells a linear form, `{i}*4+{j}-1`, its numbers wrapped as i64 wraps."""
    result: Expr | None = None
    const = _wrapped(form.const)
    for scope, c in ((s, _wrapped(c)) for s, c in form.terms):
        if c == 0:
            continue
        term: Expr = Iter(scope)
        plus = c > 0 or c == I64.smallest  # that one has no opposite
        if abs(c) != 1:
            term = Op("mul", (term, Literal(c if plus else -c, I64)))
        if result is None:
            result = term if plus else Op("neg", (term,))
        else:
            result = Op("add" if plus else "sub", (result, term))
    if result is None:
        return Literal(const, I64)
    if const == 0:
        return result
    if const > 0 or const == I64.smallest:
        return Op("add", (result, Literal(const, I64)))
    return Op("sub", (result, Literal(-const, I64)))


def _wrapped(number: int) -> int:
    return (number - int(I64.smallest)) % (1 << I64.bits) + int(I64.smallest)


def shifted(expr: Expr, values: Mapping[str, Linear]) -> Expr:
    """Replace iterators by linear forms; the linear parts in which one occurs are spelled anew."""
    return _spelled(_shifted(expr, values))


_Shifted = tuple[Expr, Linear | None, bool]
"""An expression, its linear form if it has one, and whether only that form is up to date."""


def _spelled(found: _Shifted) -> Expr:
    expr, form, changed = found
    return expression(form) if changed and form is not None else expr


def _shifted(expr: Expr, values: Mapping[str, Linear]) -> _Shifted:
    if isinstance(expr, Iter):
        given = values.get(expr.scope)
        return expr, iteration(expr.scope) if given is None else given, given is not None
    if isinstance(expr, Literal):
        return expr, Linear((), int(expr.value)) if expr.dtype == I64 else None, False
    if isinstance(expr, Op):
        parts = [_shifted(a, values) for a in expr.args]
        left, right = parts[0][1], parts[-1][1]
        form = None if left is None or right is None else _combined(expr.op, left, right)
        if form is not None:
            return expr, form, any(changed for _, _, changed in parts)
        args = tuple([_spelled(p) for p in parts])
        return (expr, None, False) if _same(args, expr.args) else _rebuilt(Op(expr.op, args, expr.span))
    if isinstance(expr, Load):
        indices = tuple([_spelled(_shifted(a, values)) for a in expr.indices])
        return (expr if _same(indices, expr.indices) else Load(expr.buffer, indices, expr.span)), None, False
    if isinstance(expr, Cast):
        return replace(expr, arg=_spelled(_shifted(expr.arg, values))), None, False
    return expr, None, False


def _rebuilt(op: Op) -> _Shifted:
    """An operation with new operands, folded where these became constants: a bound program has no other."""
    if op.op in ("floordiv", "mod") and op.args[1] == _ZERO:
        return _ZERO, Linear(), True  # by 0 both are 0; written out it would be refused as a mistake
    made = folded(op)
    if isinstance(made, Literal):
        return made, Linear((), int(made.value)), True
    return made, None, False


_ZERO = Literal(0, I64)


def _same(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
    return all(x is y for x, y in zip(a, b, strict=True))
