"""Copies of a buffer with its border: `lo <= e and e < hi ? x[e] : literal` becomes one read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from perfdojo.compiler.analysis.accesses import Access, Condition, Model, parts
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.coverage import exactly
from perfdojo.compiler.analysis.footprint import Extent, hull
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Expr, Iter, Literal, Load, Op
from perfdojo.compiler.transforms._forms import spelled_form
from perfdojo.compiler.transforms._proved import Region, is_filled, is_plain, meets_writes
from perfdojo.compiler.transforms._staging import (
    ZERO,
    Staging,
    box_dims,
    box_element,
    box_indices,
    by_data,
    not_along,
)
from perfdojo.compiler.transforms.base import Violation
from perfdojo.compiler.walk import children, loads


@dataclass(frozen=True, slots=True)
class Bordered:
    """A read that a select keeps in its bounds.

    Attributes:
        select: the whole.
        held: conditions under which it reads.
        border: what it is elsewhere.
    """

    select: Op
    held: tuple[Condition, ...]
    load: Load
    border: Literal


def bordered_reads(known: Model, accesses: Sequence[Access]) -> list[Bordered] | None:
    """Return what the accesses to a buffer read, when all stand in selects with a literal; else None."""
    name = accesses[0].load.buffer
    found: list[Bordered] = []
    for position in dict.fromkeys(a.position for a in accesses):
        key = ("bordered", position, name)
        if key not in known.answers:
            statement = known.statements[position][1]
            exprs = (*statement.target.indices, statement.value, statement.guard)
            known.answers[key] = [one for e in exprs if e is not None for one in _reads(e, name)]
        for one in cast("list[Bordered | None]", known.answers[key]):
            if one is None:
                return None
            found.append(one)
    return found


def _reads(expr: Expr, name: str) -> Iterator[Bordered | None]:
    """Yield each read of a buffer with the select around it, None for one without."""
    if isinstance(expr, Op) and expr.op == "select":
        c, a, b = expr.args
        for load, border, value in ((a, b, True), (b, a, False)):
            if isinstance(load, Load) and load.buffer == name and isinstance(border, Literal):
                yield Bordered(expr, parts(c, value), load, border)
                inner = (c, *load.indices)
                break
        else:
            inner = expr.args
    else:
        if isinstance(expr, Load) and expr.buffer == name:
            yield None
        inner = children(expr)
    for e in inner:
        yield from _reads(e, name)


def bordered(
    known: Model, place: Region, accesses: Sequence[Access], layout: Sequence[str] | None
) -> Staging | Violation:
    """Return the copy that holds the values of the selects around all reads of a buffer."""
    name = accesses[0].load.buffer
    found = bordered_reads(known, accesses)
    if not found:
        return Violation(4, f"a read of {name} in {place.node.name} is not 'CONDITION ? {name}[..] : NUMBER'")
    if any(True for one in found for e in (one.select.args[0], *one.load.indices) for _ in loads(e)):
        return Violation(4, f"data decide whether {place.node.name} reads {name}, or what of it")
    if len({repr(one.border) for one in found}) > 1:
        return Violation(4, f"the reads of {name} in {place.node.name} have different borders")
    if layout is None:
        return _box(known, place, accesses, found)
    return _list(known, place, accesses, found, layout)


def _list(
    known: Model, place: Region, accesses: Sequence[Access], found: list[Bordered], layout: Sequence[str]
) -> Staging | Violation:
    one, name = found[0], accesses[0].load.buffer
    if len({repr(other.select) for other in found}) > 1:
        reason = f"{place.node.name} reads {name} by more than one expression"
        return Violation(5, reason, "leave out 'layout', which copies a box")
    stored = known.stored(name)
    exprs = [one.select.args[0], *(one.load.indices[d] for d in stored)]
    wrong = not_along(place, accesses[0], exprs, layout)
    if wrong is not None:
        return wrong
    element = tuple(e if d in stored else ZERO for d, e in enumerate(one.load.indices))
    value = Op("select", tuple(Load(name, element) if e == one.load else e for e in one.select.args))
    dims = tuple((s, known.forms.extents[s]) for s in layout)
    proved = is_plain(known, accesses) and any(a.conditions == one.held for a in accesses)
    return Staging(dims, element, value, (), {one.select: tuple(map(Iter, layout))}, proved)


def _box(
    known: Model, place: Region, accesses: Sequence[Access], found: list[Bordered]
) -> Staging | Violation:
    name = accesses[0].load.buffer
    stored = known.stored(name)
    box = hull(known, accesses, len(place.around), stored, clip=False)
    if box is None:
        reason = f"the reads of {name} in {place.node.name} move differently with the scopes around it"
        return Violation(6, reason)
    wrong = by_data(known, accesses, box)
    if wrong is not None:
        return wrong
    agreed = _limits(known, found, {a.load: a for a in accesses})
    if agreed is None:
        reason = f"a condition around a read of {name} in {place.node.name} is no bound of its indices"
        return Violation(4, reason, "the selects differ, or test something else")
    tests: list[Expr] = []
    for d, extent in zip(stored, box.extents, strict=True):
        tests += _tests(known, d, extent, agreed[d])
        low, high = _reach(known, extent)
        if max(low, agreed[d][0]) < 0 or min(high, agreed[d][1]) >= known.shape(name)[d]:
            return Violation(4, f"index {d} of {name} can leave its bounds; no select keeps it in")
    indices = box_indices(accesses, stored, box)
    element = box_element(known, name, box)
    value: Expr = Load(name, element)
    if tests:
        condition = tests[0]
        for test in tests[1:]:
            condition = Op("and", (condition, test))
        value = Op("select", (condition, value, found[0].border))
    proved = (
        is_plain(known, accesses) and is_filled(known, place, name) and not meets_writes(known, place, name)
    )
    replaced: dict[Expr, tuple[Expr, ...]] = {one.select: indices[one.load] for one in found}
    return Staging(box_dims(stored, box), element, value, (), replaced, proved)


_FAR = 1 << 62
Limits = tuple[int, int]
"""Smallest and largest index, both included."""


def _limits(known: Model, found: list[Bordered], of: Mapping[Load, Access]) -> dict[int, Limits] | None:
    """The indices, by dimension, that all selects agree to read; None when they do not agree."""
    own = [_own_limits(known, one, of[one.load]) for one in found]
    agreed: dict[int, Limits] = {}
    for d in known.stored(found[0].load.buffer):
        reaches = [known.forms.range(of[one.load].indices[d]) for one in found]
        pairs = [(o[d], r) for o, r in zip(own, reaches, strict=True) if o is not None]
        lows = {o[0] for o, r in pairs if o[0] > r[0]}
        highs = {o[1] for o, r in pairs if o[1] < r[1]}
        low, high = max(lows, default=-_FAR), min(highs, default=_FAR)
        agreed[d] = low, high
        if any(max(o[0], r[0]) != max(low, r[0]) or min(o[1], r[1]) != min(high, r[1]) for o, r in pairs):
            return None
    return None if None in own else agreed


def _own_limits(known: Model, one: Bordered, access: Access) -> dict[int, Limits] | None:
    """The bounds of the indices that one select states; None when it tests something that is no bound."""
    indices = [(d, access.indices[d]) for d in known.stored(one.load.buffer)]
    limits = dict.fromkeys((d for d, _ in indices), (-_FAR, _FAR))
    for condition in one.held:
        held = exactly(known, condition)
        if held is None:
            return None
        for form in held:
            if known.forms.range(form)[0] >= 0:
                continue
            for d, index in indices:
                low, high = limits[d]
                if index.terms and index.terms == form.terms:
                    limits[d] = max(low, index.const - form.const), high
                    break
                if index.terms and not form.plus(index).terms:
                    limits[d] = low, min(high, form.const + index.const)
                    break
            else:
                return None
    return limits


def _reach(known: Model, extent: Extent) -> tuple[int, int]:
    low, high = known.forms.range(extent.base)
    return low, high + extent.stride * (extent.count - 1)


def _tests(known: Model, d: int, extent: Extent, limits: Limits) -> Iterator[Op]:
    low, high = _reach(known, extent)
    moved = extent.base if extent.count == 1 else extent.base.plus(Affine(0, {str(d): extent.stride}))
    index = spelled_form(moved)
    if low < limits[0]:
        yield Op("ge", (index, Literal(limits[0], I64)))
    if high > limits[1]:
        yield Op("lt", (index, Literal(limits[1] + 1, I64)))
