"""Linear forms of index arithmetic: a constant and multiples of numbered atoms."""

from __future__ import annotations

from typing import NamedTuple


class Linear(NamedTuple):
    """const + sum of coefficient * atom; `terms` are (number of the atom, coefficient), sorted."""

    const: int
    terms: tuple[tuple[int, int], ...] = ()


def plus(a: Linear, b: Linear, factor: int = 1) -> Linear:
    """Return a + factor * b."""
    if not b.terms:
        return Linear(a.const + factor * b.const, a.terms)
    terms = dict(a.terms)
    for number, coefficient in b.terms:
        terms[number] = terms.get(number, 0) + factor * coefficient
    kept = tuple(sorted((n, c) for n, c in terms.items() if c))
    return Linear(a.const + factor * b.const, kept)


def times(a: Linear, factor: int) -> Linear:
    """Return a * factor."""
    if factor == 0:
        return Linear(0)
    return Linear(a.const * factor, tuple((n, c * factor) for n, c in a.terms))


def split(a: Linear, number: int) -> tuple[int, Linear]:
    """Return the coefficient of atom `number` in `a`, and `a` without it."""
    for n, c in a.terms:
        if n == number:
            return c, Linear(a.const, tuple(t for t in a.terms if t[0] != number))
    return 0, a
