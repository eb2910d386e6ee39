"""Addresses of a stream in the order of execution, and the loops of a mover that deliver exactly these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.lowering.nests.limits import LOOPS, MAX_BOUND, MAX_ELEMENTS, MAX_REPEAT
from perfdojo.compiler.lowering.nests.tree import Block, Line, NestError, Nodes, Site

Ints = NDArray[np.int64]
Dims = list[tuple[int, int]]
"""(iterations, bytes between them), innermost first."""


@dataclass(slots=True)
class Sequence:
    """Bytes from the start of a buffer: an array, run through by outer loops, and moved by those around.

    Attributes:
        flat: the innermost part, element by element.
        moves: bytes that an iteration of a loop around moves each of these.
        dims: loops outside of `flat` that move all of it alike, innermost first.
    """

    flat: Ints
    moves: dict[str, Ints]
    dims: Dims = field(default_factory=list)

    def repeated(self, name: str, count: int) -> Sequence:
        """Return the sequence of `count` iterations of a loop."""
        moves = dict(self.moves)
        step = moves.pop(name, np.zeros(1, np.int64))
        if len(step) == 1 or bool((step == step[0]).all()):
            return Sequence(self.flat, moves, [*self.dims, (count, int(step[0]))])
        whole = self.flattened()
        step = whole.moves.pop(name)
        _limit(len(whole.flat) * count)
        flat = (whole.flat[None, :] + np.arange(count, dtype=np.int64)[:, None] * step[None, :]).ravel()
        return Sequence(flat, {n: np.tile(m, count) for n, m in whole.moves.items()})

    def without(self, block: Block) -> Sequence:
        """Return the sequence of a loop without the iterations at its ends that it leaves out."""
        whole = self.flattened()
        one = len(whole.flat) // (block.front + block.count + block.back)
        kept = slice(block.front * one, len(whole.flat) - block.back * one)
        return Sequence(whole.flat[kept], {n: m[kept] if len(m) > 1 else m for n, m in whole.moves.items()})

    def flattened(self) -> Sequence:
        """Return the sequence without `dims`."""
        flat, moves = self.flat, dict(self.moves)
        for count, step in self.dims:
            _limit(len(flat) * count)
            flat = (flat[None, :] + np.arange(count, dtype=np.int64)[:, None] * step).ravel()
            moves = {n: np.tile(m, count) for n, m in moves.items()}
        return Sequence(flat, moves)


def _limit(count: int) -> None:
    if count > MAX_ELEMENTS:
        raise NestError(f"a stream of over {MAX_ELEMENTS} elements has no pattern that is looked for")


def sequence(nodes: Nodes, chosen: Callable[[Line], Site | None]) -> Sequence | None:
    """Return the accesses that `chosen` picks from the lines of a tree, None when it picks none."""
    parts: list[Sequence] = []
    run: list[Site] = []
    for n in nodes:
        if isinstance(n, Line):
            site = chosen(n)
            if site is not None:
                run.append(site)
            continue
        inner = sequence(n.body, chosen)
        if inner is None:
            continue
        if run:
            parts.append(_straight(run))
            run = []
        for name, count in reversed(n.loops):
            inner = inner.repeated(name, count)
        parts.append(inner.without(n) if n.front or n.back else inner)
    if run:
        parts.append(_straight(run))
    if len(parts) < 2:
        return parts[0] if parts else None
    whole = [p.flattened() for p in parts]
    names = sorted({n for p in whole for n in p.moves})
    moves = {
        n: np.concatenate([p.moves.get(n, np.zeros(len(p.flat), np.int64)) for p in whole]) for n in names
    }
    return Sequence(np.concatenate([p.flat for p in whole]), moves)


def _straight(run: list[Site]) -> Sequence:
    """Return accesses one behind the other."""
    moves: dict[str, Ints] = {}
    for k, site in enumerate(run):
        for name, step in site.steps:
            moves.setdefault(name, np.zeros(len(run), np.int64))[k] = step
    return Sequence(np.array([s.const for s in run], np.int64), moves)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a mover is set to: where it starts, in bytes from the start of the buffer, and its loops."""

    start: int
    repeat: int
    dims: tuple[tuple[int, int], ...]


def fitted(found: Sequence, reads: bool) -> Pattern | None:
    """Return the pattern of a mover that runs through exactly this sequence; None when four loops do not."""
    flat = _flat_dims(found.flat)
    if flat is None:
        return None
    dims = _merged([*flat, *found.dims])
    repeat = 1
    if reads and dims and dims[0][1] == 0:
        count = dims[0][0]
        repeat = max(r for r in range(1, MAX_REPEAT + 1) if count % r == 0)
        dims = [(count // repeat, 0), *dims[1:]] if count > repeat else dims[1:]
    if len(dims) > LOOPS or any(n > MAX_BOUND for n, _ in dims):
        return None
    return Pattern(int(found.flat[0]), repeat, tuple(dims) or ((1, 0),))


def _flat_dims(flat: Ints) -> Dims | None:
    """Return the loops of an array: runs of equal steps, then the same of where the runs start."""
    dims: Dims = []
    while len(flat) > 1:
        steps = np.diff(flat)
        breaks = np.flatnonzero(steps != steps[0]) + 1
        run = int(np.gcd.reduce(breaks, initial=len(flat))) if len(breaks) else len(flat)
        run = gcd(run, len(flat))
        if run == 1:
            return None
        dims.append((run, int(steps[0])))
        flat = flat[::run]
    return dims


def _merged(dims: Dims) -> Dims:
    """Return the loops with neighbours that are one made one."""
    out: Dims = []
    for count, step in dims:
        if count == 1:
            continue
        if out and step == out[-1][0] * out[-1][1]:
            out[-1] = out[-1][0] * count, out[-1][1]
        else:
            out.append((count, step))
    return out
