"""Forms in which nests keep an FPU with data movers busy: results side by side, words, accumulators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Expr, Literal, Node, Op, Scope, Statement
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.plan.knobs import CHOSEN, Knobs
from perfdojo.compiler.recipes._steps import (
    blocks,
    chain,
    extent,
    inside,
    made,
    order,
    sink,
    unroll,
)
from perfdojo.compiler.schedule import History
from perfdojo.compiler.schedule.replay import State
from perfdojo.compiler.walk import iterators, loads

ACCUMULATORS = range(4, 9)
"""Results that are computed side by side: an FMA takes 4 cycles until its result can be used, and a body of
three passes (first, repeated, last) over 8 of them fits the 32 instructions that Snitch's sequencer holds."""
WRITTEN_OUT_LOADS = (16, 8, 4)
"""Passes of loops that the integer core runs, each with a load of its own."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A nest that does nothing but one reduction, with what starts it.

    Attributes:
        rows: scopes that the target is indexed by, outermost first.
        steps: scopes that are reduced over.
    """

    statement: str
    rows: tuple[str, ...]
    steps: tuple[str, ...]


def shape(h: History, top: str, knobs: Knobs = CHOSEN) -> None:
    """Bring the nest of a scope into a form that keeps the FPU busy."""
    found = reduction(h, top)
    if found is None:
        _elementwise(h, top, knobs.passes)
        return
    outside = len(h.program.scopes[top].around)
    order(h, (*found.rows, *found.steps))
    packed = _packed_rows(h, found)
    # single results are stored in words, too
    unit = _lanes(h, found.statement) if packed is found else 1
    found = packed
    wide = [r for r in found.rows if extent(h, r) >= ACCUMULATORS.start]
    if not wide:
        _accumulators(h, found.statement, found.steps[-1], knobs.sums or ACCUMULATORS.start)
        return
    before = set(h.program.statements)
    sizes = {r: min(knobs.rows, extent(h, r)) or block(extent(h, r), unit) for r in wide}
    best = max(wide, key=lambda r: (not extent(h, r) % sizes[r], wide.index(r)))
    _side_by_side(h, outside, best, sizes[best])
    for statement in [found.statement, *(s for s in h.program.statements if s not in before)]:
        _packed_steps(h, statement)
        _loads_written_out(h, statement)


def reduction(h: History, top: str) -> Reduction | None:
    """Return the reduction that a nest is; None when it is none, or more than that."""
    around = chain(h, top)
    body = h.program.scopes[around[-1]].node.body
    if len(body) == 2 and starts(*body):
        body = body[1:]
    if len(body) == 1 and isinstance(body[0], Scope):
        around += chain(h, body[0].name)
        body = h.program.scopes[around[-1]].node.body
    if len(body) != 1 or not isinstance(body[0], Statement) or body[0].op == "=":
        return None
    moved = iterators(body[0].target)
    rows = tuple(s for s in around if s in moved)
    steps = tuple(s for s in around if s not in moved)
    return Reduction(body[0].name, rows, steps) if steps else None


def block(whole: int, unit: int = 1) -> int:
    """Return into how many at a time `whole` is divided: at least 4 of them are left over, or none.

    Multiples of `unit` come first.
    """
    if whole in ACCUMULATORS:
        return whole
    wanted = sorted(ACCUMULATORS, key=lambda n: (n % unit != 0, -n))
    exact = [n for n in wanted if whole % n == 0]
    rest = [n for n in wanted if whole % n >= ACCUMULATORS.start]
    return (exact or rest or [ACCUMULATORS[-1]])[0]


def starts(before: Node, after: Node) -> bool:
    """Tell whether a statement sets what the scope behind it, and nothing else in there, accumulates."""
    if not isinstance(before, Statement) or before.op != "=" or not isinstance(before.value, Literal):
        return False
    while isinstance(after, Scope) and len(after.body) == 1:
        after = after.body[0]
    return isinstance(after, Statement) and after.op != "=" and after.target == before.target


def _packed_rows(h: History, nest: Reduction) -> Reduction:
    """Let the lanes of packed words run along the results, where they can; return what is left."""
    lanes = _lanes(h, nest.statement)
    for scope in reversed(nest.rows):
        before = h.states
        if lanes > 1 and extent(h, scope) % lanes == 0:
            outer, inner, _ = blocks(h, scope, lanes)
            if all(h.attempt(f"vectorize {s}") for s in sink(h, inner)):
                return replace(nest, rows=tuple(outer if s == scope else s for s in nest.rows))
        back(h, before)
    return nest


def _packed_steps(h: History, statement: str) -> None:
    """Let the lanes of packed words run along the sum, where they can."""
    place = h.program.statements[statement]
    loops = [s.name for s in place.around if not s.mark and s.name not in iterators(place.node.target)]
    lanes = _lanes(h, statement)
    if place.node.op == "=" or not loops or lanes == 1 or extent(h, loops[-1]) % lanes:
        return
    before = h.states
    _, inner, _ = blocks(h, loops[-1], lanes)
    if not h.attempt(f"vectorize {inner}") and not _own_lanes(h, statement, inner):
        back(h, before)


def _loads_written_out(h: History, statement: str) -> None:
    """Write out passes of a sum that loads a scalar for all lanes, which gives the integer core time."""
    place = h.program.statements[statement]
    lanes = {s.name for s in place.around if s.mark == "vector"}
    loops = [s.name for s in place.around if not s.mark and s.name not in iterators(place.node.target)]
    if not lanes or not loops:
        return
    moving = [load for load in loads(place.node.value) if loops[-1] in iterators(load)]
    if all(not lanes.isdisjoint(iterators(load)) for load in moving):
        return
    whole = extent(h, loops[-1])
    size = next((n for n in WRITTEN_OUT_LOADS if whole % n == 0 and whole > n), 0)
    if size:
        unroll(h, (blocks(h, loops[-1], size).inner,))


