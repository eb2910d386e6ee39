"""Which copies are offered: those that are read more often than filled, or read in another order.

A copy is offered where it is made as seldom as it can be: not inside a scope on which it does not depend, but
where that scope runs concurrently, so that each thread fills its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.ir import CONCURRENT_MARKS, Iter, Op, Place, Scope
from perfdojo.compiler.lowering.layout import layout as placement
from perfdojo.compiler.transforms._bordered import bordered, bordered_reads
from perfdojo.compiler.transforms._proved import is_plain
from perfdojo.compiler.transforms._staging import Staging, boxed, listed, scopes_of

MOST_BYTES = 64 << 20
"""Largest copy that is offered: beyond the caches of any core it is one more pass over memory."""

REPEATED = frozenset(("stream", "frep"))
"""Marks of scopes whose bodies the hardware repeats as they are."""

Layout = tuple[str, ...] | None
Offer = tuple[str, str, Layout, bool, bool]
"""Buffer, node, layout, writes, border."""


def offers(known: Model) -> Iterator[Offer]:
    """Yield the copies that are legal and may pay, in the order of the text."""
    for name, place in known.explicit.scopes.items():
        if any(s.mark in REPEATED for s in place.around):
            continue
        groups: dict[str, list[Access]] = {}
        for access in known.within(name):
            groups.setdefault(access.load.buffer, []).append(access)
        for buffer, accesses in groups.items():
            if not _moves_with_parent(known, place, accesses) or not _is_repeated(known, place, accesses):
                continue
            if not is_plain(known, accesses):
                continue
            writes = any(a.writes for a in accesses)
            found = _writing(known, place, accesses) if writes else _reading(known, place, accesses)
            yield from ((buffer, name, layout, writes, border) for layout, border in found)


def _moves_with_parent(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> bool:
    """True when the scope around has another part of the buffer in each iteration, or runs concurrently."""
    if not place.around or place.around[-1].mark in CONCURRENT_MARKS:
        return True
    parent = place.around[-1].name
    return any(parent in form.scopes() for a in accesses for form in a.indices)


def _is_repeated(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> bool:
    """True when elements may be accessed twice, have a border, or are read in strides."""
    if len(accesses) > 1:
        return True
    access = accesses[0]
    inner = access.scopes[len(place.around) :]
    moving = [s for form in access.indices for s in form.scopes()]
    if len(set(moving)) < len(moving) or any(s.name not in moving for s in inner):
        return True
    return not access.writes and (bool(access.conditions) or _is_strided(known, access, inner[-1].name))


def _reading(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> Iterator[tuple[Layout, bool]]:
    count = _executions(known, place, accesses)
    load, is_one = accesses[0].load, all(a.load == accesses[0].load for a in accesses)
    order = scopes_of(place, accesses[0], [load.indices[d] for d in known.stored(load.buffer)])
    if all(a.conditions for a in accesses) and bordered_reads(place, load.buffer):
        yield from _bordered(known, place, accesses, count)
        return
    if len(accesses) > 1 or len(order) < len(accesses[0].scopes) - len(place.around):
        found = boxed(known, place, accesses, writes=False)
        if _pays(known, found, accesses, count) and not _is_all(known, found, load.buffer):
            yield None, False
    if not is_one or not order:
        return
    size = prod(known.forms.extents[s] for s in order)
    is_streamed = load.indices == tuple(map(Iter, order))
    if size > count or (size == count and not _is_strided(known, accesses[0], order[-1])):
        return
    found = listed(known, place, accesses, order, writes=False)
    if not _pays(known, found, accesses, count + 1):
        return
    for n, layout in enumerate(_orders(order)):
        if (n or not is_streamed) and (not n or size < count):
            yield layout, False


def _bordered(
    known: Model, place: Place[Scope], accesses: Sequence[Access], count: int
) -> Iterator[tuple[Layout, bool]]:
    if _pays(known, bordered(known, place, accesses, None), accesses, count + 1):
        yield None, True
    selects: set[Op] = {r.select for r in bordered_reads(place, accesses[0].load.buffer) or ()}
    if len(selects) > 1:
        return
    order = scopes_of(place, accesses[0], tuple(selects))
    size = prod(known.forms.extents[s] for s in order)
    if order and size < count and _pays(known, bordered(known, place, accesses, order), accesses, count):
        yield from ((layout, True) for layout in _orders(order))


def _writing(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> Iterator[tuple[Layout, bool]]:
    count = _executions(known, place, accesses)
    found = boxed(known, place, accesses, writes=True)
    if _pays(known, found, accesses, count) and not _is_all(known, found, accesses[0].load.buffer):
        yield None, False


def _orders(order: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the order of the text, then each scope as the fastest."""
    yield tuple(order)
    for n in range(len(order) - 2, -1, -1):
        yield (*order[:n], *order[n + 1 :], order[n])


def _executions(known: Model, place: Place[Scope], accesses: Sequence[Access]) -> int:
    """How often the accesses happen in one iteration of the scopes around."""
    depth = len(place.around)
    return sum(prod(known.forms.extents[s.name] for s in a.scopes[depth:]) for a in accesses)


def _pays(known: Model, found: object, accesses: Sequence[Access], count: int) -> bool:
    """True when the copy is legal, smaller than what is accessed, and fits a cache."""
    if not isinstance(found, Staging) or not found.proved or found.size >= count:
        return False
    return found.size * known.buffers[accesses[0].load.buffer].dtype.bytes <= MOST_BYTES


def _is_all(known: Model, found: object, buffer: str) -> bool:
    """True when the copy of a box is the whole buffer, element for element."""
    assert isinstance(found, Staging)
    return tuple(extent for _, extent in found.dims) == known.shape(buffer)


def _is_strided(known: Model, access: Access, scope: str) -> bool:
    """True when neighbouring iterations of a scope do not read neighbouring elements."""
    strides = placement(known.buffers[access.load.buffer]).strides
    step = sum(f.terms.get(scope, 0) * s for f, s in zip(access.indices, strides, strict=True))
    return abs(step) != 1
