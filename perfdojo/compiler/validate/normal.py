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

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.gather import gather
from perfdojo.compiler.validate.rules import Rules
from perfdojo.compiler.validate.terms import Terms

_EXACT_GROUPS = {"add": "sum", "sub": "sum", "neg": "sum", "mul": "prod", "min": "min*", "max": "max*"}
_ORDERED = {"add": "sum", "sub": "sum", "fma": "sum", "mul": "prod", "min": "min*", "max": "max*"}
_GROUPS = {"radd": "sum", "rmul": "prod", "rmin": "min*", "rmax": "max*"}


class Normal:
    """The normal forms of one program's terms at one level.

    Args:
        reference: the normal forms of the original's terms; None when this is the original.
    Attributes:
        made: all normal forms so far.
    """

    def __init__(self, terms: Terms, level: FpLevel, reference: frozenset[int] | None = None) -> None:
        self.terms, self.reference = terms, reference
        self.made: set[int] = set()
        self._rules = Rules(terms, level, self.made)
        self._free = level in ("reassoc", "fast")
        self._memo: dict[int, int] = {}
        self._group_of: dict[str, str] = {}

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
        memo, nodes = self._memo, self.terms.nodes
        todo, needed = set[int](), set(roots)
        stack = list(roots)
        while stack:
            top = stack.pop()
            if top in todo or top in memo:
                continue
            todo.add(top)
            key = nodes[top]
            stack.extend(key[1:])
            group = self.group(top)
            for place, child in enumerate(key[1:]):
                if not group or self.group(child) != group or not self._steps(top, place):
                    needed.add(child)
            guarded = self.guarded(top)
            if guarded is not None:
                needed.update(guarded)
        return todo, needed

    def group(self, term: int) -> str:
        """Return the sum, product, ... of any number of operands that a term is a step of, or ""."""
        op = self.terms.nodes[term][0]
        found = self._group_of.get(op)
        if found is None:
            found = self._group_of[op] = self._find_group(op)
        return f"sum.{op.partition('.')[2]}" if not found and self.guarded(term) is not None else found

    def guarded(self, term: int) -> list[int] | None:
        """Return x, or the factors of x, if a term is `g ? s + x : s` in a program that may reorder sums."""
        op, *args = self.terms.nodes[term]
        if self.reference is None or not self._free or not op.startswith("select.") or not self._is_float(op):
            return None
        step, *operands = self.terms.nodes[args[1]]
        if args[2] not in operands:
            return None
        if step.startswith("add."):
            operands.remove(args[2])
            return operands
        return operands[:2] if step.startswith("fma.") and operands[2] == args[2] else None

    def _find_group(self, op: str) -> str:
        name, _, kind = op.partition(".")
        if name in ("and", "or"):
            return f"{name}*.{kind}"
        dtype = DTYPES.get(kind)
        if dtype is None:
            return ""
        if not dtype.is_float:
            found = _EXACT_GROUPS.get(REDUCING.get(name, name), "")
        else:
            found = _GROUPS.get(name, "") if self._free else ""
            if self._free and self.reference is not None:
                found = found or _ORDERED.get(name, "")
        return f"{found}.{kind}" if found else ""

    def _steps(self, term: int, place: int) -> bool:
        """Tell whether operand `place` of a step is a step itself when it is of the same group."""
        op = self.terms.nodes[term][0]
        name = op.partition(".")[0]
        if name in ("fma", "select"):
            return place == 2 or (place == 1 and name == "select")
        if name in REDUCING:
            return place == 0 or (place == 1 and len(self.terms.nodes[term]) == 3)
        return name != "sub" or place == 0 or not DTYPES[op.partition(".")[2]].is_float

    # ------------------------------------------------------------ one term

    def _process(self, term: int, needed: bool) -> None:
        key, memo = self.terms.nodes[term], self._memo
        if term < self.terms.symbols or len(key) == 1:
            memo[term] = term
            self.made.add(term)
            return
        group = self.group(term)
        if not group:
            memo[term] = self._rules.build(key[0], [memo[c] for c in key[1:]])
            return
        ordered = self.reference is not None and self._is_float(key[0])
        reduces = key[0].partition(".")[0] in REDUCING
        if ordered and not reduces and self._as_written(term):
            return
        if not needed:
            return
        found = gather(self, term, group)
        self.made.add(found)
        if ordered and reduces and found not in (self.reference or ()) and self._as_written(term):
            return
        memo[term] = found

    def _as_written(self, term: int) -> bool:
        """Take a step as an operation of two operands where the original has it."""
        key, memo = self.terms.nodes[term], self._memo
        assert self.reference is not None
        if any(c not in memo for c in key[1:]):
            return False
        found = self._rules.build(key[0], [memo[c] for c in key[1:]])
        if found in self.reference:
            memo[term] = found
        return found in self.reference

    def _is_float(self, op: str) -> bool:
        return DTYPES[op.partition(".")[2]].is_float

    # ------------------------------------------------------------ for `gather`

    def known(self, term: int) -> int | None:
        """Return the normal form of a term if it has one already."""
        return self._memo.get(term)

    def build(self, op: str, args: list[int]) -> int:
        """Return the normal form of an operation on normal forms."""
        return self._rules.build(op, args)
