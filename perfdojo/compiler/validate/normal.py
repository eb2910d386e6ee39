"""Normal forms: what a floating-point level identifies gets one term.

Each level identifies what the levels before it do, and:

strict: of floats nothing but `s += x` and `s = s + x`. Of integers whatever is equal as integers modulo 2^n
    by reordering: sums with differences and negations, products, min and max (as sets), `and` and `or`
    likewise; constants are folded.
contract: fma(a, b, c) and a * b + c. To find that, rewritings that keep every bit: a - b and a + -b, -a * b
    and -(a * b), - -a and a, and the two orders of the operands of + and *.
reassoc: reductions (`+= *= max= min=`) in any order and grouping, reductions of reductions too: sums and
    products as multisets, max and min as sets. A start at 1, -inf or inf drops out, as does -0.0 from a sum.
    0.0 in a sum counts once, however often it occurs, but does not drop out: 0.0 + -0.0 is not -0.0.
fast: a / b and a * (1 / b), also where 1 / b is written as a literal; rsqrt(x) and 1 / sqrt(x).

Only reductions of the original may be reordered. In the transformed program any + may be a step of such a
reduction, be it written `s += x`, `s = fma(a, b, s)` or `s0 + s1`; it is taken as one where the original
has no such sum of two operands. That cannot make unequal programs equal: the transformed program does
compute the sum in one of the orders that the multiset stands for, and only the original says where all
orders are allowed.

A reduction under a guard that depends on data is `guard ? s + x : s`; where its order is free, the guard
goes with x.
"""

from __future__ import annotations

from collections.abc import Iterable

from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.gather import gather
from perfdojo.compiler.validate.groups import Groups
from perfdojo.compiler.validate.reference import Lengths, Reference
from perfdojo.compiler.validate.rules import Rules
from perfdojo.compiler.validate.terms import Terms


class Normal:
    """The normal forms of one program's terms at one level.

    Args:
        reference: the normal forms of the original's terms; None when this is the original.
    Attributes:
        made: all normal forms so far.
        groups: which terms are steps of sums, products, ... of any number of operands.
    """

    def __init__(self, terms: Terms, level: FpLevel, reference: Reference | None = None) -> None:
        self.terms, self.reference = terms, reference
        self.made: set[int] = set()
        self.groups = Groups(terms, level in ("reassoc", "fast"), reference is not None)
        self._rules = Rules(terms, level, self.made)
        self._memo: dict[int, int] = {}
        self._lengths = Lengths(self)
        self._foreign: set[int] = set()

    def of(self, roots: Iterable[int]) -> list[int]:
        """Return the normal form of each term."""
        roots = list(roots)
        todo, needed = self._reach(roots)
        for term in sorted(todo):
            self._process(term, term in needed)
        return [self._memo[t] for t in roots]

    def _reach(self, roots: list[int]) -> tuple[set[int], set[int]]:
        """Return the terms without a normal form yet, and those whose own form is wanted.

        A sum that only occurs as an operand of sums has none of its own: a reduction of n steps would
        otherwise have n forms of up to n operands.
        """
        memo, nodes, groups = self._memo, self.terms.nodes, self.groups
        todo, needed = set[int](), set(roots)
        stack = list(roots)
        while stack:
            top = stack.pop()
            if top in todo or top in memo:
                continue
            todo.add(top)
            key = nodes[top]
            stack.extend(key[1:])
            group = groups.of(top)
            for place, child in enumerate(key[1:]):
                if not group or groups.of(child) != group or not groups.continues(top, place):
                    needed.add(child)
            needed.update(groups.guarded(top) or ())
        return todo, needed

    def _process(self, term: int, needed: bool) -> None:
        key, memo = self.terms.nodes[term], self._memo
        if term < self.terms.symbols or len(key) == 1:
            memo[term] = term
            self.made.add(term)
            return
        group = self.groups.of(term)
        if not group:
            memo[term] = self._rules.build(key[0], [memo[c] for c in key[1:]])
            return
        if self.reference is None or not self.groups.is_float(key[0]):
            if needed:
                self._gather(term, group)
            return
        self._lengths.note(term, group)
        if key[0].partition(".")[0] not in REDUCING and self._as_written(term, self.reference):
            return
        if needed and self._gather(term, group) not in self.reference.terms:
            self._as_written(term, self.reference)

    def _gather(self, term: int, group: str) -> int:
        found = self._memo[term] = gather(self, term, group)
        self.made.add(found)
        return found

    def _as_written(self, term: int, reference: Reference) -> bool:
        """Take a step as an operation of two operands where the original has that."""
        op, *args = self.terms.nodes[term]
        if not all(self._settle(c, reference) for c in args):
            return False
        found = self._rules.build(op, [self._memo[c] for c in args])
        if found in reference.terms:
            self._memo[term] = found
        return found in reference.terms

    def _settle(self, term: int, reference: Reference) -> bool:
        """Give a step that was not wanted for itself the form that the original has, if it has it."""
        if term in self._memo:
            return True
        group = self.groups.of(term)
        if term in self._foreign or not self._lengths.occurs(term, group, reference):
            return False
        found = gather(self, term, group)
        if found in reference.terms:
            self._memo[term] = found
            return True
        self._foreign.add(term)
        return False

    # ------------------------------------------------------------ for `gather`

    def known(self, term: int) -> int | None:
        """Return the normal form of a term if it has one already."""
        return self._memo.get(term)

    def build(self, op: str, args: list[int]) -> int:
        """Return the normal form of an operation on normal forms."""
        return self._rules.build(op, args)
