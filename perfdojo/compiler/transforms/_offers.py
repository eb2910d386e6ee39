"""Which copies are offered: those that are read more often than filled, or read in another order.

A copy is offered where it is made as seldom as it can be: not inside a scope on which it does not depend, but
where that scope runs concurrently, so that each thread fills its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import cast

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.ir import CONCURRENT_MARKS, Op, Place, Scope
from perfdojo.compiler.lowering.layout import layout as placement
from perfdojo.compiler.transforms._bordered import bordered, bordered_reads
from perfdojo.compiler.transforms._proved import is_plain
from perfdojo.compiler.transforms._staging import Staging, box_around, boxed, listed, scopes_of

MOST_BYTES = 64 << 20
"""Largest copy that is offered: beyond the caches of any core it is one more pass over memory."""

REPEATED = frozenset(("stream", "frep"))
"""Marks of scopes whose bodies the hardware repeats as they are."""

Layout = tuple[str, ...] | None
Offer = tuple[str, str, Layout, bool, bool]
"""Buffer, node, layout, writes, border."""


def offers(known: Model, near: bool, far: bool = False) -> Iterator[Offer]:
    """Yield the copies that are legal and may pay, in the order of the text.

    Args:
        near: the machine has memories that are nearer than its caches; else a copy of neighbouring elements
            in their order gains nothing.
        far: arguments may lie where accesses take long: a copy pays though each element is accessed once.
    """
    for name, place in known.explicit.scopes.items():
        if any(s.mark in REPEATED for s in place.around):
            continue
        groups: dict[str, list[Access]] = {}
        for access in known.within(name):
            groups.setdefault(access.load.buffer, []).append(access)
        for buffer, accesses in groups.items():
            away = far and known.buffers[buffer].role != "tmp"
            if not _moves_with_parent(known, place, accesses):
                continue
            if not away and not _is_repeated(known, place, accesses):
                continue
            writes = any(a.writes for a in accesses)
            if writes and _is_own(known, accesses):
                continue
            if not is_plain(known, accesses):
                continue
            count = _executions(known, place, accesses)
            if writes:
                found = _box(known, place, accesses, True, count, True, away)
            else:
                found = _reading(known, place, accesses, count, near, away)
            yield from ((buffer, name, layout, writes, border) for layout, border in found)


def _is_own(known: Model, accesses: Sequence[Access]) -> bool:
    """True when nothing else accesses a temporary: it is a copy already."""
    name = accesses[0].load.buffer
    return known.buffers[name].role == "tmp" and len(accesses) == len(known.by_buffer[name])


def _moves_with_parent(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> bool:
    """True when the scope around has another part of the buffer in each iteration, or runs concurrently."""
    if not place.around or place.around[-1].mark in CONCURRENT_MARKS:
        return True
    parent = place.around[-1].name
    return any(parent in _moving(known, a) for a in accesses)


def _is_repeated(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> bool:
    """True when elements may be accessed twice, have a border, or are read in strides."""
    if len(accesses) > 1:
        return True
    access = accesses[0]
    inner = access.scopes[len(place.around) :]
    moving = _moving(known, access)
    if len(set(moving)) < len(moving) or any(s.name not in moving for s in inner):
        return True
    return not access.writes and (bool(access.conditions) or abs(_step(known, access, inner[-1].name)) != 1)


def _reading(
    known: Model, place: Place[Scope], accesses: Sequence[Access], count: int, near: bool, away: bool
) -> Iterator[tuple[Layout, bool]]:
    load, is_one = accesses[0].load, all(a.load == accesses[0].load for a in accesses)
    order = scopes_of(place, accesses[0], [load.indices[d] for d in known.stored(load.buffer)])
    if all(a.conditions for a in accesses) and bordered_reads(known, accesses):
        yield from _bordered(known, place, accesses, count)
        return
    if away or len(accesses) > 1 or len(order) < len(accesses[0].scopes) - len(place.around):
        yield from _box(known, place, accesses, False, count, near, away)
    if not is_one or not order:
        return
    size = prod(known.forms.extents[s] for s in order)
    if size > count or (size == count and abs(_step(known, accesses[0], order[-1])) == 1):
        return
    found = listed(known, place, accesses, order, writes=False)
    if not _pays(known, found, accesses, count + 1):
        return
    for n, layout in enumerate(_orders(accesses[0], order)):
        if (not n or size < count) and not _is_slab(known, accesses[0], layout):
            yield layout, False


def _bordered(
    known: Model, place: Place[Scope], accesses: Sequence[Access], count: int
) -> Iterator[tuple[Layout, bool]]:
    if _pays(known, bordered(known, place, accesses, None), accesses, count + 1):
        yield None, True
    selects: set[Op] = {r.select for r in bordered_reads(known, accesses) or ()}
    if len(selects) > 1:
        return
    order = scopes_of(place, accesses[0], tuple(selects))
    size = prod(known.forms.extents[s] for s in order)
    if order and size < count and _pays(known, bordered(known, place, accesses, order), accesses, count):
        yield from ((layout, True) for layout in _orders(accesses[0], order))


def _box(
    known: Model,
    place: Place[Scope],
    accesses: Sequence[Access],
    writes: bool,
    count: int,
    near: bool,
    away: bool,
) -> Iterator[tuple[Layout, bool]]:
    box = box_around(known, place, accesses, writes)
    if box is None or box.size >= count + away:
        return
    name = accesses[0].load.buffer
    shape, counts = known.shape(name), [e.count for e in box.extents]
    if not away and counts == [shape[d] for d in known.stored(name)]:
        return
    strides = _strides(known, name)
    steps = [e.stride * strides[d] for d, e in zip(known.stored(name), box.extents, strict=True)]
    if not near and _is_row_major(steps, counts):
        return
    if _pays(known, boxed(known, place, accesses, writes, box), accesses, count + away):
        yield None, False


def _orders(access: Access, order: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the order of the text, then each scope of the smallest steps along an index as the fastest."""
    yield tuple(order)
    finest: set[str] = set()
    for form in access.indices:
        steps = {s: abs(form.terms.get(s, 1)) for s in order if s in form.scopes()}
        finest |= {s for s, step in steps.items() if step == min(steps.values())}
    for n in range(len(order) - 2, -1, -1):
        if order[n] in finest:
            yield (*order[:n], *order[n + 1 :], order[n])


