"""Results that are only stored go to memory without a register between, two narrow ones as one word."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.lir import VType
from perfdojo.compiler.lowering.nests.limits import WORD_BYTES
from perfdojo.compiler.lowering.nests.order import apart
from perfdojo.compiler.lowering.nests.peel import Reads, reads_of
from perfdojo.compiler.lowering.nests.registers import tied
from perfdojo.compiler.lowering.nests.tree import Block, Line, Node, Nodes, Site, aligned, lines_of


def sunk(nodes: Nodes) -> Nodes:
    """Return a tree in which results that are only stored go to memory without a register between."""
    return _sunk(nodes, reads_of(lines_of(nodes)))


def _sunk(nodes: Nodes, reads: Reads) -> Nodes:
    out: list[Node] = []
    for n in nodes:
        if isinstance(n, Block):
            out.append(replace(n, body=_sunk(n.body, reads)))
            continue
        place = _source(n, out, reads)
        if place is None:
            out.append(n)
        else:
            made = out[place]
            assert isinstance(made, Line)
            out[place] = replace(made, dest=n.dest)
    return tuple(out)


def paired(nodes: Nodes) -> Nodes:
    """Return a tree in which two scalars that are stored next to each other go to memory as one word."""
    return _paired(nodes, [0])


def _paired(nodes: Nodes, made: list[int]) -> Nodes:
    out: list[Node] = []
    for n in _in_registers(nodes, made):
        if isinstance(n, Block):
            out.append(replace(n, body=_paired(n.body, made)))
            continue
        place = _partner(n, out)
        if place is None:
            out.append(n)
            continue
        other = out.pop(place)
        assert isinstance(other, Line)
        assert isinstance(other.dest, Site)
        assert isinstance(n.dest, Site)
        low, high = sorted((other, n), key=lambda line: line.dest.const if isinstance(line.dest, Site) else 0)
        assert isinstance(low.dest, Site)
        type = VType(n.type.dtype, 2)
        out.append(Line("pack", type, low.dest._replace(type=type), (*low.args, *high.args)))
    return tuple(out)


def _in_registers(nodes: Nodes, made: list[int]) -> list[Node]:
    """Return nodes whose results go through registers where the other half of their word is one, too."""
    halves = [n.dest for n in nodes if isinstance(n, Line) and isinstance(n.dest, Site) and _narrow(n)]
    out: list[Node] = []
    for n in nodes:
        site = n.dest if isinstance(n, Line) and n.op != "copy" and _narrow(n) else None
        if isinstance(n, Line) and isinstance(site, Site) and any(_one_word(site, s) for s in halves):
            made[0] += 1
            value = f"%h{made[0]}"
            out += [replace(n, dest=value), Line("copy", n.type, site, (value,))]
        else:
            out.append(n)
    return out


def _narrow(n: Line) -> bool:
    return n.type.lanes == 1 and n.type.dtype.name == "f32"


def _partner(n: Line, before: list[Node]) -> int | None:
    """Return the place of the store of the other half of the word that line `n` stores to."""
    if not _half(n):
        return None
    assert isinstance(n.dest, Site)
    for place in range(len(before) - 1, -1, -1):
        line = before[place]
        if not isinstance(line, Line):
            return None
        if isinstance(line.dest, Site) and _half(line) and _one_word(line.dest, n.dest):
            value = line.args[0]
            later = [x for x in before[place + 1 :] if isinstance(x, Line)]
            return None if any(x.dest == value for x in later) else place
        touched = (*line.reads, *((line.dest,) if isinstance(line.dest, Site) else ()))
        if any(s.buffer == n.dest.buffer and not apart(s, n.dest) for s in touched):
            return None
    return None


def _half(n: Line) -> bool:
    return n.op == "copy" and isinstance(n.dest, Site) and isinstance(n.args[0], str) and _narrow(n)


def _one_word(a: Site, b: Site) -> bool:
    low = min(a, b, key=lambda s: s.const)
    return (
        a._replace(const=0) == b._replace(const=0)
        and abs(a.const - b.const) == a.bytes
        and aligned(low._replace(type=VType(a.type.dtype, WORD_BYTES // a.bytes)))
    )


def _source(n: Line, before: list[Node], reads: Reads) -> int | None:
    """Return the place of the line that may store its result instead of line `n`; None when none may."""
    v = n.args[0]
    if n.op != "copy" or not isinstance(n.dest, Site) or not isinstance(v, str) or reads.get(v) != 1:
        return None
    for place in range(len(before) - 1, -1, -1):
        line = before[place]
        if not isinstance(line, Line):
            return None
        if line.dest == v:
            return None if v in tied(line) or line.type != n.type else place
        touched = (*line.reads, *((line.dest,) if isinstance(line.dest, Site) else ()))
        if not all(apart(s, n.dest) for s in touched):
            return None
    return None
