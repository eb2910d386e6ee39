"""Streams: nests whose elements data movers deliver to an FPU that repeats them by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Expr, Literal, Node, Op, Scope, Statement
from perfdojo.compiler.lowering.nests.limits import MAX_INSTRUCTIONS
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.recipes._apart import functions_apart, rows_stored
from perfdojo.compiler.recipes._steps import (
    blocks,
    chain,
    drop_single,
    extent,
    inside,
    made,
    order,
    sink,
    unmark,
    unroll,
)
from perfdojo.compiler.schedule import History
from perfdojo.compiler.schedule.replay import State
from perfdojo.compiler.walk import const_int, iterators, loads

ACCUMULATORS = range(4, 9)
"""Results that are computed side by side: an FMA takes 4 cycles until its result can be used, and a body of
three passes (first, repeated, last) over 8 of them fits the 32 instructions that Snitch's sequencer holds."""
FEW_STORES = 256
"""Elements that are set to one value by a store each: 2 KiB of doubles lie within the reach of its offset."""
WRITTEN_OUT_LOADS = (16, 8, 4)
"""Passes of loops that the integer core runs, each with a load of its own."""
WRITTEN_OUT = ("unroll", "vector")
"""Marks of scopes of which no loop is left."""


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


def streams(h: History) -> None:
    """Separate nests, compute several results side by side, and mark what data movers and FPU can do alone.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        m:M@stream n_o:N/8 n_i:8@unroll c[{0},{1}*8+{2}] = 0
        | | k:K@frep n_i_2:8@unroll c[{0},{1}*8+{3}] += a[{0},{2}] * b[{2},{1}*8+{3}]

    Scopes of which nothing is left over after blocks of 4 to 8 are preferred; else what is left is a nest of
    its own. Reductions to fewer than 4 elements get 4 accumulators each, where the level allows it. What
    cannot be streamed stays as it is, and so do nests in which the writer marked a scope, but for @parallel.
    """
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    for node in h.program.body:
        if _unmarked(h, node.name):
            drop_single(h, [node.name, *inside(h, node.name)])
    rows_stored(h)
    for node in h.program.body:
        if _unmarked(h, node.name):
            functions_apart(h, node.name)
            separate(h, node.name)
    _nests(h, "")


def _nests(h: History, parent: str) -> None:
    """Bring the nests in a scope into form and mark them, or those that they hold."""
    for group in _groups(_body(h, parent)):
        top = group[-1]
        if not _unmarked(h, top):
            continue
        inner = chain(h, top)[-1]
        if len(_groups(_body(h, inner))) > 1 and any(isinstance(n, Scope) for n in _body(h, inner)):
            _nests(h, inner)
            continue
        before = h.states
        kept = {n.name for n in _body(h, parent)} - set(group)
        if stores(h, top):
            continue
        try:
            shape(h, top)
        except PerfDojoError:  # it would change an order that matters
            _back(h, before)
        if not mark(h, [n.name for n in _body(h, parent) if n.name not in kept]):
            _back(h, before)


def _body(h: History, parent: str) -> tuple[Node, ...]:
    """Return the nodes in a scope, or those of the program where it is ""."""
    return h.program.scopes[parent].node.body if parent else h.program.body


def _groups(body: tuple[Node, ...]) -> list[list[str]]:
    """Return the nests, each with the statement that starts it."""
    groups: list[list[str]] = []
    for before, node in zip((None, *body), body, strict=False):
        if before is not None and _starts(before, node):
            groups[-1].append(node.name)
        else:
            groups.append([node.name])
    return groups


def _unmarked(h: History, name: str) -> bool:
    """Tell whether a node is a scope without marks, as are all in it."""
    scopes = h.program.scopes
    return name in scopes and not any(scopes[s].node.mark for s in (name, *inside(h, name)))


def separate(h: History, name: str) -> None:
    """Distribute a scope over what it holds; a start stays with its reduction."""
    if name not in h.program.scopes:
        return
    body = h.program.scopes[name].node.body
    for node in body:
        separate(h, node.name)
    _meet(h, name)
    parts = [name]
    body = h.program.scopes[name].node.body
    for before, node in pairwise(body):
        if not _starts(before, node):
            parts += _attempted(h, f"fission_scope {parts[-1]} at {node.name}")[:1]


def _meet(h: History, scope: str) -> None:
    """Bring statements that start a reduction before it, where others stand between."""
    for node in h.program.scopes[scope].node.body:
        while isinstance(node, Statement) and node.op == "=" and isinstance(node.value, Literal):
            body = h.program.scopes[scope].node.body
            place = [n.name for n in body].index(node.name)
            if not any(_starts(node, other) for other in body[place + 2 :]):
                break
            if not h.attempt(f"swap_siblings {node.name} {body[place + 1].name}"):
                break


def stores(h: History, top: str) -> bool:
    """Write out a nest that sets few elements to one value; tell if it is one.

    As many stores as there are elements take fewer cycles than it takes until a stream runs.
    """
    around = chain(h, top)
    body = h.program.scopes[around[-1]].node.body
    if prod(extent(h, s) for s in around) > FEW_STORES or any(map(_moving, body)):
        return False
    unroll(h, around)
    return True


