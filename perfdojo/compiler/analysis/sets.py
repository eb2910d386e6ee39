"""Integer sets of a program, by isl: iteration domains, accesses, order of execution. Nothing is enumerated.

Iterations of a statement are points [i0, ..., ik], one dimension for each enclosing scope, outermost first;
elements of a buffer are points of its materialised dimensions. What has no quasi-affine form becomes an
extra variable that ranges over all its possible values, so sets come in two kinds: `may` holds every
iteration or element that is possible, `must` only those that are certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import islpy as isl

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.formula import Formula, point
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Expr
from perfdojo.compiler.walk import const_int

BUDGET = 100_000
"""isl operations for one question about an access or a pair of them. Most take some thousands, under a
millisecond; at the limit isl's sets have so many pieces that further operations take minutes."""


class Sets:
    """The integer sets of one program; questions are asked inside `with sets.decided()`."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.context = isl.Context()
        self.context.set_max_operations(BUDGET)
        self._possible: dict[tuple[int, bool], isl.Map] = {}
        self._certain: dict[int, isl.Map | None] = {}

    @contextmanager
    def decided(self) -> Iterator[None]:
        """Start a question with the whole budget; turn a spent one into `Undecided`."""
        self.context.reset_operations()
        try:
            yield
        except isl.Error as error:
            if "operations exceeded" not in str(error) and not self._is_spent():
                raise
            raise Undecided from error

    def _is_spent(self) -> bool:
        """True when nothing more can be asked; a text that is read then is told to be wrong."""
        try:
            self.set("{ [0] }")
        except isl.Error:
            return True
        return False

    def set(self, text: str) -> isl.Set:
        """Read a set."""
        return isl.Set.read_from_str(self.context, text)

    def map(self, text: str) -> isl.Map:
        """Read a relation."""
        return isl.Map.read_from_str(self.context, text)

    def domain(self, access: Access, must: bool = False) -> isl.Set:
        """Return the iterations in which an access happens: those possible, or those certain."""
        formula = Formula(self.model.forms, access.scopes)
        conditions = [formula.condition(c) for c in access.conditions]
        head = point(formula.names.values())
        if not must or not formula.unknown:
            return self.set(formula.text(head, conditions))
        never = formula.text(head, [f"not ({' and '.join(conditions)})"])
        plain = Formula(self.model.forms, access.scopes)
        return self.set(plain.text(head, ())).subtract(self.set(never))

    def possible(self, access: Access, whole: bool = False) -> isl.Map:
        """Return iteration -> elements that an access may touch.

        Args:
            whole: name elements in all dimensions, not only in those that are materialised.
        """
        key = (id(access), whole)
        if key not in self._possible:
            formula = Formula(self.model.forms, access.scopes)
            dims = self._dims(access, whole)
            parts = self._named(formula, access, dims)
            parts += [formula.condition(c) for c in access.conditions]
            self._possible[key] = self.map(formula.text(_arrow(access, dims), parts))
        return self._possible[key]

    def touched(self, access: Access, depth: int) -> isl.Map:
        """Return iteration of the outermost `depth` scopes -> elements (all dimensions) it may touch."""
        found = self.possible(access, whole=True)
        inner = len(access.scopes) - depth
        return found.project_out(isl.dim_type.in_, depth, inner) if inner else found

    def is_certain(self, access: Access) -> bool:
        """True when the iteration alone decides whether an access happens, and what it touches."""
        formula = Formula(self.model.forms, access.scopes)
        for index in access.indices:
            formula.affine(index)
        for condition in access.conditions:
            formula.condition(condition)
        return not formula.unknown

    def certain(self, access: Access) -> isl.Map | None:
        """Return iteration -> stored element that an access surely touches; None when data decide which."""
        if id(access) not in self._certain:
            self._certain[id(access)] = self._surely(access)
        return self._certain[id(access)]

    def _surely(self, access: Access) -> isl.Map | None:
        formula = Formula(self.model.forms, access.scopes)
        dims = self._dims(access, False)
        parts = self._named(formula, access, dims)
        if formula.unknown:
            return None
        found = self.map(formula.text(_arrow(access, dims), parts))
        return found.intersect_domain(self.domain(access, must=True)) if access.conditions else found

    def _dims(self, access: Access, whole: bool) -> Sequence[int]:
        return range(len(access.indices)) if whole else self.model.stored(access.load.buffer)

    def _named(self, formula: Formula, access: Access, dims: Sequence[int]) -> list[str]:
        """Constraints that tie e0, e1, ... to the element; those outside the buffer are another fault."""
        shape = self.model.shape(access.load.buffer)
        found = []
        for e, d in enumerate(dims):
            found += [f"e{e} = {formula.affine(access.indices[d])}", f"0 <= e{e} < {shape[d]}"]
        return found

    def meeting(
        self, x: Access, y: Access, depth: int, whole: bool = False
    ) -> tuple[list[int], list[int], list[int]] | None:
        """Return the first iterations of x and, later in the scope at `depth`, of y that name one element.

        The iterations of the scopes around that scope are the same; the element comes third.
        """
        return self._first(x, y, self.before(y, x, depth, depth + 1).reverse(), whole)

    def window(
        self, x: Access, y: Access, equal: int, windows: Sequence[Range]
    ) -> tuple[list[int], list[int], list[int]] | None:
        """Return the first iterations of x and of y in a window that name one element, and the element.

        Args:
            equal: how many outermost scopes are in the same iteration in both.
            windows: for each of the scopes that follow, the range of x's iteration number minus y's.
        """
        return self._first(x, y, self._windowed(x, y, equal, windows), False)

    def most(self, x: Access, y: Access, equal: int, lowest: int) -> int | None:
        """Return the largest difference of at least `lowest` in the scopes behind the `equal` outermost ones.

        It is that of x's iteration number minus y's, where both name one element; None when there is none.
        """
        order = self._windowed(x, y, equal, ((lowest, const_int(x.scopes[equal].extent) - 1),))
        pairs = self.possible(x).apply_range(self.possible(y).reverse()).intersect(order)
        return None if pairs.is_empty() else int(self._differences(pairs, equal).dim_max_val(0).to_python())

    def _windowed(self, x: Access, y: Access, equal: int, windows: Sequence[Range]) -> isl.Map:
        a = [f"a{d}" for d in range(len(x.scopes))]
        b = [f"b{d}" for d in range(len(y.scopes))]
        order = [f"{a[d]} = {b[d]}" for d in range(equal)]
        for d, (low, high) in enumerate(windows, equal):
            order.append(f"{low} <= {a[d]} - {b[d]} <= {high}")
        return self.map(f"{{ {point(a)} -> {point(b)} : {' and '.join(order) or '1 = 1'} }}")

    def _first(
        self, x: Access, y: Access, order: isl.Map, whole: bool
    ) -> tuple[list[int], list[int], list[int]] | None:
        """The first iterations of x and y in `order` that name one element, and the element."""
        one, two = self.possible(x, whole), self.possible(y, whole)
        pairs = one.apply_range(two.reverse()).intersect(order)
        if pairs.is_empty():
            return None
        at = self.first_point(pairs.wrap())
        i, j = at[: len(x.scopes)], at[len(x.scopes) :]
        both = one.intersect_domain(self.at(i)).range().intersect(two.intersect_domain(self.at(j)).range())
        return i, j, self.first_point(both)

    def outside(self, access: Access, dimension: int) -> tuple[list[int], int, list[Expr]] | None:
        """Return the first iteration in which an index can leave its buffer, its value, what it hangs on."""
        formula = Formula(self.model.forms, access.scopes)
        index = formula.affine(access.indices[dimension])
        conditions = [formula.condition(c) for c in access.conditions]
        leaves = f"({index} < 0 or {index} >= {self.model.shape(access.load.buffer)[dimension]})"
        names = formula.names.values()
        wrong = self.set(formula.text(point(names), [*conditions, leaves]))
        if wrong.is_empty():
            return None
        at = self.first_point(wrong)
        fixed = [f"{n} = {v}" for n, v in zip(names, at, strict=True)]
        values = self.set(formula.text("[x]", [*conditions, leaves, *fixed, f"x = {index}"], names))
        return at, self.first_point(values)[0], list(formula.unknown.values())

    def before(self, later: Access, earlier: Access, level: int, common: int) -> isl.Map:
        """Return iterations of `later` -> iterations of `earlier` that run before them at one level.

        Args:
            common: how many scopes enclose both.
            level: the common scope in which they differ first; `common` when they agree in all.
        """
        a = [f"a{d}" for d in range(len(later.scopes))]
        b = [f"b{d}" for d in range(len(earlier.scopes))]
        order = [f"{a[d]} = {b[d]}" for d in range(level)]
        if level < common:
            order.append(f"{b[level]} < {a[level]}")
        return self.map(f"{{ {point(a)} -> {point(b)} : {' and '.join(order) or '1 = 1'} }}")

    def at(self, iteration: Sequence[int]) -> isl.Set:
        """Return the set of one point."""
        return self.set(f"{{ {point(map(str, iteration))} }}")

    def distances(self, pairs: isl.Map, common: int) -> tuple[Range, ...]:
        """Return, for each of the common scopes, the range of sink minus source over pairs of iterations."""
        found = []
        for d in range(common):
            values = self._differences(pairs.reverse(), d)
            found.append((self.first_point(values)[0], int(values.dim_max_val(0).to_python())))
        return tuple(found)

    def _differences(self, pairs: isl.Map, d: int) -> isl.Set:
        """The differences of coordinate d, that of the first minus that of the second of a pair."""
        a = [f"a{d}" for d in range(pairs.dim(isl.dim_type.in_))]
        b = [f"b{d}" for d in range(pairs.dim(isl.dim_type.out))]
        return pairs.wrap().apply(self.map(f"{{ [{point(a)} -> {point(b)}] -> [a{d} - b{d}] }}"))

    def buffer(self, name: str) -> isl.Set:
        """Return all stored elements of a buffer."""
        shape = self.model.shape(name)
        stored = self.model.stored(name)
        limits = " and ".join(f"0 <= e{e} < {shape[d]}" for e, d in enumerate(stored))
        return self.set(f"{{ {point(f'e{e}' for e in range(len(stored)))} : {limits or '1 = 1'} }}")

    @staticmethod
    def first_point(found: isl.Set) -> list[int]:
        """Return the coordinates of the first point of a set that is bounded and not empty."""
        at = found.lexmin().sample_point()
        return [
            int(at.get_coordinate_val(isl.dim_type.set, d).to_python())
            for d in range(found.dim(isl.dim_type.set))
        ]


def _arrow(access: Access, dims: Sequence[int]) -> str:
    iteration = point(f"i{d}" for d in range(len(access.scopes)))
    return f"{iteration} -> {point(f'e{e}' for e in range(len(dims)))}"
