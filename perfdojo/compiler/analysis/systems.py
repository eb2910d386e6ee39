"""Two iterations that name one element, as a small system of linear constraints.

Where both indices move by one stride along a scope, its variables are y's iteration number and by how much
x's is ahead: what a move says about iterations and what is left of the indices then bound one variable. A
division is a quotient and a remainder. What has no linear form may be anything in its range, and what is not
a linear comparison may hold or not: such a system is `vague`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine, Atom, Division, Forms, atom_scopes
from perfdojo.compiler.analysis.frames import Frame, Pair, Variables
from perfdojo.compiler.analysis.solve import Row, solve
from perfdojo.compiler.ir import Expr, Op

Linear = tuple[tuple[Affine, bool], ...]
"""Forms that are 0 (True) or at least 0 (False)."""


class System:
    """x and y name one element in iterations of a frame.

    Attributes:
        refuted: one dimension, or a condition, shows that they never do.
        vague: a solution of the system need not be one of the question.
    """

    def __init__(self, known: Model, frame: Frame, x: Access, y: Access) -> None:
        self.forms, self.frame = known.forms, frame
        self.low, self.high = frame.low.copy(), frame.high.copy()
        self.rows: list[Row] = []
        self.refuted = not frame.possible
        self.vague = False
        self._divisions: dict[tuple[bool, Atom], tuple[Variables, Variables]] = {}
        self._opaque: dict[tuple[bool, Atom], Variables] = {}
        self._y_divisions: set[Atom] | None = None
        self._of_y = y
        dims = [(x.indices[d], y.indices[d]) for d in known.stored(x.load.buffer)]
        self._x = frame.x
        self._by_difference = [p for p in frame.pairs if any(_same_stride(p, *forms) for forms in dims)]
        if self._by_difference:
            self._x = {**frame.x, **{p.x_scope: (p.ahead, p.y) for p in self._by_difference}}
        for one, two in dims:
            row: dict[int, int] = {}
            const = self._add(row, one, 1, True) + self._add(row, two, -1, False)
            if not self._row(const, row, True):
                return
        for access, is_x in ((x, True), (y, False)):
            forms, exact = conditions(known, access)
            self.vague |= not exact
            for form, equal in forms:
                row = {}
                if not self._row(self._add(row, form, 1, is_x), row, equal):
                    return

    def solution(self, largest: bool = False) -> tuple[dict[str, int], dict[str, int]] | None:
        """Return iterations of x and y by scope; None when there are none.

        Args:
            largest: that in which x is ahead of y most in the outermost scope behind the equal ones.
        Raises:
            Undecided: after too many steps.
        """
        if self.refuted:
            return None
        used = {v for row in self.rows for v, _ in row.terms}
        for pair in self.frame.pairs:
            self._tie(pair, used, largest)
        first = self.frame.pairs[0].ahead if largest else None
        at = solve(self.rows, self.low, self.high, sorted(used), first)
        if at is None:
            return None
        for pair in self.frame.pairs:
            if pair in self._by_difference:
                if pair.y not in used:
                    at[pair.y] = max(0, -at[pair.ahead])
                at[pair.x] = at[pair.y] + at[pair.ahead]
            elif pair.is_window and not used.intersection((pair.x, pair.y)):
                at[pair.x], at[pair.y] = max(0, at[pair.ahead]), max(0, -at[pair.ahead])
        x, y = ({n: at[v] for n, (v,) in names.items()} for names in (self.frame.x, self.frame.y))
        return x, y

    def _tie(self, pair: Pair, used: set[int], largest: bool) -> None:
        """Add what holds between the variables of a pair, as far as other constraints need it."""
        ahead, x, y = pair.ahead, pair.x, pair.y
        largest &= pair is self.frame.pairs[0]
        if pair in self._by_difference:
            if y in used or largest:
                self.rows.append(Row(0, ((ahead, 1), (y, 1)), False))
                self.rows.append(Row(pair.last, ((ahead, -1), (y, -1)), False))
                used |= {ahead, y}
        elif pair.is_window and (largest or x in used or y in used):
            self.rows.append(Row(0, ((x, 1), (y, -1), (ahead, -1)), True))
            used |= {ahead, x, y}

    # ------------------------------------------------------------ rows

    def _row(self, const: int, terms: Mapping[int, int], equal: bool) -> bool:
        """Add a constraint; False when its bounds or divisibility show that it cannot hold."""
        low, high = self.low, self.high
        least = most = const
        for v, c in terms.items():
            if c > 0:
                least += c * low[v]
                most += c * high[v]
            elif c:
                least += c * high[v]
                most += c * low[v]
        if most < 0 or (equal and least > 0):
            self.refuted = True
            return False
        kept = [(v, c) for v, c in terms.items() if c]
        if not kept:
            return True
        if equal and const and const % gcd(*(c for _, c in kept)):
            self.refuted = True
            return False
        self.rows.append(Row(const, kept, equal))
        return True

    def _add(self, row: dict[int, int], form: Affine, factor: int, is_x: bool) -> int:
        """Add factor * form of x or y to a row; return the constant part."""
        names = self._x if is_x else self.frame.y
        for atom, coefficient in form.terms.items():
            if isinstance(atom, str):
                variables = names[atom]
            elif isinstance(atom, Division):
                quotient, rest = self._division(atom, is_x)
                variables = quotient if atom.op == "//" else rest
            else:
                variables = self._anything(atom, is_x)
            for v in variables:
                row[v] = row.get(v, 0) + factor * coefficient
        return factor * form.const

    def _anything(self, atom: Atom, is_x: bool) -> Variables:
        self.vague = True
        if (is_x, atom) not in self._opaque:
            self._opaque[is_x, atom] = (self._new(*self.forms.atom_range(atom)),)
        return self._opaque[is_x, atom]

    def _division(self, atom: Division, is_x: bool) -> tuple[Variables, Variables]:
        """Quotient and remainder; of equal divisions of x and y, x's as y's and by how much it is ahead."""
        plain = Division("//", atom.arg, atom.by)
        known = self._divisions.get((is_x, plain))
        if known is not None:
            return known
        is_shared = plain.arg.quasi_affine and self.frame.shared.issuperset(atom_scopes(plain))
        made: tuple[Variables, Variables]
        if is_x and not is_shared and plain in self._divisions_of_y():
            quotient, rest = self._division(plain, False)
            low, high = self.forms.atom_range(plain)
            more, more_rest = self._new(low - high, high - low), self._new(1 - atom.by, atom.by - 1)
            made = (*quotient, more), (*rest, more_rest)
            self._difference(plain, more, more_rest)
            for variables, bounds in zip(made, ((low, high), (0, atom.by - 1)), strict=True):
                self._row(-bounds[0], dict.fromkeys(variables, 1), False)
                self._row(bounds[1], dict.fromkeys(variables, -1), False)
        else:
            made = (self._new(*self.forms.atom_range(plain)),), (self._new(0, atom.by - 1),)
        self._divisions[is_x, plain] = made
        if is_shared:
            self._divisions[not is_x, plain] = made
        row: dict[int, int] = {}
        const = self._add(row, plain.arg, 1, is_x)
        for v in made[0]:
            row[v] = row.get(v, 0) - atom.by
        for v in made[1]:
            row[v] = row.get(v, 0) - 1
        self._row(const, row, True)
        return made

    def _difference(self, atom: Division, more: int, more_rest: int) -> None:
        row: dict[int, int] = {}
        self._add(row, atom.arg, 1, True)
        self._add(row, atom.arg, -1, False)
        row[more] = row.get(more, 0) - atom.by
        row[more_rest] = row.get(more_rest, 0) - 1
        self._row(0, row, True)

    def _divisions_of_y(self) -> set[Atom]:
        if self._y_divisions is None:
            self._y_divisions = {
                Division("//", a.arg, a.by)
                for form in self._of_y.indices
                for a in form.terms
                if isinstance(a, Division)
            }
        return self._y_divisions

    def _new(self, low: int, high: int) -> int:
        self.low.append(low)
        self.high.append(high)
        return len(self.low) - 1


def _same_stride(pair: Pair, x: Affine, y: Affine) -> bool:
    stride = x.terms.get(pair.x_scope)
    return stride is not None and stride == y.terms.get(pair.y_scope)


# ---------------------------------------------------------------- conditions


def conditions(known: Model, access: Access) -> tuple[Linear, bool]:
    """Return what conditions of an access say of linear forms, and whether that is all they say."""
    if not access.conditions:
        return (), True
    key = ("linear conditions", access)
    if key not in known.answers:
        known.answers[key] = _conditions(known.forms, access)
    return known.answers[key]  # type: ignore[return-value]


def _conditions(forms: Forms, access: Access) -> tuple[Linear, bool]:
    found, exact = [], True
    for expr, value in access.conditions:
        form = _comparison(forms, expr, value)
        if form is None:
            exact = False
        else:
            found.append(form)
    return tuple(found), exact


_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _comparison(forms: Forms, expr: Expr, value: bool) -> tuple[Affine, bool] | None:
    if not isinstance(expr, Op) or expr.op not in _NEGATED:
        return None
    left, right = (forms.form(a) for a in expr.args)
    if left is None or right is None:
        return None
    op = expr.op if value else _NEGATED[expr.op]
    if op == "ne":
        return None
    if op == "eq":
        return left.plus(right, -1), True
    more, less = (right, left) if op in ("lt", "le") else (left, right)
    form = more.plus(less, -1)
    return (form if op in ("le", "ge") else Affine(form.const - 1, form.terms)), False
