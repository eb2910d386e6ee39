"""What the marks of GPUs share: their dimensions and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.kept import MAX_THREADS, WARP, Held, held_by_blocks, under_grid
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import BLOCK, Literal, Program, Scope
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.transforms.base import Setting, Violation
from perfdojo.compiler.tree import nodes
from perfdojo.compiler.walk import const_int

DIMENSIONS = ("x", "y", "z")


def over_limits(program: Program, setting: Setting) -> Violation | None:
    """Return that blocks would have more threads or shared memory than there can be; None otherwise."""
    for top in program.body:
        if isinstance(top, Scope) and (threads := threads_of(program, top.name, top.mark)) > MAX_THREADS:
            reason = f"a block of {top.name} would have {threads} threads, over {MAX_THREADS}"
            return Violation(0, reason, "tile the scopes")
    return _over_shared(program, setting)


def _over_shared(program: Program, setting: Setting) -> Violation | None:
    limit, names = setting.target.shared_bytes, [b.name for b in program.buffers if b.space == "shared"]
    if not limit or not names:
        return None
    known = model(program)
    for top in program.body:
        grid, body = under_grid((top,))
        used = {load.buffer for load, _ in touches(body)} & set(names)
        total = sum(_block_bytes(known, grid, name) for name in used)
        if total > limit:
            listed = ", ".join(sorted(used))
            reason = (
                f"a block of {top.name} would need {total} bytes of shared memory for {listed}, over {limit}"
            )
            return Violation(0, reason, "stage smaller blocks, or mark the scopes of the grid first")
    return None


def _block_bytes(known: Model, grid: Sequence[Scope], name: str) -> int:
    """Return the bytes of what a block has of a buffer, all of it where blocks share it."""
    buffer = known.buffers[name]
    held = held_by_blocks(known, grid, name, known.by_buffer[name]) or Held()
    shape = [held.splits[d].extent if d in held.splits else n for d, n in enumerate(known.shape(name))]
    return layout(replace(buffer, shape=tuple(Literal(n, I64) for n in shape))).bytes


def threads_of(program: Program, scope: str, mark: str) -> int:
    """Return the threads of a block when a scope has a mark too: the most along each dimension.

    Lanes of a warp lie along x.
    """
    place = program.scopes[scope]
    most = dict.fromkeys(BLOCK, 1)
    for s in nodes((place.around[0] if place.around else place.node,)):
        if not isinstance(s, Scope):
            continue
        how = mark if s.name == scope else s.mark
        axis = "block_x" if how in ("warp", "mma") else how
        if axis in most:
            most[axis] = max(most[axis], WARP if how == "mma" else const_int(s.extent))
    return prod(most.values())
