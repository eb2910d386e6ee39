"""Which loops the FPU runs from its buffer: those marked so, and those around them without integer work."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.nests.limits import FREP_LEVELS, MAX_INSTRUCTIONS, MAX_PASSES
from perfdojo.compiler.lowering.nests.tree import Block, Line, NestError, Node, Nodes, lines_of


def with_freps(nodes: Nodes, outside: int, depth: int = 0) -> Nodes:
    """Return the tree with its FPU loops; the `outside` outermost levels of loops are the integer core's.

    A loop around one FPU loop becomes one too, with what stands beside it; where nothing does, both are one.

    Raises:
        NestError: scopes that were made one loop would be the core's.
    """
    out: list[Node] = []
    for n in nodes:
        if isinstance(n, Line):
            out.append(n)
            continue
        body = with_freps(n.body, outside, depth + 1)
        out.append(_run(replace(n, body=body), depth >= outside))
    return tuple(out)


def _run(n: Block, may: bool) -> Block:
    inner = [c for c in n.body if isinstance(c, Block)]
    if not inner:
        fits = may and n.frep and 0 < len(n.body) <= MAX_INSTRUCTIONS and n.count <= MAX_PASSES
        if not fits and len(n.loops) > 1:
            raise NestError(f"only the FPU runs {' '.join(name for name, _ in n.loops)} as one loop")
        return replace(n, frep=fits)
    child = inner[0]
    if not may or len(inner) > 1 or not child.frep:
        return replace(n, frep=False)
    if len(n.body) == 1:
        if n.count * child.count > MAX_PASSES or child.front or child.back:
            return replace(n, frep=False)
        return replace(child, loops=(*n.loops, *child.loops))
    fits = len(lines_of(n.body)) <= MAX_INSTRUCTIONS and n.count <= MAX_PASSES
    return replace(n, frep=fits and levels(child) < FREP_LEVELS)


def levels(n: Block) -> int:
    """Return how many loops lie in each other, this one included."""
    return 1 + max((levels(c) for c in n.body if isinstance(c, Block)), default=0)


def depth(nodes: Nodes) -> int:
    """Return how many loops lie in each other in a tree."""
    return max((levels(n) for n in nodes if isinstance(n, Block)), default=0)


def cost(nodes: Nodes) -> int:
    """Return about how many cycles a tree takes: the slower of integer core and FPU, loop by loop."""
    _, fpu = _slots(nodes, cyclic=False)
    return fpu


def _slots(nodes: Nodes, cyclic: bool) -> tuple[int, int]:
    """Return the issue slots of the core and the cycles of the FPU; `cyclic`: nodes follow themselves."""
    core = fpu = 0
    first: int | None = None
    since: int | None = None
    for n in nodes:
        if isinstance(n, Line):
            core, fpu = core + 1, fpu + 1
            since = None if since is None else since + 1
            continue
        if n.frep:
            inside = len(lines_of(n.body))
            core += 1 + inside
            fpu += n.count * cost(n.body) + (0 if since is None else max(0, FREP_GAP - since))
            first = fpu - n.count * cost(n.body) if first is None else first
            since = 0
        else:
            one, work = _slots(n.body, cyclic=True)
            core += n.count * (one + LOOP_INSTRUCTIONS)
            fpu += n.count * max(one + LOOP_INSTRUCTIONS, work)
            since = None
    if cyclic and since is not None and first is not None:
        fpu += max(0, FREP_GAP - since - first)
    return core, fpu


FREP_GAP = 4
"""Cycles that the FPU stands still between two loops of its own with nothing else between them."""
LOOP_INSTRUCTIONS = 2
"""Instructions that a loop of the integer core takes in each iteration."""


def why_no_frep(nodes: Nodes) -> str:
    """Return why a loop that is marked @frep cannot be repeated by the FPU, "" when all can be."""
    for n in nodes:
        if isinstance(n, Line):
            continue
        if any(isinstance(c, Block) for c in n.body):
            found = why_no_frep(n.body)
        else:
            found = _why_not(n) if n.frep else ""
        if found:
            return found
    return ""


def _why_not(n: Block) -> str:
    name = n.loops[-1][0]
    if len(n.body) > MAX_INSTRUCTIONS:
        return f"the body of {name} takes {len(n.body)} instructions, over {MAX_INSTRUCTIONS}"
    if n.count > MAX_PASSES:
        return f"the {n.count} iterations of {name} are over {MAX_PASSES}"
    return ""
