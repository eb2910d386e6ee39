"""Streams: nests whose elements data movers deliver to an FPU that repeats them by itself."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import prod

from perfdojo.compiler.ir import Literal, Node, Scope, Statement
from perfdojo.compiler.lowering.nests.limits import MAX_INSTRUCTIONS
from perfdojo.compiler.plan.knobs import Knobs
from perfdojo.compiler.recipes._apart import functions_apart, rows_stored, streams_apart
from perfdojo.compiler.recipes._shape import attempted, back, shape, starts, tried
from perfdojo.compiler.recipes._steps import (
    chain,
    drop_single,
    extent,
    inside,
    made,
    unmark,
    unroll,
)
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import const_int, iterators

FEW_STORES = 256
"""Elements that are set to one value by a store each: 2 KiB of doubles lie within the reach of its offset."""
WRITTEN_OUT = ("unroll", "vector")
"""Marks of scopes of which no loop is left."""


def streams(h: History, *, rows: int = 0, passes: int = 0, sums: int = 0) -> None:
    """Separate nests, compute several results side by side, and mark what data movers and FPU can do alone.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        m:M@stream n_o:N/8 n_i:8@unroll c[{0},{1}*8+{2}] = 0
        | | k:K@frep n_i_2:8@unroll c[{0},{1}*8+{3}] += a[{0},{2}] * b[{2},{1}*8+{3}]

    Scopes of which nothing is left over after blocks of 4 to 8 are preferred; else what is left is a nest of
    its own. Reductions to fewer than 4 elements get 4 accumulators each, where the level allows it. What
    cannot be streamed stays as it is, and so do nests in which the writer marked a scope, but for @parallel.

    Args:
        rows: results of reductions that are computed side by side, instead of 4 to 8.
        passes: elements, or words of them, side by side in nests without reductions, instead of 4.
        sums: accumulators, or words of them, of reductions to few elements, instead of 4.
    """
    knobs = Knobs(rows=rows, passes=passes, sums=sums)
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    for node in h.program.body:
        if _unmarked(h, node.name):
            drop_single(h, [node.name, *inside(h, node.name)])
    rows_stored(h)
    for node in h.program.body:
        if _unmarked(h, node.name):
            functions_apart(h, node.name)
            streams_apart(h, node.name)
            separate(h, node.name)
    _nests(h, "", knobs)


def _nests(h: History, parent: str, knobs: Knobs) -> None:
    """Bring the nests in a scope into form and mark them, or those that they hold."""
    for group in _groups(_body(h, parent)):
        top = group[-1]
        if not _unmarked(h, top):
            continue
        inner = chain(h, top)[-1]
        if len(_groups(_body(h, inner))) > 1 and any(isinstance(n, Scope) for n in _body(h, inner)):
            _nests(h, inner, knobs)
            continue
        before = h.states
        kept = {n.name for n in _body(h, parent)} - set(group)
        if stores(h, top):
            continue
        tried(h, partial(shape, h, top, knobs))
        if not mark(h, [n.name for n in _body(h, parent) if n.name not in kept]):
            back(h, before)


def _body(h: History, parent: str) -> tuple[Node, ...]:
    """Return the nodes in a scope, or those of the program where it is ""."""
    return h.program.scopes[parent].node.body if parent else h.program.body


def _groups(body: tuple[Node, ...]) -> list[list[str]]:
    """Return the nests, each with the statement that starts it."""
    groups: list[list[str]] = []
    for before, node in zip((None, *body), body, strict=False):
        if before is not None and starts(before, node):
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
        if not starts(before, node):
            parts += attempted(h, f"fission_scope {parts[-1]} at {node.name}")[:1]


def _meet(h: History, scope: str) -> None:
    """Bring statements that start a reduction before it, where others stand between."""
    for node in h.program.scopes[scope].node.body:
        while isinstance(node, Statement) and node.op == "=" and isinstance(node.value, Literal):
            body = h.program.scopes[scope].node.body
            place = [n.name for n in body].index(node.name)
            if not any(starts(node, other) for other in body[place + 2 :]):
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


def mark(h: History, names: list[str]) -> bool:
    """Mark the nests that siblings are, as one where that can be; tell if any is streamed."""
    given = names
    if len(names) > 1:
        before = h.states
        names = [_gathered(h, names)]
        if not h.attempt(f"stream {names[0]}"):
            back(h, before)
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


def _moving(node: Node) -> bool:
    """Tell whether what a statement computes is not the same everywhere."""
    return not isinstance(node, Statement) or bool(iterators(node.value))
