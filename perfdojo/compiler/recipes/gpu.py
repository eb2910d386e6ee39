"""GPU: each nest becomes a kernel, whose parallel scopes, as one, are spread over blocks of threads."""

from __future__ import annotations

from perfdojo.compiler.analysis.dependence import is_parallel
from perfdojo.compiler.ir import Scope
from perfdojo.compiler.recipes._steps import chain, drop_single, extent, inside, made, unmark
from perfdojo.compiler.schedule import History

THREADS = 256
"""Of a block: eight warps, of which a multiprocessor of any device holds several."""
WARP = 32


def gpu(h: History) -> None:
    """Spread the parallel scopes outside of each nest over a grid of blocks of 256 threads.

        M N y[{0},{1}] = x[{0},{1}]
        ->
        i_o:(M*N//256)@grid_x i_i:256@block_x y[..] = x[..]

    Scopes that follow each other become one; the last block is not full where 256 does not divide them. Nests
    in which the writer marked a scope stay as they are; what is not parallel is done by one thread.
    """
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    drop_single(h)
    for node in h.program.body:
        if isinstance(node, Scope) and not any(h.program.scopes[s].node.mark for s in _all(h, node.name)):
            _spread(h, node.name)


def _all(h: History, top: str) -> list[str]:
    return [top, *inside(h, top)]


def _spread(h: History, top: str) -> None:
    """Mark one nest."""
    parallel = []
    for name in chain(h, top):
        if is_parallel(h.program, name):
            break
        parallel.append(name)
    if not parallel:
        return
    flat = parallel[0]
    for inner in parallel[1:]:
        flat = made(h, f"collapse_scopes {flat} {inner}")[0]
    count = extent(h, flat)
    if count <= WARP:
        h.apply(f"grid {flat} x")
        return
    size = THREADS if count > THREADS else WARP
    rest = " remainder mask" if count % size else ""
    outer, inner = made(h, f"tile_scope {flat} {size}{rest}")
    h.apply(f"grid {outer} x")
    h.apply(f"block {inner} x")
