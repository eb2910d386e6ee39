"""Kernels that go over each row several times: what the recipes for them share."""

from __future__ import annotations

from perfdojo.compiler.recipes._steps import drop_single, threads, vectorize_rest
from perfdojo.compiler.recipes.fuse_elementwise import fuse_elementwise
from perfdojo.compiler.recipes.reduce import reductions, split
from perfdojo.compiler.schedule import History


def rows_in_cache(h: History, accumulators: int) -> None:
    """Join passes over rows, keep of temporaries what a row needs, split reductions; lanes and threads."""
    drop_single(h)
    fuse_elementwise(h)
    for name in reductions(h):
        if h.why_not(f"split_reduction {name} by {h.program.statements[name].around[-1].name}") is None:
            split(h, name, accumulators)
    vectorize_rest(h)
    threads(h)
