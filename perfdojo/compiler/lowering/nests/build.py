"""A @stream scope as target IR -> `StreamNest`, or the reason why it is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
    reason = "the FPU cannot repeat what is marked @frep"
    first = ""
    for nodes, fixed in _variants(body, arena, allowed):
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
    raise NestError(first or reason)


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
    body: tuple[Stmt, ...], arena: Arena, allowed: Allowed
) -> Iterator[tuple[Nodes, dict[str, Fixed]]]:
    """Yield trees, cheapest first, each with its constants."""
    first = Builder(arena, frozenset(), allowed.divides, allowed.reassociates)
    trees = [first.build(body)]
    if first.shared:
        trees.append(
            Builder(arena, frozenset(first.shared), allowed.divides, allowed.reassociates).build(body)
        )
    legal = legalized(trees[0], allowed.reassociates)
    reason = why_no_frep(legal)
    if reason:
        raise NestError(reason)
    marked = _marked(legal)
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


def _written_out(trees: list[Nodes]) -> Iterator[Nodes]:
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
    names: dict[tuple[str, object], str] = {}
    fixed: dict[str, Fixed] = {}

    def name(f: Fixed) -> str:
        if f.key() not in names:
            names[f.key()] = f"#{len(names)}"
            fixed[names[f.key()]] = f
        return names[f.key()]

    def change(nodes: Nodes) -> Nodes:
        return tuple(
            replace(n, args=tuple(name(a) if isinstance(a, Fixed) else a for a in n.args))
            if isinstance(n, Line)
            else replace(n, body=change(n.body))
            for n in nodes
        )

    return change(nodes), fixed


__all__ = ["Allowed", "Job", "stream_nest"]