def _is_slab(known: Model, access: Access, layout: Sequence[str]) -> bool:
    """True when a copy along these scopes has the elements in the order in which they lie already."""
    return _is_row_major([_step(known, access, s) for s in layout], [known.forms.extents[s] for s in layout])


def _is_row_major(steps: Sequence[int], counts: Sequence[int]) -> bool:
    """True when the steps in memory along dimensions of these extents leave no gap, the last one fastest."""
    expected = 1
    for step, count in zip(reversed(steps), reversed(counts), strict=True):
        if count > 1 and step != expected:
            return False
        expected *= count
    return True


def _executions(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> int:
    """How often the accesses happen in one iteration of the scopes around."""
    depth = len(place.around)
    return sum(prod(known.forms.extents[s.name] for s in a.scopes[depth:]) for a in accesses)


def _pays(known: Model, found: object, accesses: Sequence[Access], count: int) -> bool:
    """True when the copy is legal, smaller than what is accessed, and fits a cache."""
    if not isinstance(found, Staging) or not found.proved or found.size >= count:
        return False
    return found.size * known.buffers[accesses[0].load.buffer].dtype.bytes <= MOST_BYTES


def _moving(known: Model, access: Access) -> list[str]:
    """The scopes that move an access, each as often as it occurs."""
    key = ("moving", id(access))
    if key not in known.answers:
        known.answers[key] = [s for form in access.indices for s in form.scopes()]
    return cast("list[str]", known.answers[key])


def _strides(known: Model, name: str) -> tuple[int, ...]:
    key = ("strides", name)
    if key not in known.answers:
        known.answers[key] = placement(known.buffers[name]).strides
    return cast("tuple[int, ...]", known.answers[key])


def _step(known: Model, access: Access, scope: str) -> int:
    """Elements in memory between neighbouring iterations of a scope."""
    strides = _strides(known, access.load.buffer)
    return sum(f.terms.get(scope, 0) * s for f, s in zip(access.indices, strides, strict=True))
