"""First and last passes of FPU loops, written out, so that registers need no start and results no copy.

    s = z;  frep n { s = a*b + s };  y = s   ->   s = a*b + z;  frep n-2 { s = a*b + s };  y = a*b + s

Exact at every level: the first pass adds to the constant that the register would have held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perfdojo.compiler.lowering.nests.registers import tied
from perfdojo.compiler.lowering.nests.tree import Arg, Block, Line, Node, Nodes, Site, Spread, lines_of

Reads = dict[str, int]
"""How many lines read a register."""


def collapsed(nodes: Nodes, levels: int) -> Nodes:
    """Return a tree in which FPU loops and loops that hold nothing else are one, at most `levels` of them."""
    out: list[Node] = []
    for n in nodes:
        if isinstance(n, Line):
            out.append(n)
            continue
        body = collapsed(n.body, levels)
        child = body[0] if len(body) == 1 else None
        if isinstance(child, Block) and _plain(child) and len(child.loops) < levels:
            out.append(replace(child, loops=(*n.loops, *child.loops)))
        else:
            out.append(replace(n, body=body))
    return tuple(out)


def peeled(nodes: Nodes, first: bool, last: bool) -> Nodes:
    """Return a tree with first and last passes of innermost loops written out where that saves copies."""
    return _peeled(nodes, first, last, reads_of(lines_of(nodes)))


def reads_of(lines: Sequence[Line]) -> Reads:
    """Count the lines that read each register."""
    counts: Reads = {}
    for line in lines:
        for name in {register_of(a) for a in line.args} - {""} | tied(line):
            counts[name] = counts.get(name, 0) + 1
    return counts


def register_of(a: Arg) -> str:
    """Return the register that an operand is in, "" when it is in none."""
    found = a.scalar if isinstance(a, Spread) else a
    return found if isinstance(found, str) else ""


def _peeled(nodes: Nodes, first: bool, last: bool, reads: Reads) -> Nodes:
    out: list[Node] = []
    rest = list(nodes)
    while rest:
        node = rest.pop(0)
        if not isinstance(node, Block):
            out.append(node)
        elif any(isinstance(n, Block) for n in node.body):
            out.append(replace(node, body=_peeled(node.body, first, last, reads)))
        else:
            out, written = _one(node, out, rest, first, last, reads)
            out += written
    return tuple(out)


def _one(
    node: Block, before: list[Node], rest: list[Node], first: bool, last: bool, reads: Reads
) -> tuple[list[Node], list[Node]]:
    """Return what stands in front of a loop, and the loop with its passes; takes from `rest` what they do."""
    start, end = 0, node.count
    front: list[Node] = []
    back: list[Node] = []
    starts = _starts(node, before) if first and end > 1 else {}
    if starts:
        gone = {id(line) for line in starts.values()}
        before = [n for n in before if id(n) not in gone]
        front = list(_copy(node, 0, "'f", {v: line.args[0] for v, line in starts.items()}, reads))
        start = 1
    stored = _stored(node, rest, reads) if last else {}
    if stored:
        gone = {id(line) for line in stored.values()}
        rest[:] = [n for n in rest if id(n) not in gone]
        end -= 1
        back = list(_finished(_copy(node, end, "'l", {}, reads), stored))
    if end - start == 1 and (starts or stored):
        middle: list[Node] = list(_copy(node, start, "'m", {}, reads))
    elif end > start:
        middle = [_between(node, start, end)]
    else:
        middle = []
    return before, [*front, *middle, *back]


def _between(node: Block, start: int, end: int) -> Block:
    """Return a loop from one iteration to another; one of several scopes leaves out the others."""
    if len(node.loops) > 1:
        return replace(node, front=start, back=node.count - end)
    ((name, _),) = node.loops

    def moved(a: Arg) -> Arg:
        if isinstance(a, Spread):
            return Spread(moved_site(a.scalar) if isinstance(a.scalar, Site) else a.scalar)
        return moved_site(a) if isinstance(a, Site) else a

    def moved_site(s: Site) -> Site:
        return s._replace(const=s.const + dict(s.steps).get(name, 0) * start)

    lines = [
        replace(
            n, dest=moved_site(n.dest) if isinstance(n.dest, Site) else n.dest, args=tuple(map(moved, n.args))
        )
        for n in _lines(node)
    ]
    return replace(node, loops=((name, end - start),), body=tuple(lines))


def _plain(node: Block) -> bool:
    return node.frep and all(isinstance(n, Line) for n in node.body)


def _lines(node: Block) -> list[Line]:
    return [n for n in node.body if isinstance(n, Line)]


def _carried(lines: Sequence[Line]) -> list[str]:
    """Return the registers that a body reads before it sets them, and sets."""
    sets: set[str] = set()
    early: list[str] = []
    for line in lines:
        for a in (*line.args, *sorted(tied(line))):
            name = register_of(a)
            if name and name not in sets and name not in early:
                early.append(name)
        if isinstance(line.dest, str):
            sets.add(line.dest)
    return [v for v in early if v in sets]


def _starts(node: Block, before: list[Node]) -> dict[str, Line]:
    """Return the copies in front of a loop that only start registers which it carries on."""
    lines = _lines(node)
    straight: list[Line] = []
    for n in reversed(before):
        if not isinstance(n, Line):
            break
        straight.insert(0, n)
    found: dict[str, Line] = {}
    for v in _carried(lines):
        spread = any(Spread(v) in n.args for n in lines)
        if spread or any(v in tied(n) for n in lines) or _early_reads(lines, v) != 1:
            continue
        own = [n for n in straight if n.dest == v]
        if len(own) != 1 or own[0].op != "copy":
            continue
        later = straight[straight.index(own[0]) + 1 :]
        source = own[0].args[0]
        moved = any(
            v in n.args or Spread(v) in n.args or (isinstance(source, str) and n.dest == source)
            for n in later
        )
        written = isinstance(source, Site) and any(
            isinstance(n.dest, Site) and n.dest.buffer == source.buffer for n in (*later, *lines)
        )
        if not moved and not written:
            found[v] = own[0]
    return found


def _early_reads(lines: Sequence[Line], v: str) -> int:
    """Count the lines that read a register before the first that sets it, that one included."""
    count = 0
    for line in lines:
        count += v in line.args
        if line.dest == v:
            break
    return count


def _stored(node: Block, after: list[Node], reads: Reads) -> dict[str, Line]:
    """Return the copies behind a loop that move results to memory which nothing else needs."""
    lines = _lines(node)
    buffers = {s.buffer for n in lines for s in n.reads}
    found: dict[str, Line] = {}
    for n in after:
        if not isinstance(n, Line) or n.op != "copy":
            break
        v = n.args[0]
        if not isinstance(n.dest, Site) or not isinstance(v, str) or n.dest.buffer in buffers:
            break
        inside = sum(v in line.args for line in lines)
        final = [k for k, line in enumerate(lines) if line.dest == v]
        if not final or any(v in line.args or Spread(v) in line.args for line in lines[final[-1] + 1 :]):
            continue
        if reads.get(v, 0) == inside + 1 and v not in found and not any(v in tied(line) for line in lines):
            found[v] = n
    return found


def _finished(lines: Sequence[Line], stored: dict[str, Line]) -> list[Line]:
    """Return the last pass with its results going to memory."""
    out: list[Line] = []
    left = dict(stored)
    for line in reversed(lines):
        if isinstance(line.dest, str) and line.dest in left:
            line = replace(line, dest=left.pop(line.dest).dest)
        out.append(line)
    return out[::-1]


def _copy(node: Block, iteration: int, suffix: str, starts: dict[str, Arg], reads: Reads) -> list[Line]:
    """Return one pass of a loop; registers that live inside of a pass only get names of their own."""
    lines = _lines(node)
    places = node.place(iteration)
    carried = set(_carried(lines))
    inside = reads_of(lines)
    inner = {
        n.dest
        for n in lines
        if isinstance(n.dest, str) and n.dest not in carried and reads.get(n.dest, 0) == inside.get(n.dest, 0)
    }
    starts = dict(starts)

    def at(site: Site) -> Site:
        for name, k in places:
            site = site.at(name, k)
        return site

    def renamed(name: str) -> str:
        return name + suffix if name in inner else name

    def moved(a: Arg) -> Arg:
        if isinstance(a, Site):
            return at(a)
        if isinstance(a, str):
            return starts.get(a, renamed(a))
        if isinstance(a, Spread):
            return Spread(at(a.scalar) if isinstance(a.scalar, Site) else renamed(a.scalar))
        return a

    out = []
    for line in lines:
        args = tuple(moved(a) for a in line.args)
        dest = at(line.dest) if isinstance(line.dest, Site) else line.dest
        if isinstance(dest, str):
            starts.pop(dest, None)
            dest = dest + suffix if dest in inner else dest
        out.append(replace(line, dest=dest, args=args))
    return out
