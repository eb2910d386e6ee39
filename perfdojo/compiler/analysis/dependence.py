"""Dependences between iterations: what a scope carries, whether it may run concurrently or in vector lanes.

Two accesses to one buffer depend on each other when one of them writes and they name the same storage. All
questions are answered for the program with explicit starts; scopes and statements keep their names in it.
`is_parallel` and `is_vectorizable` take microseconds where one dimension keeps iterations apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from perfdojo.compiler.analysis.accesses import Access, Model, common_scopes, model
from perfdojo.compiler.analysis.conflicts import Conflict, all_apart, apart, depth_of, meet, surely_repeated
from perfdojo.compiler.analysis.coverage import Coverage
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.ir import Program

_MANY = 50
"""Accesses to a temporary buffer above which it is asked whether it is private before pairs are compared."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """`sink` runs after `source` and touches the same element, one of them writing.

    Attributes:
        source, sink: names of the statements.
        kind: flow (write, read), anti (read, write) or output (write, write).
        carrier: the outermost scope of whose iterations they run in different ones; None: all are the same.
        distance: for each scope around both, smallest and largest iteration of the sink minus the source's.
        reduction: both are reductions into the element with one sign: only rounding depends on the order.
    """

    source: str
    sink: str
    kind: OneOf["flow", "anti", "output"]
    buffer: str
    carrier: str | None
    distance: tuple[Range, ...]
    reduction: bool


# ---------------------------------------------------------------- questions


def is_parallel(program: Program | Model, scope: str) -> str | None:
    """Return why the iterations of a scope may not run at the same time; None when they may.

    Each iteration then has its own copy of the buffers in `private_buffers(program, scope)`.
    """
    found = conflict(model(program), scope)
    return None if found is None else str(found)


def is_vectorizable(program: Program | Model, scope: str) -> str | None:
    """Return why the iterations of a scope may not run in vector lanes; None when they may.

    As `is_parallel`, but reductions into one element with one sign are fine: `carried_reductions` names them.
    """
    found = conflict(model(program), scope, reductions=True)
    return None if found is None else str(found)


def conflict(program: Program | Model, scope: str, reductions: bool = False) -> Conflict | None:
    """Return two iterations of a scope that depend on each other, private buffers aside.

    Args:
        reductions: leave out pairs of reductions with one sign.
    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(program)
    depth = depth_of(known, scope)
    shared = {n: g for n, g in _written(known, scope).items() if not all_apart(known, g, depth)}
    if reductions:
        shared = {n: g for n, g in shared.items() if not _one_reduction(g)}
    private = _private(known, scope, (n for n, g in shared.items() if _is_repeated(known, g, depth)))
    for name, accesses in shared.items():
        if name in private:
            continue
        found = next(_conflicts(known, accesses, depth, reductions), None)
        if found is not None and not _private(known, scope, (name,)):
            return found
    return None


def private_buffers(program: Program | Model, scope: str) -> frozenset[str]:
    """Return the temporary buffers of which each iteration of a scope needs a copy when it runs concurrently.

    These are accessed only inside the scope, would be shared by iterations, and every element is written
    in an iteration before the same iteration reads it.
    """
    known = model(program)
    depth = depth_of(known, scope)
    shared = (
        n
        for n, g in _written(known, scope).items()
        if not all_apart(known, g, depth)
        and (_is_repeated(known, g, depth) or next(_conflicts(known, g, depth, False), None) is not None)
    )
    return frozenset(_private(known, scope, shared))


