"""Which accesses a data mover serves, at most three of them, and which the FPU's own port."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

from perfdojo.compiler.lowering.nests.limits import MOVERS
from perfdojo.compiler.lowering.nests.sequence import Pattern, fitted, sequence
from perfdojo.compiler.lowering.nests.tree import Arg, Block, Line, NestError, Node, Nodes, Site, aligned

MAX_CHOICES = 256
"""Combinations of choices that are tried."""

MAX_WAYS = 4
"""Of them, those that are tried further."""

Group = tuple[str, tuple[tuple[str, int], ...], bool]
"""Buffer, how counters around the nest move it, whether it is written: what one mover can serve."""

Key = tuple[int, Site, bool]
"""A line, by its `id`, an access of it, and whether it writes."""

Picked = dict[tuple[int, bool], list[tuple[Site, int]]]
"""What a line reads, or writes, by movers: each access with the number of its mover."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a mover does.

    Attributes:
        number: of the mover.
        path: names of the loops of the integer core in whose body, at its start, the mover is launched.
        steps: (loop, bytes) that each iteration of these moves the start.
    """

    number: int
    group: Group
    path: tuple[str, ...]
    pattern: Pattern
    steps: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class _Use:
    """The accesses of one group: each with whether it lies in an FPU loop, and in no loop at all."""

    group: Group
    keys: list[Key]
    forced: list[Key]
    lines: list[Line]
    outside: bool


def assigned(nodes: Nodes) -> list[tuple[Nodes, tuple[Job, ...]]]:
    """Return the tree with its accesses on streams or in loads and stores, and what the movers do.

    The best ways come first, at most `MAX_WAYS` of them.

    Raises:
        NestError: three movers and four loops are not enough.
    """
    uses = _uses(nodes)
    if not any(aligned(s) for u in uses for _, s, _ in u.keys):
        names = " ".join(sorted({u.group[0] for u in uses}))
        raise NestError(f"the elements of {names} do not fill words of 64 bits one by one")
    if all(u.outside for u in uses):
        raise NestError("nothing in it moves")
    found: list[tuple[int, Nodes, tuple[Job, ...]]] = []
    reason = ""
    known: dict[tuple[int, int], Job | str] = {}

    def job(u: _Use, option: dict[Key, int], colour: int) -> Job | str:
        key = id(option), colour
        if key not in known:
            known[key] = _job(nodes, u.group, [k for k, c in option.items() if c == colour])
        return known[key]

    for choice in islice(product(*(list(_options(u)) for u in uses)), MAX_CHOICES):
        colours = {(u.group, c) for u, o in zip(uses, choice, strict=True) for c in o.values()}
        if len(colours) > MOVERS:
            names = " ".join(sorted({g[0] for g, _ in colours}))
            reason = reason or f"it needs {len(colours)} streams ({names}), and there are {MOVERS}"
            continue
        numbers = _numbers(sorted(colours, key=lambda c: [u.group for u in uses].index(c[0])))
        if not colours:
            continue
        picked: Picked = {}
        for u, option in zip(uses, choice, strict=True):
            for (line, site, writes), c in option.items():
                picked.setdefault((line, writes), []).append((site, numbers[u.group, c]))
        jobs: list[Job] = []
        for u, option in zip(uses, choice, strict=True):
            for colour in dict.fromkeys(option.values()):
                one = job(u, option, colour)
                if isinstance(one, str):
                    reason = reason or one
                else:
                    jobs.append(replace(one, number=numbers[u.group, colour]))
        if len(jobs) < len(numbers):
            continue
        made = _rewritten(nodes, picked)
        price = _price(made) + sum(len(j.path) for j in jobs)
        found.append((price, made, tuple(sorted(jobs, key=lambda j: j.number))))
    if not found:
        raise NestError(reason)
    return [(made, jobs) for _, made, jobs in sorted(found, key=lambda f: f[0])[:MAX_WAYS]]


def _price(nodes: Nodes) -> int:
    total = 0
    for n in nodes:
        total += 1 if isinstance(n, Line) else n.count * _price(n.body)
    return total


def _uses(nodes: Nodes) -> list[_Use]:
    found: dict[Group, _Use] = {}

    def look(nodes: Nodes, depth: int, frep: bool) -> None:
        for n in nodes:
            if isinstance(n, Block):
                look(n.body, depth + 1, frep or n.frep)
                continue
            sites = [(s, False) for s in n.reads]
            if isinstance(n.dest, Site):
                sites.append((n.dest, True))
            for s, write in sites:
                group = s.buffer, s.terms, write
                use = found.setdefault(group, _Use(group, [], [], [], True))
                use.keys.append((id(n), s, write))
                use.lines.append(n)
                use.outside = use.outside and depth == 0
                if frep:
                    use.forced.append((id(n), s, write))

    look(nodes, 0, False)
    return list(found.values())


def _options(use: _Use) -> Iterator[dict[Key, int]]:
    """Yield ways to serve a group, best first: a mover for each access; others are loads or stores."""
    words = (k for k in use.keys if k[1].type.lanes > 1)
    for _, s, _ in (*use.forced, *words):
        # a load of a word has to be aligned as well
        if not aligned(s):
            raise NestError(f"the elements of {s.buffer} do not fill words of 64 bits one by one")
    could = [k for k in use.keys if aligned(k[1])]
    chosen = [could] if len(could) == len(use.forced) else [could, use.forced]
    if use.outside:
        chosen = chosen[::-1]
    for keys in chosen:
        by_place = _by_place(use, keys)
        yield by_place
        by_element = _by_element(by_place)
        if by_element != by_place:
            yield by_element


def _by_place(use: _Use, keys: list[Key]) -> dict[Key, int]:
    """Return a mover for each access, others for those of the same instruction."""
    found: dict[Key, int] = {}
    used: dict[int, int] = {}
    wanted = set(keys)
    for k in use.keys:
        if k in wanted and k not in found:
            found[k] = used.get(k[0], 0)
            used[k[0]] = found[k] + 1
    return found


def _by_element(by_place: dict[Key, int]) -> dict[Key, int]:
    """Return the same where each element comes from one mover: that of the instruction with the most."""
    found: dict[Site, int] = {}
    for (_, site, _), number in by_place.items():
        found[site] = max(found.get(site, 0), number)
    return {k: found[k[1]] for k in by_place}


def _numbers(colours: list[tuple[Group, int]]) -> dict[tuple[Group, int], int]:
    """Return the movers: what is read comes from ft0 on, what is written goes to ft2 and downwards."""
    reads = [c for c in colours if not c[0][2]]
    writes = [c for c in colours if c[0][2]]
    return {c: k for k, c in enumerate(reads)} | {c: MOVERS - 1 - k for k, c in enumerate(writes)}


# ---------------------------------------------------------------- patterns


def _job(nodes: Nodes, group: Group, keys: list[Key]) -> Job | str:
    """Return what a mover does, launched as far outside as its pattern allows; or why none does it.

    Which mover that is depends on what the others do: its number is left 0.
    """
    picked: dict[int, Site] = {}
    for line, site, _ in keys:
        picked.setdefault(line, site)

    def chosen(n: Line) -> Site | None:
        return picked.get(id(n))

    path: list[str] = []
    while True:
        whole = sequence(nodes, chosen)
        assert whole is not None
        steps = {n: m for n, m in whole.moves.items() if n in path}
        uniform = all(bool((m == m[0]).all()) for m in steps.values())
        pattern = fitted(whole, not group[2]) if uniform else None
        if pattern is not None:
            moved = tuple((n, int(steps[n][0])) for n in path if n in steps and int(steps[n][0]))
            return Job(0, group, tuple(path), pattern, moved)
        inside = [n for n in nodes if isinstance(n, Block) and sequence(n.body, chosen) is not None]
        beside = any(isinstance(n, Line) and chosen(n) is not None for n in nodes)
        if beside or len(inside) != 1 or inside[0].frep:
            return f"four loops of a data mover do not run through {group[0]} as this does"
        path += [name for name, _ in inside[0].loops]
        nodes = inside[0].body


# ---------------------------------------------------------------- the tree with its streams


def _rewritten(nodes: Nodes, picked: Picked) -> Nodes:
    out: list[Node] = []
    count = [0]
    _rewrite(nodes, picked, out, count)
    return tuple(out)


def _mover(picked: Picked, line: Line, site: Site, writes: bool) -> int | None:
    return next((mover for s, mover in picked.get((id(line), writes), ()) if s == site), None)


def _rewrite(nodes: Nodes, picked: Picked, out: list[Node], count: list[int]) -> None:
    for n in nodes:
        if isinstance(n, Block):
            inner: list[Node] = []
            _rewrite(n.body, picked, inner, count)
            out.append(replace(n, body=tuple(inner)))
            continue
        streamed: list[tuple[Site, int]] = []
        args: list[Arg] = []
        known: dict[Site, str] = {}
        for a in n.args:
            if isinstance(a, Site) and a not in known:
                number = _mover(picked, n, a, False)
                if number is not None:
                    known[a] = f"ft{number}"
                    streamed.append((a, number))
                elif n.op == "copy" and isinstance(n.dest, str):
                    known[a] = ""
                else:
                    count[0] += 1
                    known[a] = f"%l{count[0]}"
                    out.append(Line("load", a.type, known[a], (a,)))
            args.append(known[a] if isinstance(a, Site) else a)
        if n.op == "copy" and args == [""]:
            out.append(Line("load", n.type, n.dest, n.args))
            continue
        dest = n.dest
        if isinstance(dest, str):
            out.append(replace(n, args=tuple(args), streamed=tuple(streamed)))
            continue
        number = _mover(picked, n, dest, True)
        if number is not None:
            streamed.append((dest, number))
            out.append(replace(n, dest=f"ft{number}", args=tuple(args), streamed=tuple(streamed)))
        elif n.op == "copy" and isinstance(args[0], str) and not streamed:
            out.append(Line("store", n.type, dest, tuple(args)))
        else:
            count[0] += 1
            value = f"%v{count[0]}"
            out.append(replace(n, dest=value, args=tuple(args), streamed=tuple(streamed)))
            out.append(Line("store", n.type, dest, (value,)))
