"""What a comparison of integer terms comes to, whatever the data are within their declared ranges."""

from __future__ import annotations

from perfdojo.compiler.dtypes import DTYPES, DType
from perfdojo.compiler.validate.integers import COMPARE, interval
from perfdojo.compiler.validate.terms import Terms
from perfdojo.compiler.walk import const_int

_FOLLOWED = frozenset(("add", "sub", "mul", "neg", "abs", "min", "max", "floordiv", "mod"))
Range = tuple[int, int]


class Intervals:
    """Smallest and largest values of integer terms, each worked out once."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._known: dict[int, Range] = {}

    def decided(self, name: str, dtype: DType, a: int, b: int) -> bool | None:
        """Return what the comparison `name` of two terms of one integer type is; None when data decide."""
        if a == b:
            return name in ("le", "ge", "eq")
        (low, high), (least, most) = self.range(a, dtype), self.range(b, dtype)
        if name in ("eq", "ne"):
            return None if low <= most and least <= high else name == "ne"
        if name in ("gt", "le"):
            (low, high), (least, most) = (least, most), (low, high)
        # now low..high < least..most decides lt and gt, and its contrary ge and le
        strict = name in ("lt", "gt")
        if high < least:
            return strict
        return not strict if low >= most else None

    def range(self, term: int, dtype: DType) -> Range:
        """Return the smallest and the largest value of a term of an integer type."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._worked_out(term, dtype)
        return found

    def _worked_out(self, term: int, dtype: DType) -> Range:
        whole = int(dtype.smallest), int(dtype.largest)
        if term in self.terms.ints:
            return self.terms.ints[term], self.terms.ints[term]
        if term < self.terms.symbols:
            values = self.terms.element(term)[0].values
            return whole if values is None else (const_int(values[0]), const_int(values[1]) - 1)
        op, *args = self.terms.nodes[term]
        name, _, kind = op.partition(".")
        if name == "cast":
            inner = self.type_of(args[0])
            if inner is None:
                return whole
            low, high = self.range(args[0], inner)
            return (low, high) if whole[0] <= low and high <= whole[1] else whole
        if name == "select":
            ranges = [self.range(a, dtype) for a in args[1:3]]
            return min(r[0] for r in ranges), max(r[1] for r in ranges)
        if name not in _FOLLOWED or DTYPES.get(kind) != dtype:
            return whole
        return whole if self.wraps(term, dtype) else self._unbounded(term, dtype)

    def wraps(self, term: int, dtype: DType) -> bool:
        """Tell whether an operation of an integer type may leave the range of the type."""
        low, high = self._unbounded(term, dtype)
        return low < dtype.smallest or high > dtype.largest

    def _unbounded(self, term: int, dtype: DType) -> Range:
        op, *args = self.terms.nodes[term]
        return interval(op.partition(".")[0], tuple(self.range(a, dtype) for a in args), dtype)

    def type_of(self, term: int) -> DType | None:
        """Return the integer type of a term, None for other terms."""
        if term < self.terms.symbols:
            found: DType | None = self.terms.element(term)[0].dtype
        else:
            name, _, kind = self.terms.nodes[term][0].partition(".")
            found = None if name in COMPARE else DTYPES.get(kind.partition(" ")[0])
        return found if found is not None and found.is_integer else None
