"""The original's normal forms, and a quick test of which sums cannot be among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from perfdojo.compiler.validate.gather import Forms, operands
from perfdojo.compiler.validate.terms import Terms


class Reference:
    """The normal forms of the original.

    Attributes:
        terms: all of them.
        lengths: how many operands the sums and products among them have, by group.
    """

    def __init__(self, table: Terms, terms: Iterable[int]) -> None:
        self.terms = frozenset(terms)
        self.lengths: dict[str, set[int]] = {}
        for term in self.terms:
            op, *args = table.nodes[term]
            if op.startswith(("sum.", "prod.")):
                self.lengths.setdefault(op, set()).add(len(args))


class Lengths:
    """How many operands each sum of a program has, counted step by step.

    A reduction of n steps is n sums, of which the original has one as a rule; it would take n^2 / 2 to make
    them all. A zero counts once in a sum, and -0.0 in a sum and 1 in a product do not count.
    """

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._known: dict[int, tuple[int, int]] = {}

    def note(self, term: int, group: str) -> None:
        """Count the operands of a step whose operands are done."""
        if not group.startswith(("sum.", "prod.")):
            return
        found: Counter[int] = Counter()
        parts = [self._of(o, group) for o, _ in operands(self._forms, term, found, 1)]
        parts += [self._leaf(o, group) for o in found]
        self._known[term] = sum(p[0] for p in parts), sum(p[1] for p in parts)

    def occurs(self, term: int, group: str, reference: Reference) -> bool:
        """Tell whether the original may have a sum with as many operands as this step's; one is no sum."""
        if term not in self._known:
            return True
        count, zeros = self._known[term]
        count += zeros > 0
        return count < 2 or count in reference.lengths.get(group, ())

    def _of(self, term: int, group: str) -> tuple[int, int]:
        normal = self._forms.known(term)
        if normal is not None:
            return self._leaf(normal, group)
        return self._known[term]

    def _leaf(self, term: int, group: str) -> tuple[int, int]:
        """Return how many operands a normal form adds, and how many zeros beside them."""
        op, *args = self._forms.terms.nodes[term]
        if op == group:
            zeros = sum(self._forms.terms.floats.get(a) == 0.0 for a in args)
            return len(args) - zeros, zeros
        value = self._forms.terms.floats.get(term)
        if value is None:
            return 1, 0
        if group.startswith("sum."):
            return (0, int(str(value) != "-0.0")) if value == 0 else (1, 0)
        return int(value != 1.0), 0