def _own_lanes(h: History, statement: str, inner: str) -> bool:
    """Give each lane of a maximum its own element, as no instruction compares lanes; tell if that was done.

    n_o:N/2 n_i:2 b:8@unroll m[{2}] max= x[{2},{0}*2+{1}]
    ->
    n_i_s:2@vector b_s:8@unroll p[{1},{0}] = -inf
    n_o:N/2 n_i:2@vector b:8@unroll p[{2},{1}] max= x[{2},{0}*2+{1}]
    b_c:8@unroll n_i_c:2@unroll m[{0}] max= p[{0},{1}]
    """
    around = [s.name for s in h.program.statements[statement].around]
    outer = around[around.index(inner) - 1]
    known = {b.name for b in h.program.buffers}
    if h.why_not(f"split_reduction {statement} by {inner} around {outer}"):
        return False
    start, *more = made(h, f"split_reduction {statement} by {inner} around {outer}")
    (p,) = (b for b in h.program.buffers if b.name not in known)
    if len(p.shape) > 1:
        h.apply(f"reorder_dims {p.name} [{' '.join(map(str, (*range(1, len(p.shape)), 0)))}]")
    unroll(h, [s for s in more if s != start])
    return h.attempt(f"vectorize {inner}") and h.attempt(f"vectorize {start}")


def _lanes(h: History, statement: str) -> int:
    return widest_lanes(h.program, h.program.statements[statement].node, h.setting.target)


def _side_by_side(h: History, outside: int, scope: str, size: int) -> None:
    """Write out blocks of a scope inside of all others; what is left over becomes a nest of its own.

    Args:
        outside: scopes around the nest.
    """
    _, inner, tail = blocks(h, scope, size)
    if tail:
        for around in reversed(h.program.scopes[tail].around[outside:]):
            attempted(h, f"fission_scope {around.name} at {tail if tail in inside(h, around.name) else ''}")
    for name in (inner, tail):
        if name:
            unroll(h, sink(h, name))


def _accumulators(h: History, statement: str, scope: str, count: int) -> None:
    """Give a reduction some accumulators, or words of them, and combine them in pairs."""
    lanes = _lanes(h, statement)
    size = count * lanes
    if extent(h, scope) < 2 * size or h.why_not(f"split_reduction {statement} by {scope}"):
        return
    tried(h, lambda: _split(h, statement, scope, size, lanes))


def _split(h: History, statement: str, scope: str, size: int, lanes: int) -> bool:
    """Split a reduction in pairs again and again; False where its results have scopes of their own."""
    _, inner, tail = blocks(h, scope, size)
    parts = [tail] if tail else []
    while True:
        start, combine, *more = made(h, f"split_reduction {statement} by {inner}")
        if more:
            return False
        parts += [inner, start]
        if extent(h, combine) <= 2 or lanes > 1:
            break
        statement = h.program.scopes[combine].node.body[0].name
        outer, inner, _ = blocks(h, combine, extent(h, combine) // 2)
        parts.append(outer)
    for part in (*parts, combine):
        before = h.states
        if lanes > 1 and extent(h, part) == size:
            outer, inner, _ = blocks(h, part, lanes)
            if h.attempt(f"vectorize {inner}"):
                part = outer
            else:
                back(h, before)
        unroll(h, (part,))
    return True


def _elementwise(h: History, top: str, passes: int) -> None:
    """Words of several elements, where they can be; several side by side where operations depend."""
    scope = chain(h, top)[-1]
    body = h.program.scopes[scope].node.body
    if not all(isinstance(n, Statement) for n in body):
        return
    lanes = min(widest_lanes(h.program, n, h.setting.target) for n in body if isinstance(n, Statement))
    # single elements of several lanes are stored in words, too
    size = passes or ACCUMULATORS.start
    if lanes > 1 and extent(h, scope) % lanes == 0:
        before = h.states
        scope, inner, _ = blocks(h, scope, lanes)
        if not h.attempt(f"vectorize {inner}"):
            back(h, before)
            scope = chain(h, top)[-1]
            size = passes or lanes * ACCUMULATORS.start
    depth = sum(_operations(n.value) for n in body if isinstance(n, Statement))
    if (depth > 1 or passes > 1) and extent(h, scope) >= size > 1:
        _, inner, _ = blocks(h, scope, size)
        unroll(h, (inner,))


def _operations(e: Expr) -> int:
    """Return the operations of a value that may wait for one another; beside a maximum, for NaNs."""
    if not isinstance(e, Op):
        return 0
    return (2 if e.op in ("max", "min") else 1) + sum(_operations(a) for a in e.args)


def attempted(h: History, move: str) -> list[str]:
    """Make a move where it is legal and return the new scopes."""
    before = h.program.scopes
    return [s for s in h.program.scopes if s not in before] if h.attempt(move) else []


def tried(h: History, moves: Callable[[], bool | None]) -> bool:
    """Make moves; none where one is not legal, or they say that they came to nothing. Tell if made."""
    before = h.states
    try:
        if moves() is not False:
            return True
    except PerfDojoError:  # an order that matters, elements that are not sure to be written
        pass
    back(h, before)
    return False


def back(h: History, states: tuple[State, ...]) -> None:
    while h.states != states:
        h.undo()
