"""Do reads still see the same values: writes that storage sharing, or a later evaluation, lets come between.

Exact by integer sets where indices and conditions are quasi-affine, with a quick answer where one dimension
or the order of the text decides; where data decide, every possibility counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import islpy as isl

from perfdojo.compiler.analysis.accesses import Access, Model, common_scopes, model
from perfdojo.compiler.analysis.bounds import iteration
from perfdojo.compiler.analysis.conflicts import apart
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.formula import point
from perfdojo.compiler.ir import Program

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Intruder:
    """A write that comes between a read and the write whose value it is to see.

    Attributes:
        at, written: the iterations of the scopes around the read and around the write.
    """

    read: Access
    write: Access
    at: Mapping[str, int]
    written: Mapping[str, int]

    def __str__(self) -> str:
        reader, writer = self.read.statement.name, self.write.statement.name
        return f"{reader}{_where(self.at)} would see what {writer} wrote{_where(self.written)}"


def _where(at: Mapping[str, int]) -> str:
    return f" at {', '.join(f'{n} = {i}' for n, i in at.items())}" if at else ""


# ---------------------------------------------------------------- storage that is shared


def sharing_dims(fine: Program | Model, buffer: str, dims: Sequence[int]) -> Intruder | None:
    """Return a read that sees another element's value when dimensions share storage; None when none does.

    It is the last write to the shared storage before the read that must name the element that is read. So
    this answers for both directions: where dimensions are dropped, and where they are made storage again.

    Args:
        fine: a program in which `dims` are materialised.
    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(fine)
    accesses = known.by_buffer.get(buffer, [])
    writes = [a for a in accesses if a.writes]
    stored = known.stored(buffer)
    same = [d for d in stored if d not in dims]
    differ = [d for d in stored if d in dims]
    for read in accesses:
        if read.reads:
            for other in writes:
                found = _intruder(known, read, other, writes, same, differ)
                if found is not None:
                    return found
    return None


