"""The order of the strategies."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.contractions import tile_contractions
from perfdojo.compiler.plan.knobs import CHOSEN, Knobs
from perfdojo.compiler.plan.padding import stage_paddings
from perfdojo.compiler.plan.reductions import arrange_reductions
from perfdojo.compiler.plan.rewrites.drop_single import drop_single
from perfdojo.compiler.plan.rows import fetch_rows
from perfdojo.compiler.plan.stores import store_past_caches
from perfdojo.compiler.plan.threads import mark_threads
from perfdojo.compiler.plan.transposes import tile_transposes
from perfdojo.compiler.plan.vectors import vectorize_rest
from perfdojo.compiler.starts import explicit_starts


def plan(program: Program, target: Target, fp: FpLevel, threads: int, knobs: Knobs = CHOSEN) -> Program:
    """Return a bound, verified program with a schedule for `target`: same meaning, decent code.

    Nests in which the writer marked a scope `@vector` or `@unroll` stay as they are. Only the order of
    reductions may change, and that from `reassoc` on.
    """
    if "stream" in target.marks or "grid_x" in target.marks:
        return _by_recipe(program, target, fp, knobs)
    program = drop_single(explicit_starts(program))
    program = drop_single(stage_paddings(program, target))
    program = tile_contractions(program, target, fp, knobs)
    program = arrange_reductions(program, target, fp, knobs.sums)
    program = drop_single(tile_transposes(program, target, fp))
    program = vectorize_rest(program, target, fp, knobs.passes)
    program = store_past_caches(program, target, fp)
    program = fetch_rows(program, target, fp)
    return mark_threads(program, threads)


def _by_recipe(program: Program, target: Target, fp: FpLevel, knobs: Knobs) -> Program:
    """Return what the recipe for GPUs, or for data movers, makes of a program, by moves alone."""
    from perfdojo.compiler.recipes.gpu import gpu
    from perfdojo.compiler.recipes.streams import streams
    from perfdojo.compiler.recipes.tcdm_tiles import fits, tcdm_tiles
    from perfdojo.compiler.schedule import History
    from perfdojo.compiler.transforms.base import Setting

    history = History(program, Setting(target, fp))
    if "grid_x" in target.marks:
        gpu(history)
    elif fits(program):
        streams(history, rows=knobs.rows, passes=knobs.passes, sums=knobs.sums)
    else:
        tcdm_tiles(history)
    return history.program
