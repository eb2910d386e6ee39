"""A @stream scope as target IR -> `StreamNest`, or the reason why it is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.lir import Stmt
from perfdojo.compiler.lowering.nests.builder import Builder
from perfdojo.compiler.lowering.nests.conflicts import proved
from perfdojo.compiler.lowering.nests.finish import finished
from perfdojo.compiler.lowering.nests.freps import cost, depth, why_no_frep, with_freps
from perfdojo.compiler.lowering.nests.limits import MAX_INSTRUCTIONS
from perfdojo.compiler.lowering.nests.movers import Job, assigned
from perfdojo.compiler.lowering.nests.nest import StreamNest
from perfdojo.compiler.lowering.nests.order import ordered
from perfdojo.compiler.lowering.nests.packed import legalized
from perfdojo.compiler.lowering.nests.peel import collapsed, peeled
from perfdojo.compiler.lowering.nests.pushes import in_order
from perfdojo.compiler.lowering.nests.stores import paired, sunk
from perfdojo.compiler.lowering.nests.tree import Block, Fixed, Line, NestError, Nodes, lines_of

KEPT = 1000
"""Nests that are remembered: a move asks whether there is one, then the compiler makes it, and so do the
schedules of a search that differ elsewhere. What they are made of has no part of an arena but names in it."""
LONG = 4 * MAX_INSTRUCTIONS
"""Instructions from which on the last passes of loops are not written out: that saves little then."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a nest may do: divide, sum in another order (`reassoc`), be repeated by the FPU."""

    divides: bool = False
    reassociates: bool = False
    repeats: bool = True


def stream_nest(body: tuple[Stmt, ...], arena: Arena, allowed: Allowed) -> StreamNest:
    """Return the nest of a body of target IR.

    Variants differ in which loads stay in registers, which passes of loops are written out, which loops the
    FPU runs, and in the order of instructions; the cheapest one that the hardware can hold is taken.

    Raises:
        NestError: there is none; says why.
    """
    found = _cheapest(_trees(body, arena, allowed), allowed)
    if isinstance(found, str):
        raise NestError(found)
    return found


def _trees(body: tuple[Stmt, ...], arena: Arena, allowed: Allowed) -> tuple[Nodes, ...]:
    """Return the tree of a body, and that with all loads in registers that are used again."""
    first = Builder(arena, frozenset(), allowed.divides, allowed.reassociates)
    tree = first.build(body)
    if not first.shared:
        return (tree,)
    again = Builder(arena, frozenset(first.shared), allowed.divides, allowed.reassociates)
    return tree, again.build(body)


@lru_cache(maxsize=KEPT)
def _cheapest(trees: tuple[Nodes, ...], allowed: Allowed) -> StreamNest | str:
    """Return the nest of the cheapest variant of trees, or why there is none."""
    legal = legalized(trees[0], allowed.reassociates)
    reason = why_no_frep(legal)
    if reason:
        return reason
    first = ""
    for nodes, fixed in _variants(trees, _marked(legal), allowed):
        try:
            ways = assigned(nodes)
        except NestError as why:
            first = first or str(why)
            continue
        for made, jobs in ways:
            try:
                made, constants = in_order(_reordered(made), fixed)
                if constants is not fixed:
                    made = ordered(made)
                proved(made)
                return finished(made, jobs, constants)
            except NestError as why:
                first = first or str(why)
    return first or "the FPU cannot repeat what is marked @frep"


def _repeats(nodes: Nodes) -> bool:
    return any(isinstance(n, Block) and (n.frep or _repeats(n.body)) for n in nodes)


def _reordered(nodes: Nodes) -> Nodes:
    """Return the tree in a better order again, where loads and stores have come between."""
    if any(isinstance(n, Line) and n.op in ("load", "store") for n in _all(nodes)):
        return ordered(nodes)
    return nodes


def _all(nodes: Nodes) -> Iterator[Line]:
    for n in nodes:
        if isinstance(n, Line):
            yield n
        else:
            yield from _all(n.body)


def _variants(
    trees: tuple[Nodes, ...], marked: set[str], allowed: Allowed
) -> Iterator[tuple[Nodes, dict[str, Fixed]]]:
    """Yield trees in which the FPU runs all marked loops, cheapest first, each with its constants."""
    found: list[tuple[int, int, Nodes, dict[str, Fixed]]] = []
    seen: set[Nodes] = set()
    for written in _written_out(trees):
        named, fixed = _with_constants(legalized(written, allowed.reassociates))
        for outside in range(depth(named) + 1):
            try:
                nodes = with_freps(named, outside)
            except NestError:
                break
            if not marked <= _marked(nodes):
                break
            if nodes not in seen and (allowed.repeats or not _repeats(nodes)):
                seen.add(nodes)
                found.append((cost(nodes), len(found), nodes, fixed))
    for _, _, nodes, fixed in sorted(found, key=lambda f: f[:2]):
        better = ordered(nodes)
        yield better, fixed
        if better != nodes:
            yield nodes, fixed


def _written_out(trees: tuple[Nodes, ...]) -> Iterator[Nodes]:
    """Yield the trees with loops made one, and with passes of them written out, in all ways."""
    seen: set[Nodes] = set()
    for tree in trees:
        whole = paired(sunk(_repeatable(tree)))
        for levels in range(max(depth(whole), 1), 0, -1):
            merged = collapsed(whole, levels)
            if merged in seen:
                continue
            seen.add(merged)
            backs = (True, False) if len(lines_of(merged)) <= LONG else (False,)
            made = (peeled(merged, front, back) for front in (True, False) for back in backs)
            yield from dict.fromkeys(made)


def _repeatable(nodes: Nodes) -> Nodes:
    """Return the tree with its outermost loops repeated by the FPU too where there is none in them."""
    return tuple(
        n if isinstance(n, Line) or any(isinstance(c, Block) for c in n.body) else replace(n, frep=True)
        for n in nodes
    )


def _marked(nodes: Nodes) -> set[str]:
    """Return the loops without others in them that the FPU runs."""
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, Block):
            found |= _marked(n.body)
            if n.frep and not any(isinstance(c, Block) for c in n.body):
                found.add(n.loops[-1][0])
    return found


def _with_constants(nodes: Nodes) -> tuple[Nodes, dict[str, Fixed]]:
    """Return the tree with constants in registers of their own, and these."""
    names: dict[Fixed, str] = {}

    def name(f: Fixed) -> str:
        return names.setdefault(f, f"#{len(names)}")

    def change(nodes: Nodes) -> Nodes:
        return tuple(
            replace(n, args=tuple(name(a) if isinstance(a, Fixed) else a for a in n.args))
            if isinstance(n, Line)
            else replace(n, body=change(n.body))
            for n in nodes
        )

    return change(nodes), {name: f for f, name in names.items()}


__all__ = ["Allowed", "Job", "stream_nest"]
