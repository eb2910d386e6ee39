"""Proof that streams keep the order of accesses: nothing is written on one way and touched later on another.

Read streams run ahead of the instructions that take their elements, and write streams lag behind: what is
read must have been taken before, or by the very instruction that writes it, and no two ways write one word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.lowering.nests.limits import MAX_ELEMENTS, WORD_BYTES
from perfdojo.compiler.lowering.nests.tree import Block, Line, NestError, Nodes, Site

Ints = NDArray[np.int64]
PORT = -1
"""The way of loads and stores of the FPU: its own port, which keeps their order."""


@dataclass(frozen=True, slots=True)
class _Run:
    """The accesses of one operand: words and times of all its executions."""

    site: Site
    way: int
    write: bool
    words: Ints
    times: Ints


def proved(nodes: Nodes) -> None:
    """Check a tree whose accesses have been given to movers.

    Raises:
        NestError: an order that matters is not kept.
    """
    written = {s.buffer for s, _, write in _accesses(nodes) if write}
    ways: dict[str, set[tuple[int, bool]]] = {}
    for s, way, write in _accesses(nodes):
        ways.setdefault(s.buffer, set()).add((way, write))
    wanted = {b for b in written if len(ways[b]) > 1}
    if not wanted:
        return
    runs: list[_Run] = []
    _enumerate(nodes, wanted, [], 0, runs)
    for buffer in sorted(wanted):
        _check(buffer, [r for r in runs if r.site.buffer == buffer])


def _accesses(nodes: Nodes) -> list[tuple[Site, int, bool]]:
    found: list[tuple[Site, int, bool]] = []
    for n in nodes:
        if isinstance(n, Block):
            found += _accesses(n.body)
        else:
            found += _of(n)
    return found


def _of(n: Line) -> list[tuple[Site, int, bool]]:
    found = [(s, number, n.dest == f"ft{number}") for s, number in n.streamed]
    if n.op == "load":
        found += [(s, PORT, False) for s in n.reads]
    if isinstance(n.dest, Site):
        found.append((n.dest, PORT, True))
    return found


def _enumerate(
    nodes: Nodes, wanted: set[str], around: list[tuple[Block, int]], start: int, runs: list[_Run]
) -> int:
    """Add the accesses of a tree that begins at time `start`; return the time behind it.

    `around`: loops and the time that an iteration takes, outermost first.
    """
    now = start
    for n in nodes:
        if isinstance(n, Block):
            length = _length(n.body)
            _enumerate(n.body, wanted, [*around, (n, length)], now, runs)
            now += n.count * length
            continue
        for site, way, write in _of(n):
            if site.buffer in wanted:
                runs.append(_run(site, way, write, around, now))
        now += 1
    return now


def _length(nodes: Nodes) -> int:
    return sum(1 if isinstance(n, Line) else n.count * _length(n.body) for n in nodes)


def _run(site: Site, way: int, write: bool, around: list[tuple[Block, int]], now: int) -> _Run:
    words, times = np.array([site.const], np.int64), np.array([now], np.int64)
    steps = dict(site.steps)
    for block, length in reversed(around):
        if len(words) * block.count > MAX_ELEMENTS:
            raise NestError(f"{site.buffer} is written and touched elsewhere over {MAX_ELEMENTS} times")
        moved = np.zeros(1, np.int64)
        for name, count in reversed(block.loops):
            moved = (moved[None, :] + np.arange(count, dtype=np.int64)[:, None] * steps.get(name, 0)).ravel()
        moved = moved[block.front : len(moved) - block.back]
        words = (words[None, :] + moved[:, None]).ravel()
        times = (times[None, :] + np.arange(block.count, dtype=np.int64)[:, None] * length).ravel()
    return _Run(site, way, write, words // WORD_BYTES, times)


def _check(buffer: str, runs: list[_Run]) -> None:
    if len({r.site.terms for r in runs}) > 1:
        raise NestError(f"{buffer} is written, and the loops around move its accesses apart")
    low = min(int(r.words.min()) for r in runs)
    size = max(int(r.words.max()) for r in runs) - low + 1
    never = np.iinfo(np.int64).max
    for w in (r for r in runs if r.write):
        first = np.full(size, never)
        np.minimum.at(first, w.words - low, w.times)
        for r in runs:
            if r is w or r.way == w.way:
                continue
            at = first[r.words - low]
            if r.write and bool((at != never).any()):
                raise NestError(f"{buffer} is written on two ways, and streams keep no order")
            if bool((at < r.times).any()):
                raise NestError(f"{buffer} is read again after it was written, and streams keep no order")
