"""Rows on a GPU: a block does one, its threads the elements; warps combine what is summed over them."""

from __future__ import annotations

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import carried_reductions, is_parallel, is_vectorizable
from perfdojo.compiler.analysis.kept import WARP
from perfdojo.compiler.analysis.offsets import step
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import Scope
from perfdojo.compiler.recipes._steps import chain, extent, inside, made
from perfdojo.compiler.schedule import History

THREADS = 256
"""Of a block: eight warps, of which a multiprocessor of any device holds several."""
ACCESS = 16
"""Bytes of the widest access of a thread."""
EACH = 4
"""Elements of a row for each thread, where there are so many."""
IN_REGISTERS = 32
"""Elements of a temporary that a thread keeps in registers."""


def parallel_chain(h: History, top: str) -> list[str]:
    """Return a scope and those in it, perfectly nested, whose iterations are independent."""
    found = []
    for name in chain(h, top):
        if h.program.scopes[name].node.mark or is_parallel(h.program, name):
            break
        found.append(name)
    return found


def is_row(h: History, parallel: list[str]) -> bool:
    """Tell whether what a chain of parallel scopes holds is better shared by threads than done by one.

    So it is where neighbours in memory are touched along a scope in it, and not along the innermost one of
    the chain; a product reads its second factor along that.
    """
    known, last = model(h.program), parallel[-1]
    longest = max((extent(h, s) for s in inside(h, last)), default=1)
    if longest < WARP:
        return False
    if any(not is_parallel(h.program, s) for s in inside(h, last) if extent(h, s) >= WARP):
        return True
    return any(
        step(known, a, s.name) == 1 and step(known, a, last) != 0
        for a in known.within(last)
        for s in a.scopes
        if s.name not in parallel
    )


def row(h: History, scope: str) -> None:
    """Share what a scope of blocks holds between threads."""
    longest = max(extent(h, s) for s in inside(h, scope))
    warps = min(THREADS // WARP, -(-longest // (EACH * WARP)))
    for node in h.program.scopes[scope].node.body:
        if isinstance(node, Scope):
            _share(h, node.name, warps)


def _share(h: History, top: str, warps: int) -> None:
    """Share one nest of a row."""
    parallel = parallel_chain(h, top)
    if parallel:
        flat = parallel[0]
        for inner in parallel[1:]:
            flat = made(h, f"collapse_scopes {flat} {inner}")[0]
        if extent(h, flat) >= WARP:
            _spread(h, flat, warps)
        return
    if extent(h, top) < WARP or is_vectorizable(h.program, top) or len(chain(h, top)) > 1:
        return
    _reduce(h, top, warps)


def _spread(h: History, scope: str, warps: int) -> None:
    """Do the iterations of a scope by threads, as often as it takes."""
    inner, run = _blocks(h, scope, warps * WARP)
    _threads(h, inner, warps)
    at_once(h, run)


def _blocks(h: History, scope: str, size: int) -> tuple[str, str]:
    """Tile a scope; return the one for threads, and that of what each does at once, "" where that is one.

    What is left over is masked.
    """
    count, wide = extent(h, scope), width(h, scope)
    run = ""
    if count % wide == 0 and count // wide >= WARP:
        count //= wide
        scope, run = made(h, f"tile_scope {scope} {wide}")
    size = min(size, count // WARP * WARP)
    rest = " remainder mask" if count % size else ""
    outer, inner = made(h, f"tile_scope {scope} {size}{rest}")
    if 1 < extent(h, outer) * wide <= IN_REGISTERS:
        h.attempt(f"unroll {outer}")
    return inner, run


def width(h: History, scope: str) -> int:
    """Return how many elements of the arguments that a scope touches make up one access."""
    touched = {load.buffer for load, _ in touches((h.program.scopes[scope].node,))}
    sizes = [b.dtype.bytes for b in h.program.arguments if b.name in touched]
    return ACCESS // max(sizes, default=ACCESS)


def at_once(h: History, scope: str) -> None:
    """Read and write what a scope touches of arguments by one access each, where these are neighbours."""
    if not scope:
        return
    known = model(h.program)
    for buffer in h.program.arguments:
        accesses = [a for a in known.within(scope) if a.load.buffer == buffer.name]
        if not accesses or {step(known, a, scope) for a in accesses} != {1}:
            continue
        before = set(h.program.scopes)
        writes = " writes" if any(a.writes for a in accesses) else ""
        if not h.attempt(f"create_temporary {buffer.name} at {scope}{writes}"):
            continue
        copies = [s for s in h.program.scopes if s not in before]
        if len(copies) != 1 or not h.attempt(f"vectorize {copies[0]}"):
            h.undo()
    h.attempt(f"unroll {scope}")


def _threads(h: History, scope: str, warps: int) -> None:
    """Mark a scope of at most so many warps, one iteration for each thread."""
    if warps > 1 and extent(h, scope) > WARP:
        outer, scope = made(h, f"tile_scope {scope} {WARP}")
        h.attempt(f"block {outer} y")
    h.attempt(f"block {scope} x")


def _reduce(h: History, scope: str, warps: int) -> None:
    """Share a scope over which something is summed: each thread sums its elements, warps combine the sums."""
    inner, run = _blocks(h, scope, warps * WARP)
    sums = carried_reductions(h.program, inner)
    if any(h.why_not(f"split_reduction {s} by {inner}") is not None for s in sums):
        return
    for statement in sums:
        before = set(h.program.scopes)
        h.apply(f"split_reduction {statement} by {inner}")
        starts, combine = (s for s in h.program.scopes if s not in before)
        _threads(h, starts, warps)
        _combine(h, combine)
    _threads(h, inner, warps)
    at_once(h, run)


def _combine(h: History, scope: str) -> None:
    """Combine one value of each thread: in warps, then those of the warps."""
    if extent(h, scope) > WARP:
        outer, scope = made(h, f"tile_scope {scope} {WARP}")
        (name,) = (s for s, p in h.program.statements.items() if p.around and p.around[-1].name == scope)
        before = set(h.program.scopes)
        h.apply(f"split_reduction {name} by {outer}")
        starts, _ = (s for s in h.program.scopes if s not in before)
        h.attempt(f"block {starts} y")
        h.attempt(f"block {outer} y")
    h.attempt(f"warp_reduce {scope}")
