"""What conditions say about others: comparisons of integers as linear forms, the rest as they are."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from perfdojo.compiler.validate.intervals import Intervals, Range
from perfdojo.compiler.validate.terms import Terms

Parts = tuple[tuple[int, int], ...]
"""Pairs (term, coefficient), by term."""
Fact = tuple[int, bool]
"""A condition, and whether it holds."""

CONTRARY = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
FAR = 1 << 70
"""Beyond every integer of the language, and every sum of a few."""


class Forms:
    """Linear forms of integer terms, as integers without end: what may wrap stays a term."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.intervals = terms, Intervals(terms)
        self._known: dict[int, tuple[int, Parts]] = {}

    def of(self, term: int) -> tuple[int, Parts]:
        """Return constant and parts of an integer term."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._find(term)
        return found

    def difference(self, cond: int) -> tuple[int, Parts] | None:
        """Return the form of a - b of a comparison of integers a and b, None for other conditions."""
        op, *args = self.terms.nodes[cond]
        if op.partition(".")[0] not in CONTRARY or any(self.intervals.type_of(a) is None for a in args):
            return None
        return combined(self.of(args[0]), self.of(args[1]), -1)

    def range(self, term: int) -> Range:
        """Return bounds of an integer term."""
        dtype = self.intervals.type_of(term)
        assert dtype is not None
        return self.intervals.range(term, dtype)

    def _find(self, term: int) -> tuple[int, Parts]:
        value = self.terms.ints.get(term)
        if value is not None:
            return value, ()
        itself = 0, ((term, 1),)
        if term < self.terms.symbols:
            return itself
        op, *args = self.terms.nodes[term]
        name = op.partition(".")[0]
        if name == "cast":
            same = self.intervals.type_of(args[0]) is not None and self.range(args[0]) == self.range(term)
            return self.of(args[0]) if same else itself
        dtype = self.intervals.type_of(term)
        assert dtype is not None
        if name not in ("add", "sub", "neg", "mul") or self.intervals.wraps(term, dtype):
            return itself
        forms = [self.of(a) for a in args]
        if name == "neg":
            return combined((0, ()), forms[0], -1)
        if name == "mul":
            factor = next((f for f in forms if not f[1]), None)
            other = forms[1] if factor is forms[0] else forms[0]
            return itself if factor is None else combined((0, ()), other, factor[0])
        return combined(forms[0], forms[1], 1 if name == "add" else -1)


class Facts:
    """Conditions that hold together.

    Args:
        held: none of them `and`, `or` or `not`.
    """

    def __init__(self, forms: Forms, held: tuple[Fact, ...]) -> None:
        self._forms = forms
        self._exact = dict(held)
        self._ranges: dict[Parts, Range] = {}
        for cond, value in held:
            self._note(cond, value)

    def decided(self, cond: int) -> bool | None:
        """Return what a condition is where the facts hold, None when they leave that open."""
        found = self._exact.get(cond)
        form = None if found is not None else self._forms.difference(cond)
        if form is None:
            return found
        low, high = self._range(form[1])
        low, high = low + form[0], high + form[0]
        name = self._forms.terms.nodes[cond][0].partition(".")[0]
        if name in ("eq", "ne"):
            equal = True if low == high == 0 else False if low > 0 or high < 0 else None
            return equal if equal is None or name == "eq" else not equal
        if name in ("gt", "le"):
            surely, never = low > 0, high <= 0
            return (name == "gt") == surely if surely or never else None
        surely, never = high < 0, low >= 0
        return (name == "lt") == surely if surely or never else None

    def _note(self, cond: int, value: bool) -> None:
        terms = self._forms.terms
        op, *args = terms.nodes[cond]
        name, _, kind = op.partition(".")
        form = self._forms.difference(cond)
        if name in ("eq", "ne") or form is not None:
            contrary = terms.get((f"{CONTRARY[name]}.{kind}", args[0], args[1]))
            if contrary is not None:
                self._exact[contrary] = not value
        if form is None or not form[1]:
            return
        const, parts = form
        low, high = {
            "lt": (-FAR, -1),
            "le": (-FAR, 0),
            "gt": (1, FAR),
            "ge": (0, FAR),
            "eq": (0, 0),
            "ne": (-FAR, FAR),
        }[name if value else CONTRARY[name]]
        low, high = low - const, high - const
        step = gcd(*(c for _, c in parts)) * (1 if parts[0][1] > 0 else -1)
        low, high = (low, high) if step > 0 else (-high, -low)
        parts = tuple((t, c // step) for t, c in parts)
        low, high = -(-low // abs(step)), high // abs(step)
        before = self._ranges.get(parts, (-FAR, FAR))
        self._ranges[parts] = max(low, before[0]), min(high, before[1])

    def _range(self, parts: Parts) -> Range:
        """Return bounds of a form without constant: by its terms, and by a fact and the rest."""
        low, high = self._by_terms(parts)
        for fact, (least, most) in self._ranges.items():
            for factor in _factors(parts, fact):
                rest = self._by_terms(combined((0, parts), (0, fact), -factor)[1])
                ends = least * factor, most * factor
                low, high = max(low, min(ends) + rest[0]), min(high, max(ends) + rest[1])
        return low, high

    def _by_terms(self, parts: Parts) -> Range:
        low = high = 0
        for term, c in parts:
            a, b = self._forms.range(term)
            least, most = self._ranges.get(((term, 1),), (a, b))
            ends = c * max(a, least), c * min(b, most)
            low, high = low + min(ends), high + max(ends)
        return low, high


def _factors(parts: Parts, fact: Parts) -> Iterator[int]:
    """Yield how often a fact's form goes into another one, so that a term of it is gone."""
    wanted = dict(parts)
    yield from {wanted[t] // c for t, c in fact if t in wanted and wanted[t] % c == 0}


def combined(a: tuple[int, Parts], b: tuple[int, Parts], factor: int) -> tuple[int, Parts]:
    """Return a + factor * b."""
    total = dict(a[1])
    for term, c in b[1]:
        total[term] = total.get(term, 0) + factor * c
    return a[0] + factor * b[0], tuple(sorted((t, c) for t, c in total.items() if c))
