"""Small systems of linear constraints over integers in boxes: a solution, none, or too many steps.

Bounds are propagated through the constraints; what stays open is decided by trying values. Most systems that
analyses ask about need no trial, or none that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from perfdojo.compiler.analysis.undecided import Undecided

_TRIALS = 40
"""Propagations for one system; what is not solved by then is better left to isl."""
_ROUNDS = 12
"""Passes of one propagation; bounds that still move creep by single steps."""


class Row(NamedTuple):
    """const + sum of coefficient * variable, which is 0 (`equal`) or at least 0."""

    const: int
    terms: Sequence[tuple[int, int]]
    """(variable, coefficient), no coefficient 0."""
    equal: bool


def solve(
    rows: Sequence[Row], low: list[int], high: list[int], order: Sequence[int], largest: int | None = None
) -> list[int] | None:
    """Return values of all variables that satisfy all rows; None when there are none.

    Args:
        low, high: box of each variable; both are changed.
        order: the variables that occur, in the order of trying; each takes the value nearest to 0 first.
        largest: a variable that takes its largest value first: first in `order`, its maximum is found.
    Raises:
        Undecided: after too many trials.
    """
    trials = 0
    stack = [(low, high)]
    while stack:
        low, high = stack.pop()
        trials += 1
        if trials > _TRIALS:
            raise Undecided
        if not propagate(rows, low, high):
            continue
        at = [a if a > 0 else b if b < 0 else 0 for a, b in zip(low, high, strict=True)]
        if largest is not None:
            at[largest] = high[largest]
        if all(_holds(row, at) for row in rows):
            return at
        open_ = next((v for v in order if low[v] < high[v]), None)
        if open_ is None:
            continue
        a, b, first = low[open_], high[open_], at[open_]
        middle = (a + b) // 2
        halves = ((a, middle), (middle + 1, b))
        for start, stop in halves if open_ == largest else ((a, first - 1), (first + 1, b), (first, first)):
            if start <= stop:
                one, two = low.copy(), high.copy()
                one[open_], two[open_] = start, stop
                stack.append((one, two))
    return None


def _holds(row: Row, at: Sequence[int]) -> bool:
    total = row.const + sum(c * at[v] for v, c in row.terms)
    return total == 0 or (total > 0 and not row.equal)


def propagate(rows: Sequence[Row], low: list[int], high: list[int]) -> bool:
    """Tighten boxes to what each row leaves possible; False when a row cannot be satisfied."""
    for _ in range(_ROUNDS):
        changed = False
        for const, terms, equal in rows:
            least = most = const
            for v, c in terms:
                if c > 0:
                    least += c * low[v]
                    most += c * high[v]
                else:
                    least += c * high[v]
                    most += c * low[v]
            if most < 0 or (equal and least > 0):
                return False
            for v, c in terms:
                a, b = low[v], high[v]
                if a == b:
                    continue
                if c > 0:
                    start = b - most // c
                    stop = a - least // c - (least % c > 0) if equal else b
                else:
                    stop = a + most // -c
                    start = b + least // -c + (least % -c > 0) if equal else a
                if start > a:
                    low[v] = a = start
                    changed = True
                if stop < b:
                    high[v] = b = stop
                    changed = True
                if a > b:
                    return False
        if not changed:
            return True
    return True
