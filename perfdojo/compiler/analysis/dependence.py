"""Dependences between iterations: what a scope carries, whether it may run concurrently or in vector lanes.

Two accesses to one buffer depend on each other when one of them writes and they name the same storage. All
questions are answered for the program with explicit starts; scopes and statements keep their names in it.
`is_parallel` and `is_vectorizable` take microseconds where one dimension keeps iterations apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from perfdojo.compiler.analysis.accesses import Access, Model, common_scopes, model
from perfdojo.compiler.analysis.conflicts import Conflict, all_apart, apart, depth_of, meet, surely_repeated
from perfdojo.compiler.analysis.coverage import Coverage
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.ir import Program

_MANY = 2000
"""Pairs of accesses above which a temporary buffer is first asked whether it is private."""


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
    found = conflict(model(program).fresh(), scope)
    return None if found is None else str(found)


def is_vectorizable(program: Program | Model, scope: str) -> str | None:
    """Return why the iterations of a scope may not run in vector lanes; None when they may.

    As `is_parallel`, but reductions into one element with one sign are fine: `carried_reductions` names them.
    """
    found = conflict(model(program).fresh(), scope, reductions=True)
    return None if found is None else str(found)


def conflict(program: Program | Model, scope: str, reductions: bool = False) -> Conflict | None:
    """Return two iterations of a scope that depend on each other, private buffers aside.

    Args:
        reductions: leave out pairs of reductions with one sign.
    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(program)
    for name, accesses in _shared(known, scope).items():
        found = _conflict(known, scope, name, accesses, reductions)
        if found is not None:
            return found
    return None


def private_buffers(program: Program | Model, scope: str) -> frozenset[str]:
    """Return the temporary buffers of which each iteration of a scope needs a copy when it runs concurrently.

    These are accessed only inside the scope, would be shared by iterations, and every element is written
    in an iteration before the same iteration reads it.
    """
    known = model(program).fresh()
    return frozenset(
        name
        for name, accesses in _shared(known, scope).items()
        if known.buffers[name].role == "tmp"
        and _is_shared(known, scope, accesses)
        and is_private(known, scope, name)
    )


def carried_reductions(program: Program | Model, scope: str) -> tuple[str, ...]:
    """Return the reductions (statement names) whose element several iterations of a scope accumulate into."""
    known = model(program).fresh()
    depth = depth_of(known, scope)
    return tuple(
        a.statement.name
        for a in known.within(scope)
        if a.kind == "reduce" and not apart(known, a, a, depth) and meet(known, a, a, depth) is not None
    )


def carried_by(program: Program | Model, scope: str) -> list[Dependence]:
    """Return the dependences between different iterations of a scope, those of private buffers too."""
    known = model(program).fresh()
    depth = depth_of(known, scope)
    accesses = known.within(scope)
    return _unique(d for a, b in _pairs(accesses) for d in _at_level(known, a, b, depth))


def dependences(program: Program | Model) -> list[Dependence]:
    """Return all dependences of a program: for each pair of statements, buffer, kind and carrier one."""
    known = model(program).fresh()
    found: list[Dependence] = []
    for accesses in known.by_buffer.values():
        for a, b in _pairs(accesses):
            for level in range(common_scopes(a, b) + 1):
                found.extend(_at_level(known, a, b, level))
    return _unique(found)


def is_private(program: Program | Model, scope: str, buffer: str) -> bool:
    """True when a tmp is accessed only inside a scope, and written in each iteration before it is read."""
    known = model(program)
    first, last = known.extent_in_text[scope]
    every = known.by_buffer[buffer]
    if known.buffers[buffer].role != "tmp" or every[0].position < first or every[-1].position > last:
        return False
    walk = Coverage(known, known.scopes[scope].body, first, depth_of(known, scope) + 1, buffer)
    return next(walk.uncovered(), None) is None


# ---------------------------------------------------------------- conflicts


def _shared(known: Model, scope: str) -> dict[str, list[Access]]:
    """Accesses inside a scope by buffer, of buffers that are written there."""
    found: dict[str, list[Access]] = {}
    for access in known.within(scope):
        found.setdefault(access.load.buffer, []).append(access)
    return {name: group for name, group in found.items() if any(a.writes for a in group)}


def _conflict(
    known: Model, scope: str, name: str, accesses: list[Access], reductions: bool
) -> Conflict | None:
    is_tmp = known.buffers[name].role == "tmp"
    if all_apart(known, accesses, depth_of(known, scope)):
        return None
    depth = depth_of(known, scope)
    is_quick = len(accesses) ** 2 > _MANY or any(surely_repeated(known, a, depth) for a in accesses)
    if is_tmp and is_quick and is_private(known, scope, name):
        return None
    found = next(_conflicts(known, scope, accesses, reductions), None)
    if found is None or (is_tmp and not is_quick and is_private(known, scope, name)):
        return None
    return found


def _is_shared(known: Model, scope: str, accesses: list[Access]) -> bool:
    """True when several iterations of a scope touch one element."""
    depth = depth_of(known, scope)
    if any(surely_repeated(known, a, depth) for a in accesses):
        return True
    return next(_conflicts(known, scope, accesses, False), None) is not None


def _conflicts(known: Model, scope: str, accesses: list[Access], reductions: bool) -> Iterator[Conflict]:
    depth = depth_of(known, scope)
    if all_apart(known, accesses, depth):
        return
    for a, b in _pairs(accesses):
        if reductions and a.kind == b.kind == "reduce" and a.statement.op == b.statement.op:
            continue
        if apart(known, a, b, depth):
            continue
        found = meet(known, a, b, depth)
        if found is not None:
            yield found


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
