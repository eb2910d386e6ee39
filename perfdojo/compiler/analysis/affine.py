"""Linear forms: an integer expression as constant + sum of coefficient * atom.

An atom is an iteration number (the scope's name), a `Division` of a linear form by a constant, or an
expression that has no linear form (a load, min, max, a select, a product of iterators). A form without atoms
of the last kind is quasi-affine. Forms mean integers without wrapping: an operation whose exact result
could leave its type becomes an atom, as its value may have wrapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Literal as OneOf
from typing import NamedTuple

from perfdojo.compiler.analysis.ranges import (
    Range,
    cast_range,
    dtype_range,
    exact_range,
    load_range,
    operation_range,
)
from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Op, Scope
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + sum of coefficient * atom, no coefficient 0. A value: `terms` is not to be changed."""

    const: int
    terms: Mapping[Atom, int]

    def __hash__(self) -> int:
        return hash((self.const, frozenset(self.terms.items())))

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Return self + factor * other."""
        if not other.terms:
            return Affine(self.const + factor * other.const, self.terms)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            total = terms.get(atom, 0) + factor * coefficient
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Affine(self.const + factor * other.const, terms)

    def times(self, factor: int) -> Affine:
        """Return self * factor."""
        if factor == 0:
            return ZERO
        return Affine(self.const * factor, {a: c * factor for a, c in self.terms.items()})

    def renamed(self, names: Mapping[str, str]) -> Affine:
        """Return the form with other names for some scopes, where these are atoms by themselves."""
        if not names:
            return self
        return Affine(
            self.const, {names.get(a, a) if isinstance(a, str) else a: c for a, c in self.terms.items()}
        )

    @property
    def quasi_affine(self) -> bool:
        """True when iteration numbers and divisions by constants are all there is."""
        return all(isinstance(a, str) or (isinstance(a, Division) and a.arg.quasi_affine) for a in self.terms)

    def scopes(self) -> Iterator[str]:
        """Yield the names of the scopes whose iteration number occurs, inside divisions too."""
        for atom in self.terms:
            yield from atom_scopes(atom)


@dataclass(frozen=True, slots=True)
class Division:
    """`arg // by` or `arg % by`, rounded down; `by` > 1."""

    op: OneOf["//", "%"]
    arg: Affine
    by: int


Atom = str | Division | Load | Op | Cast
ZERO = Affine(0, {})
_TAME = 1 << 62


def atom_scopes(atom: Atom) -> Iterator[str]:
    """Yield the names of the scopes that an atom depends on."""
    if isinstance(atom, str):
        yield atom
    elif isinstance(atom, Division):
        yield from atom.arg.scopes()
    else:
        stack: list[Expr] = [atom]
        while stack:
            match stack.pop():
                case Iter(scope=scope):
                    yield scope
                case Op(args=args) | Load(indices=args):
                    stack.extend(args)
                case Cast(arg=arg):
                    stack.append(arg)


def at_zero(form: Affine) -> int:
    """Return the value of a quasi-affine form in the first iteration of all scopes."""
    return value_at(form, {})


def value_at(form: Affine, iteration: Mapping[str, int]) -> int:
    """Return the value of a quasi-affine form in an iteration, 0 for scopes that it does not name."""
    total = form.const
    for atom, coefficient in form.terms.items():
        if isinstance(atom, Division):
            inner = value_at(atom.arg, iteration)
            total += coefficient * (inner // atom.by if atom.op == "//" else inner % atom.by)
        elif isinstance(atom, str):
            total += coefficient * iteration.get(atom, 0)
    return total


def affine(expr: Expr, scopes: tuple[Scope, ...]) -> Affine | None:
    """Return the linear form of an index inside `scopes`, None when it is not quasi-affine."""
    form = Forms({s.name: const_int(s.extent) for s in scopes}, {}).form(expr)
    return form if form is not None and form.quasi_affine else None


class Value(NamedTuple):
    """What is known of an expression: its type; range and linear form where it is an integer or bool."""

    dtype: DType
    range: Range | None
    form: Affine | None


class Forms:
    """Linear forms and ranges of the expressions of one bound program.

    Args:
        extents: iterations of every scope, by name.
        buffers: every buffer, by name; one that is unknown has elements of any i64.
    """

    def __init__(self, extents: Mapping[str, int], buffers: Mapping[str, Buffer]) -> None:
        self.extents, self.buffers = extents, buffers
        self._opaque: dict[Atom, Range] = {}
        # by identity; the expression is kept beside, so that its number is not used again
        self._values: dict[int, tuple[Op, Value]] = {}

    def form(self, expr: Expr) -> Affine | None:
        """Return the linear form of an integer expression; None for floats and bools."""
        return self.value(expr).form

    def value(self, expr: Expr) -> Value:
        """Return the type, the range and the linear form of an expression."""
        if isinstance(expr, Iter):
            return Value(I64, (0, self.extents[expr.scope] - 1), Affine(0, {expr.scope: 1}))
        if isinstance(expr, Literal):
            if expr.dtype.is_float:
                return Value(expr.dtype, None, None)
            number = int(expr.value)
            return Value(expr.dtype, (number, number), None if expr.dtype == BOOL else Affine(number, {}))
        if isinstance(expr, Load):
            return self._load(expr)
        if isinstance(expr, Cast):
            return self._cast(expr)
        assert isinstance(expr, Op), f"{type(expr).__name__} in a bound program"
        known = self._values.get(id(expr))
        if known is None:
            known = self._values[id(expr)] = expr, self._operation(expr)
        return known[1]

    def _load(self, expr: Load) -> Value:
        buffer = self.buffers.get(expr.buffer)
        dtype = buffer.dtype if buffer else I64
        if dtype.is_float:
            return Value(dtype, None, None)
        return self._atom(expr, dtype, load_range(buffer) if buffer else dtype_range(dtype))

    def _cast(self, expr: Cast) -> Value:
        if expr.dtype.is_float:
            return Value(expr.dtype, None, None)
        inner = self.value(expr.arg)
        found = cast_range(inner.range, expr.dtype)
        low, high = dtype_range(expr.dtype)
        if inner.form is None or inner.range is None or not low <= inner.range[0] <= inner.range[1] <= high:
            return self._atom(expr, expr.dtype, found)
        return Value(expr.dtype, found, inner.form)

    def _operation(self, expr: Op) -> Value:
        args = [self.value(a) for a in expr.args]
        op = expr.op
        dtype = BOOL if op in _TRUTHS else args[-1].dtype
        ranges = [a.range for a in args]
        found = operation_range(op, ranges, dtype)
        if found is None:
            return Value(dtype, None, None)
        if dtype == BOOL:
            return Value(dtype, found, None)
        form = self._linear(op, args)
        if form is not None and exact_range(op, ranges) == found:
            return Value(dtype, found, form)
        return self._atom(expr, dtype, found)

    def _linear(self, op: str, args: list[Value]) -> Affine | None:
        forms = [a.form for a in args]
        first = forms[0]
        if first is None:
            return None
        if op == "neg":
            return first.times(-1)
        second = forms[1] if len(forms) > 1 else None
        if second is None:
            return None
        if op in ("add", "sub"):
            return first.plus(second, 1 if op == "add" else -1)
        if op == "mul" and not (first.terms and second.terms):
            return second.times(first.const) if not first.terms else first.times(second.const)
        if op in ("floordiv", "mod") and not second.terms and second.const != 0:
            # simplifying negates and shifts the dividend, which must not wrap
            tame = all(v.range is not None and max(map(abs, v.range)) < _TAME for v in args)
            return self.divide(first, second.const, op == "mod") if tame else None
        if op in ("min", "max") and args[0].range and args[1].range:
            return _chosen(op == "min", args[0].range, args[1].range, first, second)
        return None

    def _atom(self, expr: Load | Op | Cast, dtype: DType, found: Range) -> Value:
        if found[0] == found[1] and dtype != BOOL:
            return Value(dtype, found, Affine(found[0], {}))
        if dtype == BOOL:
            return Value(dtype, found, None)
        self._opaque[expr] = found
        return Value(dtype, found, Affine(0, {expr: 1}))

    def divide(self, form: Affine, by: int, remainder: bool) -> Affine:
        """Return `form // by` or `form % by` (by != 0), simplified."""
        if by < 0:
            # a // -b = -a // b, and a % -b = a + b * (-a // b)
            quotient = self.divide(form.times(-1), -by, False)
            return form.plus(quotient, -by) if remainder else quotient
        whole = Affine(form.const // by, {a: c // by for a, c in form.terms.items() if c % by == 0})
        rest = Affine(form.const % by, {a: c for a, c in form.terms.items() if c % by})
        low, high = self.range(rest)
        if low // by == high // by:
            block = low // by
            return (
                Affine(rest.const - block * by, rest.terms)
                if remainder
                else Affine(whole.const + block, whole.terms)
            )
        common = gcd(by, *rest.terms.values())
        if common > 1:
            # floor((g*X + c) / (g*k)) = floor((X + c//g) / k); the remainder is g * ((X + c//g) % k) + c % g
            inner = Affine(rest.const // common, {a: c // common for a, c in rest.terms.items()})
            reduced = self.divide(inner, by // common, remainder)
            if remainder:
                scaled = reduced.times(common)
                return Affine(scaled.const + rest.const % common, scaled.terms)
            return whole.plus(reduced)
        if remainder:
            return Affine(0, {Division("%", rest, by): 1})
        nested = _nested_quotient(rest, by)
        if nested is not None:
            return whole.plus(self.divide(*nested, False))
        return whole.plus(Affine(0, {Division("//", rest, by): 1}))

    def range(self, form: Affine, known: Mapping[Atom, Range] | None = None) -> Range:
        """Return the smallest and largest value of a form, each atom taken by itself.

        Args:
            known: tighter ranges of some atoms.
        """
        low = high = form.const
        for atom, coefficient in form.terms.items():
            found = known.get(atom) if known else None
            a, b = self.atom_range(atom) if found is None else found
            if coefficient > 0:
                low, high = low + coefficient * a, high + coefficient * b
            else:
                low, high = low + coefficient * b, high + coefficient * a
        return low, high

    def atom_range(self, atom: Atom) -> Range:
        """Return the range of an atom that a form of this object holds."""
        if isinstance(atom, str):
            return 0, self.extents[atom] - 1
        if isinstance(atom, Division):
            low, high = self.range(atom.arg)
            if atom.op == "//":
                return low // atom.by, high // atom.by
            return (0, atom.by - 1) if low // atom.by != high // atom.by else (low % atom.by, high % atom.by)
        return self._opaque[atom]


_TRUTHS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))


def _chosen(smaller: bool, a: Range, b: Range, first: Affine, second: Affine) -> Affine | None:
    """The operand that min or max always yields, None when it depends."""
    if a[1] <= b[0]:
        return first if smaller else second
    if b[1] <= a[0]:
        return second if smaller else first
    return None


def _nested_quotient(form: Affine, by: int) -> tuple[Affine, int] | None:
    """(X // a + c) // b as the dividend and divisor of (X + c*a) // (a*b); None when it has another shape."""
    if len(form.terms) != 1:
        return None
    ((atom, coefficient),) = form.terms.items()
    if coefficient != 1 or not isinstance(atom, Division) or atom.op != "//":
        return None
    return Affine(atom.arg.const + form.const * atom.by, atom.arg.terms), atom.by * by
