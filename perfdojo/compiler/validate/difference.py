"""Where two unequal terms first differ, and how each reads around that point."""

from __future__ import annotations

from collections import Counter

from perfdojo.compiler.validate.notation import GROUPS, SHOWN, Shown, join, show
from perfdojo.compiler.validate.terms import Terms

DEPTH = 3
"""Nested operations shown from the point of difference on."""

AROUND = 2
"""Operations shown around it."""

_PLAIN = {plain: group for group, plain in GROUPS.items()}


def difference(terms: Terms, first: int, second: int) -> tuple[str, str]:
    """Return the texts of two unequal terms around the first point at which they differ.

    Operands are compared from left to right; those of sums, products, minima and maxima that may be
    reordered as multisets, of which only what one side lacks is shown.
    """
    path: list[tuple[int, int]] = []
    while True:
        pair = _deeper(terms, first, second)
        if pair is None:
            break
        path.append((first, second))
        first, second = pair
    texts = _last(terms, first, second)
    for one, two in reversed(path[-AROUND:]):
        texts = show(terms, one, 2, {first: texts[0]}), show(terms, two, 2, {second: texts[1]})
        first, second = one, two
    return texts[0][0], texts[1][0]


def _deeper(terms: Terms, first: int, second: int) -> tuple[int, int] | None:
    """Return the one pair of operands in which two terms differ; None where they differ themselves."""
    if min(first, second) < terms.symbols:
        return None
    one, two = terms.nodes[first], terms.nodes[second]
    group = _group(one[0])
    if group != _group(two[0]) or len(one) == 1:
        return None
    if one[0] != two[0] or group.partition(".")[0] in GROUPS:
        left, right = _left_over(one[1:], two[1:])
        return (left[0], right[0]) if len(left) == len(right) == 1 else None
    return next(((a, b) for a, b in zip(one[1:], two[1:], strict=True) if a != b), None)


def _last(terms: Terms, first: int, second: int) -> tuple[Shown, Shown]:
    """Return the texts at the point of difference."""
    if min(first, second) >= terms.symbols:
        one, two = terms.nodes[first], terms.nodes[second]
        group = _group(one[0])
        if group == _group(two[0]) and group.partition(".")[0] in GROUPS:
            left, right = _left_over(one[1:], two[1:])
            return (
                join(terms, group, left[:SHOWN], len(one) - 1 - len(left[:SHOWN]), DEPTH, {}),
                join(terms, group, right[:SHOWN], len(two) - 1 - len(right[:SHOWN]), DEPTH, {}),
            )
    return show(terms, first, DEPTH, {}), show(terms, second, DEPTH, {})


def _group(op: str) -> str:
    """Return the operation; of two operands as one of any number where a group has such."""
    name, _, kind = op.partition(".")
    return f"{_PLAIN.get(name, name)}.{kind}"


def _left_over(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[list[int], list[int]]:
    left, right = Counter(one), Counter(two)
    return list((left - right).elements()), list((right - left).elements())