def shape(h: History, top: str) -> None:
    """Bring the nest of a scope into a form that keeps the FPU busy."""
    found = reduction(h, top)
    if found is None:
        _elementwise(h, top)
        return
    outside = len(h.program.scopes[top].around)
    order(h, (*found.rows, *found.steps))
    packed = _packed_rows(h, found)
    # single results are stored in words, too
    unit = _lanes(h, found.statement) if packed is found else 1
    found = packed
    wide = [r for r in found.rows if extent(h, r) >= ACCUMULATORS.start]
    if not wide:
        _accumulators(h, found.statement, found.steps[-1])
        return
    before = set(h.program.statements)
    best = max(wide, key=lambda r: (not extent(h, r) % block(extent(h, r), unit), wide.index(r)))
    _side_by_side(h, outside, best, block(extent(h, best), unit))
    for statement in [found.statement, *(s for s in h.program.statements if s not in before)]:
        _packed_steps(h, statement)
        _loads_written_out(h, statement)


def reduction(h: History, top: str) -> Reduction | None:
    """Return the reduction that a nest is; None when it is none, or more than that."""
    around = chain(h, top)
    body = h.program.scopes[around[-1]].node.body
    if len(body) == 2 and _starts(*body):
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


def mark(h: History, names: list[str]) -> bool:
    """Mark the nests that siblings are, as one where that can be; tell if any is streamed."""
    given = names
    if len(names) > 1:
        before = h.states
        names = [_gathered(h, names)]
        if not h.attempt(f"stream {names[0]}"):
            _back(h, before)
            names = given
    tops = [t for t in names if t in h.program.scopes]
    for top in tops:
        _stream(h, top)
        _freps(h, top)
    return any(h.program.scopes[s].node.mark == "stream" for t in tops for s in (t, *inside(h, t)))


def _gathered(h: History, names: list[str]) -> str:
    """Put siblings into one scope of one iteration and return it."""
    around = [made(h, f"add_scope {name}")[0] for name in names]
    for name in around[1:]:
        h.apply(f"join_scopes {around[0]} {name}")
    return around[0]


def _stream(h: History, name: str) -> None:
    if h.program.scopes[name].node.mark or h.attempt(f"stream {name}"):
        return
    for node in h.program.scopes[name].node.body:
        if isinstance(node, Scope):
            _stream(h, node.name)


def _freps(h: History, top: str) -> None:
    for name in [top, *inside(h, top)]:
        node = h.program.scopes[name].node
        loops = any(isinstance(n, Scope) and n.mark not in WRITTEN_OUT for n in node.body)
        if not node.mark and not loops and _copies(node) <= MAX_INSTRUCTIONS:
            h.attempt(f"frep {name}")


def _copies(node: Node) -> int:
    """Return the statements of a node, those in written-out scopes as often as they are written."""
    if isinstance(node, Statement):
        return 1
    return sum(map(_copies, node.body)) * (const_int(node.extent) if node.mark == "unroll" else 1)


def _starts(before: Node, after: Node) -> bool:
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
        _back(h, before)
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
        _back(h, before)


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
            _attempted(h, f"fission_scope {around.name} at {tail if tail in inside(h, around.name) else ''}")
    for name in (inner, tail):
        if name:
            unroll(h, sink(h, name))


def _accumulators(h: History, statement: str, scope: str) -> None:
    """Give a reduction 4 accumulators, or words of them, and combine them in pairs."""
    lanes = _lanes(h, statement)
    size = ACCUMULATORS.start * lanes
    if extent(h, scope) < 2 * size or h.why_not(f"split_reduction {statement} by {scope}"):
        return
    _, inner, tail = blocks(h, scope, size)
    parts = [tail] if tail else []
    while True:
        start, combine = made(h, f"split_reduction {statement} by {inner}")
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
                _back(h, before)
        unroll(h, (part,))


def _elementwise(h: History, top: str) -> None:
    """Words of several elements, where they can be; several side by side where operations depend."""
    scope = chain(h, top)[-1]
    body = h.program.scopes[scope].node.body
    if not all(isinstance(n, Statement) for n in body):
        return
    lanes = min(widest_lanes(h.program, n, h.setting.target) for n in body if isinstance(n, Statement))
    # single elements of several lanes are stored in words, too
    size = ACCUMULATORS.start
    if lanes > 1 and extent(h, scope) % lanes == 0:
        before = h.states
        scope, inner, _ = blocks(h, scope, lanes)
        if not h.attempt(f"vectorize {inner}"):
            _back(h, before)
            scope = chain(h, top)[-1]
            size = lanes * ACCUMULATORS.start
    depth = sum(_operations(n.value) for n in body if isinstance(n, Statement))
    if depth > 1 and extent(h, scope) >= size:
        _, inner, _ = blocks(h, scope, size)
        unroll(h, (inner,))


def _moving(node: Node) -> bool:
    """Tell whether what a statement computes is not the same everywhere."""
    return not isinstance(node, Statement) or bool(iterators(node.value))


def _operations(e: Expr) -> int:
    """Return the operations of a value that may wait for one another; beside a maximum, for NaNs."""
    if not isinstance(e, Op):
        return 0
    return (2 if e.op in ("max", "min") else 1) + sum(_operations(a) for a in e.args)


def _attempted(h: History, move: str) -> list[str]:
    """Make a move where it is legal and return the new scopes."""
    before = h.program.scopes
    return [s for s in h.program.scopes if s not in before] if h.attempt(move) else []


def _back(h: History, states: tuple[State, ...]) -> None:
    while h.states != states:
        h.undo()
