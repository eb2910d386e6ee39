"""FP registers for the virtual ones of a nest: linear scan over its text, loops considered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfdojo.compiler.lowering.nests.limits import MOVERS, REGISTERS, SAVED
from perfdojo.compiler.lowering.nests.tree import Block, Line, NestError, Nodes

STREAMS = {f"ft{k}": k for k in range(MOVERS)}
_TIED = ("mac", "msub", "reduce_add")


def tied(line: Line) -> set[str]:
    """Return the register that a line reads because it adds to it, if it does."""
    return {line.dest} if line.op.split(":")[0] in _TIED and isinstance(line.dest, str) else set()


@dataclass(slots=True)
class _Life:
    """From the place where a register is set first to that where it is read last."""

    start: int
    end: int
    seen: bool = False


def allocated(nodes: Nodes, constants: Sequence[str]) -> dict[str, int]:
    """Return the FP register of each virtual register; `constants` are set in front of everything.

    Raises:
        NestError: there are not enough.
    """
    lives: dict[str, _Life] = {c: _Life(-1, -1) for c in constants}
    loops: list[tuple[int, int]] = []
    uses: dict[str, list[tuple[int, bool]]] = {}
    _number(nodes, 0, uses, loops)
    for name, places in uses.items():
        life = lives.setdefault(name, _Life(places[0][0], places[0][0]))
        life.end = max(life.end, places[-1][0])
        life.start = min(life.start, places[0][0])
    # inner loops come before outer ones
    for first, last in loops:
        for name, places in uses.items():
            inside = [p for p in places if first <= p[0] <= last]
            reads = [p for p in inside if not p[1]]
            if not reads:
                continue
            life = lives[name]
            if life.start < first or not inside[0][1]:
                life.start, life.end = min(life.start, first), max(life.end, last)
    return _assigned(lives)


def _number(
    nodes: Nodes, place: int, uses: dict[str, list[tuple[int, bool]]], loops: list[tuple[int, int]]
) -> int:
    """Number lines; note for each register (place, whether it is set there), reads of a line first."""
    for n in nodes:
        if isinstance(n, Block):
            end = _number(n.body, place, uses, loops)
            loops.append((place, end - 1))
            place = end
            continue
        read = {a for a in n.args if isinstance(a, str)}
        read |= tied(n)
        for name in sorted(read - set(STREAMS)):
            uses.setdefault(name, []).append((place, False))
        if isinstance(n.dest, str) and n.dest not in STREAMS:
            uses.setdefault(n.dest, []).append((place, True))
        place += 1
    return place


def _assigned(lives: dict[str, _Life]) -> dict[str, int]:
    order = sorted(lives, key=lambda n: (lives[n].start, lives[n].end, n))
    needed = _most(lives)
    if needed > len(REGISTERS):
        raise NestError(f"it needs {needed} FP registers, and there are {len(REGISTERS)}")
    free = list(REGISTERS)
    busy: list[tuple[int, int]] = []
    found: dict[str, int] = {}
    used: set[int] = set()
    for name in order:
        life = lives[name]
        done = sorted(b for b in busy if b[0] <= life.start)
        busy = [b for b in busy if b[0] > life.start]
        free += [register for _, register in done]
        # the one that has been free for the longest time: its last writer has finished; saved ones last
        best = min(free, key=lambda r: (r in SAVED and r not in used, free.index(r)))
        free.remove(best)
        used.add(best)
        busy.append((life.end, best))
        found[name] = best
    return found


def _most(lives: dict[str, _Life]) -> int:
    """Return how many registers are needed at a time; the last reader of one may set it anew."""
    events = sorted(
        e for life in lives.values() for e in ((life.start, 1), (max(life.end, life.start + 0.5), -1))
    )
    most = now = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return most
