"""What is proved already of a program in which a part of a buffer is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.coverage import Coverage, exactly
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import CONCURRENT_MARKS, LANE_MARKS, Cast, Expr, Load, Op, Place, Scope, Statement
from perfdojo.compiler.tree import nodes
from perfdojo.compiler.walk import loads

Region = Place[Scope] | Place[Statement]
LANES_OR_THREADS = CONCURRENT_MARKS | LANE_MARKS
"""Marks under which no iteration may read what another one writes."""


def accesses_in(known: Model, place: Region) -> list[Access]:
    """Return the accesses in a scope or a statement, in the order of the text."""
    if isinstance(place.node, Scope):
        return known.within(place.node.name)
    at = next(n for n, (_, s) in enumerate(known.statements) if s.name == place.node.name)
    return known.accesses[at]


def is_plain(known: Model, accesses: Sequence[Access]) -> bool:
    """True when elements of the buffer decide neither what these statements touch nor whether they do."""
    name = accesses[0].load.buffer
    return not any(name in _deciding(known, p) for p in {a.position for a in accesses})


def _deciding(known: Model, position: int) -> frozenset[str]:
    """Buffers whose elements decide, in the statement at a position, what is touched and whether."""
    key = ("deciding", position)
    if key not in known.answers:
        statement = known.statements[position][1]
        found: set[str] = set()
        for expr in (*statement.target.indices, *(() if statement.guard is None else (statement.guard,))):
            found.update(load.buffer for load in loads(expr))
        _collect_deciding(statement.value, found)
        known.answers[key] = frozenset(found)
    return cast("frozenset[str]", known.answers[key])


def _collect_deciding(expr: Expr, found: set[str]) -> None:
    match expr:
        case Load(indices=indices):
            found.update(load.buffer for i in indices for load in loads(i))
        case Op(op="select" | "and" | "or", args=(condition, *rest)):
            found.update(load.buffer for load in loads(condition))
            for e in rest:
                _collect_deciding(e, found)
        case Op(args=args):
            for e in args:
                _collect_deciding(e, found)
        case Cast(arg=arg):
            _collect_deciding(arg, found)


def is_filled(known: Model, place: Region, name: str) -> bool:
    """True when every element of a buffer surely has a value before the region."""
    if known.buffers[name].role in ("in", "inout"):
        return True
    outermost = place.around[0] if place.around else place.node
    at = next(n for n, node in enumerate(known.explicit.body) if node is outermost)
    return _complete(known).get(name, at) < at


def _complete(known: Model) -> Mapping[str, int]:
    """The node of the program's body behind which every element of a buffer is written."""
    key = ("complete",)
    if key not in known.answers:
        done: dict[str, int] = {}
        walk = Coverage(known, ())
        for n, node in enumerate(known.explicit.body):
            walk.nodes = (node,)
            try:
                for _ in walk.uncovered():
                    pass
            except Undecided:
                break
            done |= {b: n for b in walk.watched - done.keys() if walk.complete(b)}
        known.answers[key] = done
    return cast("Mapping[str, int]", known.answers[key])


def is_proved(
    known: Model, place: Region, accesses: Sequence[Access], tests: tuple[Expr, ...], touched: bool
) -> bool:
    """Tell whether it is clear that a copy of what is read is legal.

    Args:
        touched: each element that is copied is read in each iteration of the scopes around.
    """
    name = accesses[0].load.buffer
    if not is_plain(known, accesses):
        return False
    if touched and not tests:
        return True
    if meets_writes(known, place, name):
        return False
    if not tests:
        return is_filled(known, place, name)
    affine = all(
        held is not None and all(f.quasi_affine for f in held)
        for a in accesses
        for held in (exactly(known, c) for c in a.conditions)
    )
    return affine and known.buffers[name].role in ("in", "inout")


def meets_writes(known: Model, place: Region, name: str) -> bool:
    """True when one more read of a buffer may be of what other iterations of a marked scope around write."""
    marked = {s.name for s in place.around if s.mark in LANES_OR_THREADS}
    return bool(marked) and any(
        a.writes and any(s.name in marked for s in a.scopes) for a in known.by_buffer[name]
    )


def is_read_before(known: Model, place: Region, name: str) -> bool:
    """True when an iteration of the scopes around may read an element before it writes it."""
    inside = accesses_in(known, place)
    if _starts_all(inside, name):
        return False
    own = replace(known, by_buffer={name: [a for a in inside if a.load.buffer == name]})
    walk = Coverage(own, (place.node,), inside[0].position, len(place.around), (name,))
    try:
        return next(walk.uncovered(), None) is not None
    except Undecided:
        return True


def is_private_inside(known: Model, place: Region, accesses: Sequence[Access]) -> bool:
    """True when iterations of a scope inside may each have their own copy of the buffer."""
    name = accesses[0].load.buffer
    if known.buffers[name].role != "tmp" or len(accesses) < len(known.by_buffer[name]):
        return False
    marks = {n.mark for n in nodes((place.node,)) if isinstance(n, Scope)}
    return bool(marks & LANES_OR_THREADS)


def _starts_all(inside: Sequence[Access], name: str) -> bool:
    """True when the first access writes, under no condition, what all others name in the same iteration."""
    own = [a for a in inside if a.load.buffer == name]
    first = own[0]
    depth = len(first.scopes)
    return (
        first.kind == "write"
        and not first.conditions
        and all(f.quasi_affine for f in first.indices)
        and all(a.load == first.load and a.scopes[:depth] == first.scopes for a in own)
    )


def is_injective(known: Model, access: Access, layout: Sequence[str]) -> bool:
    """True when different iterations of the scopes of `layout` touch different elements, by form alone."""
    left = set(layout)
    for d in known.stored(access.load.buffer):
        form = access.indices[d]
        if any(not isinstance(a, str) and set(layout) & set(Affine(0, {a: 1}).scopes()) for a in form.terms):
            return False
        moving = sorted((abs(c), str(a)) for a, c in form.terms.items() if a in layout)
        reach = 0
        for c, scope in moving:
            if c <= reach or scope not in left:
                return False
            reach += c * (known.forms.extents[scope] - 1)
            left.discard(scope)
    return not left
