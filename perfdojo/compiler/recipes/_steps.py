"""What recipes are made of: a few moves each, with the names of what they made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from perfdojo.compiler.analysis.touches import statements_in, touches
from perfdojo.compiler.ir import Literal, Scope
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.schedule import History
from perfdojo.compiler.tree import nodes
from perfdojo.compiler.walk import const_int


class Blocks(NamedTuple):
    """Two nested scopes that came out of one, which they both are where one block is all; tail "" is none."""

    outer: str
    inner: str
    tail: str = ""


def extent(h: History, scope: str) -> int:
    """Return the iterations of a scope."""
    return const_int(h.program.scopes[scope].node.extent)


def made(h: History, move: str) -> list[str]:
    """Make a move and return the names of the new scopes, in the order of the text."""
    before = h.program.scopes
    return [name for name in h.apply(move).scopes if name not in before]


def blocks(h: History, scope: str, size: int) -> Blocks:
    """Tile a scope, peel what is left; nothing is done where one block is all."""
    whole = extent(h, scope)
    if whole <= size:
        return Blocks(scope, scope)
    rest = " remainder peel" if whole % size else ""
    outer, inner, *tail = made(h, f"tile_scope {scope} {size}{rest}")
    if whole // size == 1:
        h.apply(f"drop_scope {outer}")
        outer = inner
    return Blocks(outer, inner, tail[0] if tail else "")


def peeled(h: History, scope: str, at: int, again: int = 0) -> list[str]:
    """Cut a scope and return the name of its second part, and of those in it."""
    return made(h, f"peel_scope {scope} at {at}" + (f" again {again}" if again else ""))


def cut(h: History, scope: str, size: int, *below: str) -> list[tuple[Blocks, list[str]]]:
    """Tile a scope, peel what is left; return the blocks of both nests, with their copies of scopes in it."""
    names = inside(h, scope)
    outer, inner, tail = blocks(h, scope, size)
    found = [(Blocks(outer, inner), list(below))]
    if tail:
        copies = dict(zip(names, inside(h, tail), strict=True))
        found.append((Blocks(tail, tail), [copies[s] for s in below]))
    return found


def inside(h: History, scope: str) -> list[str]:
    """Return the names of the scopes in a scope, in the order of the text."""
    return [n.name for n in nodes(h.program.scopes[scope].node.body) if isinstance(n, Scope)]


def chain(h: History, scope: str) -> list[str]:
    """Return a scope and those in it down to the first that holds more than one node, or a statement."""
    found = [h.program.scopes[scope].node]
    while len(found[-1].body) == 1 and isinstance(found[-1].body[0], Scope):
        found.append(found[-1].body[0])
    return [s.name for s in found]


def order(h: History, wanted: Iterable[str]) -> None:
    """Bring perfectly nested scopes into an order; those between them stay where they are, but follow."""
    wanted = list(dict.fromkeys(wanted))
    top = min(wanted, key=lambda s: len(h.program.scopes[s].around))
    while True:
        now = [s for s in chain(h, top) if s in wanted]
        wrong = next((n for n, s in enumerate(now) if s != wanted[n]), None)
        if wrong is None:
            return
        nest = chain(h, top)
        at = nest.index(wanted[wrong])
        h.apply(f"reorder {nest[at - 1]} {nest[at]}")
        if nest[at - 1] == top:
            top = nest[at]


def sink(h: History, scope: str) -> list[str]:
    """Bring a scope to the inside of all unmarked ones in it; return its parts."""
    body = h.program.scopes[scope].node.body
    if not any(isinstance(n, Scope) and not n.mark for n in body):
        return [scope]
    if len(body) == 1:
        h.apply(f"reorder {scope} {body[0].name}")
        return sink(h, scope)
    parts = [scope]
    for node in body[1:]:
        parts += made(h, f"fission_scope {parts[-1]} at {node.name}")
    return [p for part in parts for p in sink(h, part)]


def drop_single(h: History, scopes: Iterable[str] | None = None) -> None:
    """Drop the scopes of one iteration among some, or all."""
    for name in [s for s in (h.program.scopes if scopes is None else scopes) if extent(h, s) == 1]:
        h.apply(f"drop_scope {name}")


def unmark(h: History, scopes: Iterable[str]) -> None:
    """Take the marks of scopes away."""
    for name in scopes:
        if h.program.scopes[name].node.mark:
            h.apply(f"sequential {name}")


def unroll(h: History, scopes: Iterable[str]) -> None:
    """Write scopes out where there is something to write out."""
    for name in scopes:
        if extent(h, name) > 1:
            h.attempt(f"unroll {name}")


def lanes_or_unroll(h: History, scopes: Iterable[str]) -> None:
    """Run scopes in lanes, write out those that cannot."""
    for name in scopes:
        if not h.attempt(f"vectorize {name}") and extent(h, name) <= 16:
            unroll(h, (name,))


def vectorize_rest(h: History, scopes: Iterable[str] | None = None) -> None:
    """Run in lanes the unmarked scopes that can and hold no others; whole vectors where they may repeat."""
    for name in list(h.program.scopes) if scopes is None else scopes:
        place = h.program.scopes[name]
        if place.node.mark or any(not h.program.scopes[s].node.mark for s in inside(h, name)):
            continue
        if not h.attempt(f"vectorize {name}"):
            continue
        width = min(widest_lanes(h.program, s, h.setting.target) for s in statements_in(place.node.body))
        whole = extent(h, name)
        rest = 0 if h.setting.target.masked_memory else whole % width
        if rest and whole > width:
            h.attempt(f"peel_scope {name} at {whole - rest} again {width - rest}")


def join(h: History, body: Iterable[str] | None = None) -> None:
    """Join scopes that stand one behind the other wherever it is legal, from the outside in.

    A statement between two of them that starts a reduction goes before both.
    """
    names = [n.name for n in h.program.body] if body is None else list(body)
    kept: list[str] = []
    for n, name in enumerate(names):
        if name in h.program.scopes:
            if not (kept and _fit(h, kept[-1], name) and h.attempt(f"join_scopes {kept[-1]} {name}")):
                kept.append(name)
        elif kept and _fit(h, kept[-1], *names[n + 1 : n + 2]) and _is_start(h, name):
            h.attempt(f"swap_siblings {kept[-1]} {name}")
    for name in kept:
        join(h, [n.name for n in h.program.scopes[name].node.body])


def _fit(h: History, first: str, second: str = "") -> bool:
    """Tell whether the second is a scope as long as the first, which touches a buffer that it touches."""
    scopes = h.program.scopes
    if second not in scopes or extent(h, first) != extent(h, second):
        return False
    one, two = ({load.buffer for load, _ in touches((scopes[s].node,))} for s in (first, second))
    return not one.isdisjoint(two)


def _is_start(h: History, statement: str) -> bool:
    return isinstance(h.program.statements[statement].node.value, Literal)


def even(whole: int, most: int) -> int:
    """Return the most that leaves nothing over, if it is more than half of `most`; else `most`."""
    fitting = [n for n in range(min(whole, most), most // 2, -1) if whole % n == 0]
    return fitting[0] if fitting else min(whole, most)


def threads(h: History, names: Iterable[str] | None = None) -> None:
    """Spread the outermost scopes that may be over threads; those that hold much work."""
    for name in [n.name for n in h.program.body] if names is None else names:
        place = h.program.scopes.get(name)
        if place is None or place.node.mark or extent(h, name) == 1:
            continue
        if not h.attempt(f"parallelize {name}"):
            threads(h, [n.name for n in place.node.body if isinstance(n, Scope)])
