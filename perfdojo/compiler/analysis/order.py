"""Does a move keep the order of accesses: two to one element, one of them writing, must not change places.

Order is that of memory: storage that is shared (dimensions under `reuse`, scalars) orders accesses although
no value flows. Answers are exact where indices and conditions are quasi-affine; where data decide, every
possibility counts. `reductions` says that reductions with one sign into one float element may change their
order, which changes rounding; those of integers may always, as integers wrap.

Programs here are bound and have explicit starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.conflicts import depth_of
from perfdojo.compiler.analysis.reversal import Clash, Move, clash, most
from perfdojo.compiler.ir import Node, Program, Scope, Statement

T = TypeVar("T")

# ---------------------------------------------------------------- questions


def reversed_by_interchange(program: Program | Model, outer: str, reductions: bool = False) -> Clash | None:
    """Return two accesses that change places when `outer` and the one scope in it do; None when none do.

    outer { inner { B } }   ->   inner { outer { B } }
    """
    known = _explicit(program)
    return _remembered(
        known, ("interchange", outer, reductions), lambda: _interchange(known, outer, reductions)
    )


def reversed_by_fission(
    program: Program | Model, scope: str, cut: int, reductions: bool = False
) -> Clash | None:
    """Return two accesses that change places when `scope` is distributed over its body; None when none do.

    scope { A; B }   ->   scope { A }; scope { B }   where A is the first `cut` nodes
    """
    known = _explicit(program)
    return _remembered(
        known, ("fission", scope, cut, reductions), lambda: _fission(known, scope, cut, reductions)
    )


def reversed_by_join(
    program: Program | Model, first: str, second: str, shift: int = 0, reductions: bool = False
) -> Clash | None:
    """Return two accesses that change places when two adjacent scopes become one; None when none do.

    first i { A(i) }; second j { B(j) }   ->   scope t { A(t); B(t - shift) }   where i and j are iterations

    Iteration j of `second` runs right behind iteration j + shift of `first`: a positive shift delays it.
    """
    known = _explicit(program)
    key = ("join", first, second, shift, reductions)
    return _remembered(known, key, lambda: _join(known, first, second, shift, reductions))


def least_shift(
    program: Program | Model, first: str, second: str, reductions: bool = False, lowest: int = 0
) -> int:
    """Return the smallest shift, `lowest` or above it, with which two adjacent scopes may be joined.

    All above are legal too. Extent of `first` - 1 always is one, but then the two share a single iteration.
    With a `lowest` below 0 it says by how much `second` may run ahead.
    """
    known = _explicit(program)
    key = ("shift", first, second, lowest, reductions)
    return _remembered(known, key, lambda: _least_shift(known, first, second, reductions, lowest))


def reversed_by_swap(
    program: Program | Model, first: str, second: str, reductions: bool = False
) -> Clash | None:
    """Return two accesses that change places when two adjacent nodes do; None when none do.

    first; second   ->   second; first   each a scope or a statement
    """
    known = _explicit(program)
    key = ("swap", first, second, reductions)
    return _remembered(known, key, lambda: _swap(known, first, second, reductions))


def first_writer_becomes_reduction(
    program: Program | Model, earlier: Iterable[Node], later: Iterable[Node]
) -> str | None:
    """Return the reduction that would start its buffer when text moves; None when none would.

    A reduction that is the first in the text to write a `tmp` or an `out` starts it, which the program with
    explicit starts does elsewhere.

    Args:
        earlier: nodes that come to stand before `later`, behind which they are now.
    """
    known = _explicit(program)
    gone = {s.name for s in _writers(later)}
    seen: set[str] = set()
    for statement in _writers(earlier):
        name = statement.target.buffer
        if name in seen or known.buffers[name].role not in ("tmp", "out"):
            continue
        seen.add(name)
        first = next(a for a in known.by_buffer[name] if a.writes).statement
        if statement.op != "=" and first.name in gone:
            return statement.name
    return None


# ---------------------------------------------------------------- answers


def _writers(nodes: Iterable[Node]) -> Iterator[Statement]:
    for node in nodes:
        if isinstance(node, Scope):
            yield from _writers(node.body)
        else:
            yield node


def _explicit(program: Program | Model) -> Model:
    known = model(program)
    assert not known.started, "the program has implicit starts"
    return known


def _remembered(known: Model, key: tuple[object, ...], answer: Callable[[], T]) -> T:
    if key not in known.answers:
        known.answers[key] = answer()
    return cast(T, known.answers[key])


def _interchange(known: Model, outer: str, reductions: bool) -> Clash | None:
    (inner,) = known.scopes[outer].body
    assert isinstance(inner, Scope), f"{outer} holds a statement"
    windows = ((1 - _extent(known, outer), -1), (1, _extent(known, inner.name) - 1))
    accesses = known.within(outer)
    return _first(known, accesses, accesses, Move(depth_of(known, outer), windows), reductions)


def _fission(known: Model, scope: str, cut: int, reductions: bool) -> Clash | None:
    body = known.scopes[scope].body
    assert 0 < cut < len(body), f"{scope} cannot be cut at {cut}"
    start, stop = known.extent_in_text[scope]
    middle = start + sum(_statements(n) for n in body[:cut])
    move = Move(depth_of(known, scope), ((1 - _extent(known, scope), -1),))
    return _first(known, _between(known, middle, stop), _between(known, start, middle - 1), move, reductions)


def _join(known: Model, first: str, second: str, shift: int, reductions: bool) -> Clash | None:
    move = Move(_common_depth(known, first, second), ((shift + 1, _extent(known, first) - 1),))
    return _first(known, known.within(first), known.within(second), move, reductions)


def _least_shift(known: Model, first: str, second: str, reductions: bool, lowest: int) -> int:
    depth = _common_depth(known, first, second)
    least = lowest
    for x, y in _conflicting(known, known.within(first), known.within(second), reductions):
        found = most(known, x, y, depth, least + 1)
        least = least if found is None else found
    return least


def _swap(known: Model, first: str, second: str, reductions: bool) -> Clash | None:
    (depth, xs), (_, ys) = _adjacent(known, first, second)
    return _first(known, xs, ys, Move(depth, ()), reductions)


def _first(
    known: Model, xs: Sequence[Access], ys: Sequence[Access], move: Move, reductions: bool
) -> Clash | None:
    for x, y in _conflicting(known, xs, ys, reductions):
        found = clash(known, x, y, move)
        if found is not None:
            return found
    return None


def _conflicting(
    known: Model, xs: Sequence[Access], ys: Sequence[Access], reductions: bool
) -> Iterator[tuple[Access, Access]]:
    """Pairs on one buffer of which one writes, but for reductions that may change their order."""
    of: dict[str, list[Access]] = {}
    for y in ys:
        of.setdefault(y.load.buffer, []).append(y)
    for x in xs:
        for y in of.get(x.load.buffer, ()):
            if not (x.writes or y.writes):
                continue
            commute = x.kind == y.kind == "reduce" and x.statement.op == y.statement.op
            if not (commute and (reductions or not known.buffers[x.load.buffer].dtype.is_float)):
                yield x, y


def _extent(known: Model, scope: str) -> int:
    return known.forms.extents[scope]


def _statements(node: Node) -> int:
    return sum(map(_statements, node.body)) if isinstance(node, Scope) else 1


def _between(known: Model, first: int, last: int) -> list[Access]:
    return [a for group in known.accesses[first : last + 1] for a in group]


def _common_depth(known: Model, first: str, second: str) -> int:
    a, b = known.extent_in_text[first], known.extent_in_text[second]
    depth = depth_of(known, first)
    assert a[1] + 1 == b[0], f"{first} does not stand directly before {second}"
    assert depth == depth_of(known, second), f"{first} and {second} are no siblings"
    return depth


def _adjacent(known: Model, first: str, second: str) -> tuple[tuple[int, list[Access]], ...]:
    """Depth and accesses of two nodes that stand side by side; scopes are looked for before statements."""
    for one in _places(known, first):
        for two in _places(known, second):
            if one[0] == two[0] and one[2] + 1 == two[1]:
                return (one[0], _between(known, *one[1:])), (two[0], _between(known, *two[1:]))
    raise AssertionError(f"{first} does not stand directly before {second}")


def _places(known: Model, name: str) -> Iterator[tuple[int, int, int]]:
    """Depth, first and last statement of the scope, then of the statement, called `name`."""
    if name in known.scopes:
        yield depth_of(known, name), *known.extent_in_text[name]
    for position, (around, statement) in enumerate(known.statements):
        if statement.name == name:
            yield len(around), position, position
