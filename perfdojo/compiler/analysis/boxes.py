"""Boxes of elements that are surely written, relative to the iteration of the scopes that are open."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Condition
from perfdojo.compiler.analysis.affine import Affine, atom_scopes
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.walk import iterators

Box = tuple[Range, ...]
"""Smallest and largest offset in each materialised dimension."""


@dataclass(frozen=True, slots=True)
class Key:
    """What boxes are relative to.

    Attributes:
        linear: in each dimension, a form without constant over the open scopes; the offsets count from it.
        strides: in each dimension, (coefficient, iterations) of closed scopes that left gaps so far.
        conditions: the boxes are written only where these hold.
    """

    linear: tuple[Affine, ...]
    strides: tuple[tuple[tuple[int, int], ...], ...]
    conditions: frozenset[Condition]


Written = dict[str, dict[Key, list[Box]]]
"""By buffer."""


def grow(key: Key, boxes: list[Box], scope: str, extent: int) -> tuple[Key, list[Box]] | None:
    """Return what a closed scope leaves written behind it; None when boxes cannot say."""
    if any(scope in iterators(c) for c, _ in key.conditions):
        return None
    found: list[tuple[int, Affine, int]] = []
    for d, linear in enumerate(key.linear):
        if scope in linear.terms:
            coefficient = linear.terms[scope]
            rest = Affine(0, {a: c for a, c in linear.terms.items() if a != scope})
            found.append((d, rest, coefficient))
            linear = rest
        if any(scope in atom_scopes(a) for a in linear.terms if not isinstance(a, str)):
            return None
    if not found:
        return key, boxes
    if len(found) > 1:
        return None if extent > 1 else (_without(key, found), boxes)
    d, _, coefficient = found[0]
    changed = _without(key, found)
    strides = (*changed.strides[d], (coefficient, extent))
    grown, left = [], strides
    for i, box in enumerate(merged(boxes)):
        reach, open_ = fill(box[d], strides)
        if i and open_ != left:
            return None
        left = open_
        grown.append((*box[:d], reach, *box[d + 1 :]))
    every = (*changed.strides[:d], left, *changed.strides[d + 1 :])
    return Key(changed.linear, every, changed.conditions), grown


def _without(key: Key, found: list[tuple[int, Affine, int]]) -> Key:
    linear = list(key.linear)
    for d, rest, _ in found:
        linear[d] = rest
    return Key(tuple(linear), key.strides, key.conditions)


def fill(reach: Range, strides: tuple[tuple[int, int], ...]) -> tuple[Range, tuple[tuple[int, int], ...]]:
    """Grow an interval by strides that leave no gap, smallest first; return the rest of them."""
    low, high = reach
    ordered = sorted(strides, key=lambda s: abs(s[0]))
    while ordered and (abs(ordered[0][0]) <= high - low + 1 or ordered[0][1] == 1):
        coefficient, extent = ordered.pop(0)
        low, high = low + min(0, coefficient * (extent - 1)), high + max(0, coefficient * (extent - 1))
    return (low, high), tuple(ordered)


def add(frame: Written, buffer: str, key: Key, boxes: list[Box]) -> None:
    """Add boxes; neighbours in the order of the text become one."""
    known = frame.setdefault(buffer, {}).setdefault(key, [])
    for box in boxes:
        joined = _join(known[-1], box) if known else None
        if joined is not None:
            known[-1] = joined
        else:
            known.append(box)


def _join(a: Box, b: Box) -> Box | None:
    """Return the union of two boxes when it is a box."""
    differ = [d for d in range(len(a)) if a[d] != b[d]]
    if not differ:
        return a
    if len(differ) > 1:
        return b if _holds(b, a) else a if _holds(a, b) else None
    d = differ[0]
    if max(a[d][0], b[d][0]) > min(a[d][1], b[d][1]) + 1:
        return None
    return (*a[:d], (min(a[d][0], b[d][0]), max(a[d][1], b[d][1])), *a[d + 1 :])


def _holds(a: Box, b: Box) -> bool:
    return all(x[0] <= y[0] and y[1] <= x[1] for x, y in zip(a, b, strict=True))


def merged(boxes: list[Box]) -> list[Box]:
    """Return fewer boxes with the same elements: those that agree in all dimensions but one are joined."""
    if len(boxes) < 2:
        return boxes
    for d in range(len(boxes[0])):
        rows: dict[Box, list[Range]] = {}
        for box in boxes:
            rows.setdefault((*box[:d], *box[d + 1 :]), []).append(box[d])
        boxes = []
        for others, spans in rows.items():
            spans.sort()
            low, high = spans[0]
            for start, end in spans[1:]:
                if start > high + 1:
                    boxes.append((*others[:d], (low, high), *others[d:]))
                    low, high = start, end
                else:
                    high = max(high, end)
            boxes.append((*others[:d], (low, high), *others[d:]))
    return boxes
