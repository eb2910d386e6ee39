"""Order of straight code: instructions whose operands are ready come first, so that the FPU does not wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from perfdojo.compiler.lowering.nests.limits import latency
from perfdojo.compiler.lowering.nests.registers import STREAMS, tied
from perfdojo.compiler.lowering.nests.tree import Line, Node, Nodes, Site


def ordered(nodes: Nodes) -> Nodes:
    """Return the tree with each run of instructions between loops in a better order."""
    out: list[Node] = []
    run: list[Line] = []
    for n in nodes:
        if isinstance(n, Line):
            run.append(n)
            continue
        out += _scheduled(run)
        run = []
        out.append(replace(n, body=ordered(n.body)))
    return (*out, *_scheduled(run))


def _scheduled(run: Sequence[Line]) -> list[Line]:
    """Return a run in the order in which a core that issues one instruction a cycle would best have it.

    Of those that are ready, the first in the text is taken: equal copies of a body keep their order.
    """
    before = _dependences(run)
    ready = [0] * len(run)
    waits = [len(b) for b in before]
    after: list[list[tuple[int, int]]] = [[] for _ in run]
    for k, edges in enumerate(before):
        for j, cycles in edges.items():
            after[j].append((k, cycles))
    free = [k for k, w in enumerate(waits) if w == 0]  # a heap: those that are ready, by their place
    later: list[tuple[int, int]] = []  # a heap: those that follow what has been taken, by the cycle
    out: list[Line] = []
    now = 0
    while free or later:
        if not free:
            now = max(now, later[0][0])
        while later and later[0][0] <= now:
            heappush(free, heappop(later)[1])
        best = heappop(free)
        now += 1
        out.append(run[best])
        for k, cycles in after[best]:
            ready[k] = max(ready[k], now - 1 + cycles)
            waits[k] -= 1
            if waits[k] == 0:
                heappush(later, (ready[k], k))
    return out


def _dependences(run: Sequence[Line]) -> list[dict[int, int]]:
    """Return for each line the earlier ones that it must follow, and by how many cycles."""
    found: list[dict[int, int]] = []
    set_by: dict[str, int] = {}
    read_by: dict[str, list[int]] = {}
    stores: dict[str, list[tuple[int, Site]]] = {}
    loads: dict[str, list[tuple[int, Site]]] = {}
    streams: dict[str, int] = {}
    for k, line in enumerate(run):
        edges: dict[int, int] = {}

        def after(j: int, cycles: int, edges: dict[int, int] = edges) -> None:
            edges[j] = max(edges.get(j, 0), cycles)

        # the elements of a stream keep their order
        for name in STREAMS.keys() & {line.dest, *line.args}:
            if name in streams:
                after(streams[name], 1)
            streams[name] = k
        for a in (*line.args, *tied(line)):
            if isinstance(a, str):
                if a in set_by:
                    after(set_by[a], latency(run[set_by[a]].op))
                read_by.setdefault(a, []).append(k)
        # what has become a stream is an access still
        reads, writes = line.touched()
        for site in reads:
            for j, other in stores.get(site.buffer, ()):
                if not apart(site, other):
                    after(j, 1)
            loads.setdefault(site.buffer, []).append((k, site))
        for site in writes:
            for j, other in (*stores.get(site.buffer, ()), *loads.get(site.buffer, ())):
                if j != k and not apart(site, other):
                    after(j, 1)
            stores.setdefault(site.buffer, []).append((k, site))
        if isinstance(line.dest, str):
            if line.dest in set_by:
                after(set_by[line.dest], latency(run[set_by[line.dest]].op))
            for j in read_by.pop(line.dest, []):
                if j != k:
                    after(j, 1)
            set_by[line.dest] = k
        found.append(edges)
    return found


def apart(a: Site, b: Site) -> bool:
    """Tell whether two accesses of one iteration surely touch no common byte."""
    if a.buffer != b.buffer:
        return True
    same = a.terms == b.terms and a.steps == b.steps
    return same and (a.const + a.bytes <= b.const or b.const + b.bytes <= a.const)