def sharing_buffers(program: Program | Model, a: str, b: str, exact: bool = True) -> Intruder | None:
    """Return a read of one of two buffers of one shape that sees the other's value in a shared storage.

    Args:
        exact: else it may be a read that does not; the answer takes microseconds.
    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(program)
    stored = list(known.stored(a))
    for own, other in ((a, b), (b, a)):
        writes = [x for x in known.by_buffer.get(own, ()) if x.writes]
        for read in known.by_buffer.get(own, ()):
            if not read.reads:
                continue
            for write in known.by_buffer.get(other, ()):
                if write.writes:
                    found = _intruder(known, read, write, writes, stored, [], exact)
                    if found is not None:
                        return found
    return None


def _intruder(
    known: Model,
    read: Access,
    other: Access,
    own: Sequence[Access],
    same: Sequence[int],
    differ: Sequence[int],
    exact: bool = True,
) -> Intruder | None:
    """The first read and earlier write to its storage but not its element, none of its own between.

    Args:
        own: writes to the buffer that is read.
        same, differ: dimensions in which storage is compared; in one of `differ` the element must be another.
        exact: else every pair that is not quickly excluded is an intruder.
    """
    if _never_meet(known, read, other, same, differ):
        return None
    if not differ and (
        any(_replaces(write, other, read, same) for write in own) or _begins_later(known, own, other, read)
    ):
        return None
    if not exact:
        return Intruder(read, other, {}, {})
    common = common_scopes(read, other)
    sets = known.sets
    with sets.decided():
        places = list(known.stored(read.load.buffer))
        meet = _meeting(
            known, len(places), [places.index(d) for d in same], [places.index(d) for d in differ]
        )
        shared = sets.possible(read).apply_range(meet).apply_range(sets.possible(other).reverse())
        pairs = shared.intersect(_earlier(known, read, other))
        for write in sorted(own, key=lambda w: -common_scopes(read, w)):
            if pairs.is_empty():
                return None
            certain = sets.certain(write)
            if certain is None:
                continue
            seen = sets.possible(read).apply_range(certain.reverse()).intersect(_earlier(known, read, write))
            pairs = pairs.subtract(seen.apply_range(_earlier(known, write, other)))
        if pairs.is_empty():
            return None
        at = sets.first_point(pairs.wrap())
    depth = len(read.scopes)
    assert common <= depth
    return Intruder(read, other, iteration(read.scopes, at[:depth]), iteration(other.scopes, at[depth:]))


def _meeting(known: Model, rank: int, same: Sequence[int], differ: Sequence[int]) -> isl.Map:
    """Relation of elements that share storage: equal in `same`, another one in some of `differ`."""
    e, f = [f"e{n}" for n in range(rank)], [f"f{n}" for n in range(rank)]
    limits = [f"{e[n]} = {f[n]}" for n in same]
    if differ:
        limits.append("(" + " or ".join(f"{e[n]} != {f[n]}" for n in differ) + ")")
    return known.sets.map(f"{{ {point(e)} -> {point(f)} : {' and '.join(limits) or '1 = 1'} }}")


def _never_meet(
    known: Model, read: Access, other: Access, same: Sequence[int], differ: Sequence[int]
) -> bool:
    """True when single dimensions show that no earlier write of `other` can stand where `read` reads."""
    common = common_scopes(read, other)
    if not all(apart(known, read, other, level, dims=same) for level in range(common)):
        return False
    if other.position >= read.position:
        return True
    around = {s.name for s in read.scopes[:common]}
    return bool(differ) and all(
        read.indices[d] == other.indices[d]
        and read.indices[d].quasi_affine
        and around.issuperset(read.indices[d].scopes())
        for d in differ
    )


def _replaces(write: Access, other: Access, read: Access, same: Sequence[int]) -> bool:
    """True when each element that `other` writes is written behind it in the same iteration."""
    return (
        other.position < write.position < read.position
        and not write.conditions
        and [s.name for s in write.scopes] == [s.name for s in other.scopes]
        and all(write.indices[d] == other.indices[d] and write.indices[d].quasi_affine for d in same)
    )


def _begins_later(known: Model, own: Sequence[Access], other: Access, read: Access) -> bool:
    """True when, in each iteration around `other` and the read, what the read may see is written behind."""
    shared = common_scopes(other, read)
    if any(w.position <= other.position or common_scopes(w, other) > shared for w in own):
        return False
    return shared == 0 or is_private(known, read.scopes[shared - 1].name, read.load.buffer, exact=False)


def _earlier(known: Model, later: Access, earlier: Access) -> isl.Map:
    """Iterations of `later` -> iterations of `earlier` that run before them."""
    common = common_scopes(later, earlier)
    found = known.sets.map(_nothing(len(later.scopes), len(earlier.scopes)))
    for level in range(common + (earlier.position < later.position)):
        found = found.union(known.sets.before(later, earlier, level, common))
    return found


def _nothing(a: int, b: int) -> str:
    one, two = point(f"a{n}" for n in range(a)), point(f"b{n}" for n in range(b))
    return f"{{ {one} -> {two} : 1 = 0 }}"


# ---------------------------------------------------------------- values that are computed again


def private_depth(program: Program | Model, buffer: str) -> int:
    """Return how many outermost scopes are surely in one iteration in each read and in the write it sees."""
    known = model(program)
    accesses = known.by_buffer[buffer]
    common = accesses[0].scopes
    for a in accesses[1:]:
        common = common[: common_scopes(accesses[0], a)] if len(common) else ()
    for depth in range(len(common), 0, -1):
        if is_private(known, common[depth - 1].name, buffer, exact=False):
            return depth
    return 0


def changed_between(
    known: Model, producer: Access, read: Access, equal: int, exact: bool = True
) -> Iterator[tuple[Access, Access]]:
    """Yield what the value of a statement loads and a write that can change it before the value is used.

    Args:
        producer: the write of the only statement that writes its buffer.
        read: a read of that buffer, which sees the value of the element that it names.
        equal: how many outermost scopes are in the same iteration in both; more where an index says so.
        exact: else writes that are not quickly excluded count.
    Raises:
        Undecided: the sets are too complicated.
    """
    common = producer.scopes[: common_scopes(producer, read)]
    pairs = list(zip(producer.indices, read.indices, strict=True))
    while equal < len(common) and any(
        p == r and p.const == 0 and p.terms == {common[equal].name: 1} for p, r in pairs
    ):
        equal += 1
    for load in known.accesses[producer.position]:
        if load.reads:
            for write in known.by_buffer[load.load.buffer]:
                if write.writes and not _in_order(known, producer, load, read, write, equal, exact):
                    yield load, write


def _in_order(
    known: Model, producer: Access, load: Access, read: Access, write: Access, equal: int, exact: bool
) -> bool:
    """True when no `write` to what `load` names runs between the producer and the read."""
    shared, with_producer = common_scopes(write, read), common_scopes(write, producer)
    if shared <= equal and producer.position < read.position:
        if write.position > read.position:
            return True
        levels = range(shared, with_producer)
        if write.position < producer.position and all(apart(known, load, write, n) for n in levels):
            return True
    if not exact:
        return False
    sets = known.sets
    with sets.decided():
        flow = sets.possible(read).apply_range(sets.possible(producer).reverse())
        flow = flow.intersect(_earlier(known, read, producer))
        flow = flow.intersect(_agreeing(known, read, producer, equal))
        clash = sets.possible(write).apply_range(sets.possible(load).reverse())
        after = clash.intersect(_earlier(known, write, producer))
        between = _earlier(known, read, write).apply_range(after)
        return bool(flow.intersect(between).is_empty())


def _agreeing(known: Model, x: Access, y: Access, equal: int) -> isl.Map:
    a, b = [f"a{n}" for n in range(len(x.scopes))], [f"b{n}" for n in range(len(y.scopes))]
    limits = " and ".join(f"{a[n]} = {b[n]}" for n in range(equal))
    return known.sets.map(f"{{ {point(a)} -> {point(b)} : {limits or '1 = 1'} }}")


def remembered(known: Model, key: tuple[object, ...], answer: Callable[[], T]) -> T:
    """Return the answer to a question about a program, asked once."""
    if key not in known.answers:
        known.answers[key] = answer()
    return cast(T, known.answers[key])
