"""GPU: each nest becomes a kernel, whose parallel scopes, as one, are spread over blocks of threads."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.kept import WARP
from perfdojo.compiler.ir import Scope
from perfdojo.compiler.recipes._gpu_rows import THREADS, at_once, is_row, parallel_chain, row, width
from perfdojo.compiler.recipes._steps import drop_single, extent, inside, made, unmark
from perfdojo.compiler.schedule import History

FULL = 128
"""Blocks that there should be where each thread does several elements: about one a multiprocessor."""


def gpu(h: History) -> None:
    """Spread the parallel scopes outside of each nest over a grid, what they hold over threads of a block.

        M N y[{0},{1}] = x[{0},{1}]
        ->
        i_o:(M*N//256)@grid_x i_i:256@block_x y[..] = x[..]

        M N s[{0}] += x[{0},{1}]
        ->
        M@grid_x 4@block_y 32@block_x p[..] = 0; N//512 .. p[..] += x[..]; 4@block_y 32@warp ..

    Scopes that follow each other become one. Where neighbours in memory are touched along what these hold, a
    block does one iteration, and its threads share it; else each thread does one, or as many as one access
    takes. The last block is not full where its size does not divide them. Nests in which the writer marked a
    scope stay as they are; what is not parallel is done by one thread.
    """
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    drop_single(h, [s for top in _free(h) for s in _all(h, top)])
    for top in _free(h):
        _spread(h, top)


def _free(h: History) -> list[str]:
    """Return the nests that hold no mark."""
    scopes = h.program.scopes
    tops = [node.name for node in h.program.body if isinstance(node, Scope)]
    return [top for top in tops if not any(scopes[s].node.mark for s in _all(h, top))]


def _all(h: History, top: str) -> list[str]:
    return [top, *inside(h, top)]


def _spread(h: History, top: str) -> None:
    """Mark one nest."""
    parallel = parallel_chain(h, top)
    if not parallel:
        return
    rows = h.setting.allows("reassoc") and is_row(h, parallel)
    run, wide, count = "", width(h, top), prod(extent(h, s) for s in parallel)
    if not rows and extent(h, parallel[-1]) % wide == 0 and count >= FULL * THREADS * wide:
        parallel[-1], run = made(h, f"tile_scope {parallel[-1]} {wide}")
    flat = parallel[0]
    for inner in parallel[1:]:
        flat = made(h, f"collapse_scopes {flat} {inner}")[0]
    count = extent(h, flat)
    if rows:
        h.apply(f"grid {flat} x")
        row(h, flat)
        if count <= FULL * WARP or any(h.program.scopes[s].node.mark for s in inside(h, flat)):
            return
        h.apply(f"sequential {flat}")  # nothing to share, and more rows than blocks of one thread run at once
    if count <= WARP:
        h.apply(f"grid {flat} x")
        return
    size = THREADS if count > THREADS and not rows else WARP
    rest = " remainder mask" if count % size else ""
    outer, inner = made(h, f"tile_scope {flat} {size}{rest}")
    h.apply(f"grid {outer} x")
    h.apply(f"block {inner} x")
    at_once(h, run)
