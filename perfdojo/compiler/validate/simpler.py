"""Terms made simpler: by numbers that a run took for granted, and by the conditions around a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from perfdojo.compiler.dtypes import BOOL, DTYPES
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.facts import Fact, Facts, Forms
from perfdojo.compiler.validate.integers import COMPARE, operation, wrap
from perfdojo.compiler.validate.terms import Key, Terms

EFFORTS = ((3, 20_000), (1, 200_000))
"""Conditions that are looked at around a value, the innermost ones, and visits of terms that may take."""

Held = tuple[Fact, ...]
_At = tuple[int, Held]


class TooMuch(Exception):
    """There are too many conditions around too many values."""


def simpler(terms: Terms, plain: Mapping[int, int], roots: Iterable[int]) -> Mapping[int, int]:
    """Return for each term one that has the same value, what conditions around decide left out.

    Args:
        plain: of each term, with numbers.
    """
    for conditions, visits in EFFORTS:
        inside = _Conditions(terms, conditions, visits)
        try:
            return {t: inside.of(plain[t]) for t in roots}
        except TooMuch:
            continue
        except RecursionError:
            break
    return plain


def with_numbers(terms: Terms, given: Mapping[int, int], roots: Iterable[int]) -> dict[int, int]:
    """Return for the terms, and all in them, terms of the same value whenever `given` terms have theirs.

    Args:
        given: terms of integers or bools, and constants that they equal.
    """
    todo, stack = set[int](), list(roots)
    while stack:
        top = stack.pop()
        if top not in todo:
            todo.add(top)
            stack.extend(terms.nodes[top][1:])
    done: dict[int, int] = {}
    for term in sorted(todo):
        op, *args = terms.nodes[term]
        found = given.get(term)
        if found is None:
            found = fold(terms, (op, *(done[a] for a in args))) if args else term
            found = given.get(found, found)
        done[term] = found
    return done


def fold(terms: Terms, key: Key) -> int:
    """Return the term of an operation; a smaller one where constants decide what it is."""
    op, *args = key
    name, _, kind = op.partition(".")
    if name == "select":
        if args[0] in (terms.true, terms.false):
            return args[1] if args[0] == terms.true else args[2]
        return args[1] if args[1] == args[2] else terms[key]
    if name in REDUCING and len(args) == 3 and args[2] in (terms.true, terms.false):
        return fold(terms, (op, args[0], args[1])) if args[2] == terms.true else args[0]
    if name in ("and", "or"):
        deciding, other = (terms.false, terms.true) if name == "and" else (terms.true, terms.false)
        if deciding in args:
            return deciding
        left = [a for a in args if a != other]
        return terms[key] if len(left) == 2 else left[0] if left else other
    if not all(a in terms.ints for a in args):
        return terms[key]
    values, dtype = [terms.ints[a] for a in args], DTYPES[kind]
    if name == "not":
        return terms.constant(BOOL, not values[0])
    if name == "cast":
        return terms[key] if dtype.is_float else terms.constant(dtype, wrap(values[0], dtype))
    exact = operation(REDUCING.get(name, name), dtype)
    if exact is None:
        return terms[key]
    return terms.constant(BOOL if name in COMPARE else dtype, exact(*values))


class _Conditions:
    """Simplifies values by the conditions under which they are taken.

    Args:
        conditions: looked at around a value, the innermost ones.
        visits: of a term under conditions.
    """

    def __init__(self, terms: Terms, conditions: int, visits: int) -> None:
        self.terms, self._most, self._left = terms, conditions, visits
        self._forms = Forms(terms)
        self._facts: dict[Held, Facts] = {}
        self._done: dict[_At, int] = {}
        self._bits: dict[int, int] = {}
        self._asked: dict[int, int] = {}

    def of(self, root: int) -> int:
        """Return the term simplified.

        Raises:
            TooMuch: it takes more visits.
        """
        first: _At = root, ()
        stack = [first]
        while stack:
            at = stack[-1]
            missing = [] if at in self._done else [n for n in self._needs(at) if n not in self._done]
            if missing:
                self._left -= len(missing)
                if self._left < 0:
                    raise TooMuch
                stack += missing
                continue
            if at not in self._done:
                self._done[at] = self._made(at)
            stack.pop()
        return self._done[first]

    def _needs(self, at: _At) -> list[_At]:
        """Return what has to be done before a term: its condition first, then what is taken under that."""
        term, held = at
        op, *args = self.terms.nodes[term]
        if term < self.terms.symbols:
            return []
        place = _condition(op, args)
        if place is None:
            return [self._at(a, held) for a in args]
        condition = self._at(args[place], held)
        if condition not in self._done:
            return [condition]
        return [condition, *(self._at(a, h) for a, h in self._taken(at, self._done[condition]))]

    def _taken(self, at: _At, condition: int) -> list[_At]:
        """Return the operands that are left when the condition is simplified, each under its conditions."""
        term, held = at
        op, *args = self.terms.nodes[term]
        name = op.partition(".")[0]
        true, false = condition == self.terms.true, condition == self.terms.false
        yes = held if true else (*held, *_split(self.terms, condition, True))
        no = held if false else (*held, *_split(self.terms, condition, False))
        if name == "select":
            return [*([] if false else [(args[1], yes)]), *([] if true else [(args[2], no)])]
        if name == "and":
            return [] if false else [(args[1], yes)]
        if name == "or":
            return [] if true else [(args[1], no)]
        return [(args[0], held), *([] if false else [(args[1], yes)])]

    def _made(self, at: _At) -> int:
        term, held = at
        op, *args = self.terms.nodes[term]
        if term < self.terms.symbols or not args:
            return self._decided(term, held)
        place = _condition(op, args)
        if place is None:
            made = fold(self.terms, (op, *(self._done[self._at(a, held)] for a in args)))
            return self._decided(made, held)
        condition = self._done[self._at(args[place], held)]
        parts = [self._done[self._at(a, h)] for a, h in self._taken(at, condition)]
        if condition in (self.terms.true, self.terms.false):
            if len(parts) == 2:  # a reduction that happens
                return fold(self.terms, (op, *parts))
            return parts[0] if parts else condition
        found = [*parts, condition] if place == 2 else [condition, *parts]
        return fold(self.terms, (op, *found))

    def _decided(self, term: int, held: Held) -> int:
        if not self._is_asked(term):
            return term
        # by its ranges alone, too: numbers that were put in may have made them small
        if held not in self._facts:
            self._facts[held] = Facts(self._forms, held)
        found = self._facts[held].decided(term)
        return term if found is None else self.terms.true if found else self.terms.false

    # ------------------------------------------------------------ what conditions are about

    def _at(self, term: int, held: Held) -> _At:
        """Return the term with those conditions that may say something about it."""
        if not held:
            return term, ()
        about = self._about(term)
        left = (f for f in dict.fromkeys(held) if self._about(f[0]) & about)
        return term, tuple(left)[-self._most :]

    def _about(self, term: int) -> int:
        """Return what the conditions in a term ask for, each a bit."""
        stack = [term]
        while stack:
            top = stack[-1]
            args = () if top < self.terms.symbols else self.terms.nodes[top][1:]
            missing = [a for a in args if a not in self._asked]
            if missing and top not in self._asked:
                stack += missing
                continue
            stack.pop()
            if top not in self._asked:
                parts = (self._asked[a] for a in args)
                self._asked[top] = reduce(int.__or__, parts, self._own(top) if self._is_asked(top) else 0)
        return self._asked[term]

    def _own(self, condition: int) -> int:
        form = self._forms.difference(condition)
        about = [condition] if form is None else [t for t, _ in form[1]]
        return reduce(int.__or__, (1 << self._bits.setdefault(t, len(self._bits)) for t in about), 0)

    def _is_asked(self, term: int) -> bool:
        """True for a condition that is no `and`, `or` or `not`."""
        return is_condition(self.terms, term) and self.terms.nodes[term][0] not in _LOGIC


_LOGIC = ("and.bool", "or.bool", "not.bool")


def is_condition(terms: Terms, term: int) -> bool:
    """Tell whether a term is a bool, and no constant."""
    if term in terms.ints:
        return False
    if term < terms.symbols:
        return terms.element(term)[0].dtype == BOOL
    name, _, kind = terms.nodes[term][0].partition(".")
    return name in COMPARE or kind == "bool"


def _condition(op: str, args: list[int]) -> int | None:
    """Return which operand decides whether others count; None when none does."""
    name = op.partition(".")[0]
    if name in ("select", "and", "or"):
        return 0
    return 2 if name in REDUCING and len(args) == 3 else None


def _split(terms: Terms, condition: int, value: bool) -> list[Fact]:
    """Return what is known when a condition has a value: parts of `and` when true, of `or` when false."""
    found: list[Fact] = []
    todo = [(condition, value)]
    while todo:
        term, v = todo.pop()
        op, *args = terms.nodes[term]
        if op == "not.bool":
            todo.append((args[0], not v))
        elif op == ("and.bool" if v else "or.bool"):
            todo += [(a, v) for a in reversed(args)]
        elif op not in ("and.bool", "or.bool"):
            found.append((term, v))
    return found