def is_private(program: Program | Model, scope: str, buffer: str, exact: bool = True) -> bool:
    """Tell whether each iteration of a scope could have its own copy of a buffer: nothing flows between them.

    It is a `tmp`, accessed only inside the scope, and every element is written in an iteration before the
    same iteration reads it.

    Args:
        exact: else only what boxes prove counts, which takes microseconds.
    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(program)
    key = ("private", scope, buffer, exact)
    if key not in known.answers:
        known.answers[key] = buffer in known.by_buffer and bool(_private(known, scope, (buffer,), exact))
    return bool(known.answers[key])


def carried_reductions(program: Program | Model, scope: str) -> tuple[str, ...]:
    """Return the reductions (statement names) whose element several iterations of a scope accumulate into."""
    known = model(program)
    depth = depth_of(known, scope)
    return tuple(
        a.statement.name
        for a in known.within(scope)
        if a.kind == "reduce" and not apart(known, a, a, depth) and meet(known, a, a, depth) is not None
    )


def carried_by(program: Program | Model, scope: str) -> list[Dependence]:
    """Return the dependences between different iterations of a scope, those of private buffers too."""
    known = model(program)
    depth = depth_of(known, scope)
    accesses = known.within(scope)
    return _unique(d for a, b in _pairs(accesses) for d in _at_level(known, a, b, depth))


def dependences(program: Program | Model) -> list[Dependence]:
    """Return all dependences of a program: for each pair of statements, buffer, kind and carrier one."""
    known = model(program)
    found: list[Dependence] = []
    for accesses in known.by_buffer.values():
        for a, b in _pairs(accesses):
            for level in range(common_scopes(a, b) + 1):
                found.extend(_at_level(known, a, b, level))
    return _unique(found)


# ---------------------------------------------------------------- conflicts


def _written(known: Model, scope: str) -> dict[str, list[Access]]:
    """Accesses inside a scope by buffer, of buffers that are written there."""
    found: dict[str, list[Access]] = {}
    for access in known.within(scope):
        found.setdefault(access.load.buffer, []).append(access)
    return {name: group for name, group in found.items() if any(a.writes for a in group)}


def _private(known: Model, scope: str, buffers: Iterable[str], exact: bool = True) -> set[str]:
    """Those accessed only inside a scope, and written in each of its iterations before they are read."""
    first, last = known.extent_in_text[scope]
    found = {
        name
        for name in buffers
        if known.buffers[name].role == "tmp"
        and first <= known.by_buffer[name][0].position <= known.by_buffer[name][-1].position <= last
    }
    if found:
        walk = Coverage(known, known.scopes[scope].body, first, depth_of(known, scope) + 1, found, exact)
        for access, _ in walk.uncovered():
            found.discard(access.load.buffer)
            walk.watched.discard(access.load.buffer)
    return found


def _is_repeated(known: Model, accesses: Sequence[Access], depth: int) -> bool:
    return len(accesses) > _MANY or any(surely_repeated(known, a, depth) for a in accesses)


def _one_reduction(accesses: Sequence[Access]) -> bool:
    return len({(a.kind, a.statement.op) for a in accesses}) == 1 and accesses[0].kind == "reduce"


def _conflicts(known: Model, accesses: Sequence[Access], depth: int, reductions: bool) -> Iterator[Conflict]:
    for a, b in _pairs(_distinct(accesses)):
        if reductions and a.kind == b.kind == "reduce" and a.statement.op == b.statement.op:
            continue
        if apart(known, a, b, depth):
            continue
        found = meet(known, a, b, depth)
        if found is not None:
            yield found


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """Leave out accesses that touch what another one touches, in the same way."""
    found = {
        (
            a.indices,
            a.writes,
            a.kind == "reduce" and a.statement.op,
            a.conditions,
            tuple(s.name for s in a.scopes),
        ): a
        for a in reversed(accesses)
    }
    return list(reversed(found.values()))


def _pairs(accesses: Sequence[Access]) -> Iterator[tuple[Access, Access]]:
    """Pairs on one buffer of which one writes, in the order of the text, each access with itself too."""
    for i, a in enumerate(accesses):
        for b in accesses[i:]:
            if a.load.buffer == b.load.buffer and (a.writes or b.writes):
                yield a, b


# ---------------------------------------------------------------- dependences


def _at_level(known: Model, a: Access, b: Access, level: int) -> Iterator[Dependence]:
    """Yield the dependences between a and b that the common scope at `level` carries, in both directions.

    At `level` = number of common scopes, those within one iteration of all of them.
    """
    common = common_scopes(a, b)
    if level == common and a.position == b.position:
        return
    if level < common and apart(known, a, b, level):
        return
    sets = known.sets
    directions = ((a, b),) if a is b or level == common else ((a, b), (b, a))
    for source, sink in directions:
        with sets.decided():
            one, two = sets.possible(source), sets.possible(sink)
            order = sets.before(sink, source, level, common).reverse()
            pairs = one.apply_range(two.reverse()).intersect(order)
            if pairs.is_empty():
                continue
            distance = sets.distances(pairs, common)
        carrier = a.scopes[level].name if level < common else None
        kind: OneOf["flow", "anti", "output"] = "flow"
        if not (source.writes and sink.reads):
            kind = "output" if source.writes else "anti"
        reduction = source.kind == sink.kind == "reduce" and source.statement.op == sink.statement.op
        names = (source.statement.name, sink.statement.name)
        yield Dependence(*names, kind, a.load.buffer, carrier, distance, reduction)


def _unique(found: Iterator[Dependence] | list[Dependence]) -> list[Dependence]:
    """One dependence for each pair of statements, kind, buffer and carrier; distances are united."""
    merged: dict[tuple[object, ...], Dependence] = {}
    for d in found:
        key = (d.source, d.sink, d.kind, d.buffer, d.carrier, d.reduction)
        if key in merged:
            old = merged[key].distance
            hull = tuple((min(x[0], y[0]), max(x[1], y[1])) for x, y in zip(old, d.distance, strict=True))
            d = Dependence(d.source, d.sink, d.kind, d.buffer, d.carrier, hull, d.reduction)
        merged[key] = d
    return list(merged.values())
