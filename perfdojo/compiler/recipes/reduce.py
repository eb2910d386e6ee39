"""Reduce: a reduction runs on several accumulators, which are combined behind it."""

from __future__ import annotations

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.recipes._steps import blocks, extent, inside, made, threads, unroll, vectorize_rest
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import iterators

ACCUMULATORS = 8
"""Vectors of accumulators: two units with a latency of 4 cycles, as in Zen and Skylake, keep 8 sums busy.
Measured on Zen 3: a dot product in the cache with 4 took 1.3 times as long as with 8."""


def reduce(h: History, *, statement: str = "", accumulators: int = ACCUMULATORS) -> None:
    """Give a reduction over an innermost scope accumulators in lanes, several vectors of them.

        N y[] += x[{0}]                                             with 4 vectors of 8 lanes
        ->
        n_i_s:32@vector y_p[{0}] = 0
        n_o:N//32 n_i:32@vector y_p[{1}] += x[{0}*32+{1}]
        n_i_c:32@vector y[] += y_p[{0}]
        n_t:N%32@vector y[] += x[{0}+..]

    Args:
        statement: the reduction; "": all whose innermost scope they run over.
        accumulators: vectors of them; 0: a scope in lanes, in which the target combines its own.
    Raises:
        PerfDojoError: there is no such reduction, or the floating-point level keeps its order.
    """
    names = [statement] if statement else reductions(h)
    if not names:
        raise PerfDojoError("there is no reduction over an innermost scope")
    for name in names:
        split(h, name, accumulators)
    vectorize_rest(h)
    threads(h)


def reductions(h: History) -> list[str]:
    """Return the statements that reduce over the scope right around them, in which nothing else loops."""
    return [
        name
        for name, place in h.program.statements.items()
        if place.node.op != "="
        and place.around
        and place.around[-1].name not in iterators(place.node.target)
        and not place.around[-1].mark
        and not inside(h, place.around[-1].name)
    ]


def split(h: History, name: str, accumulators: int) -> None:
    """Tile the scope of a reduction and split it; nothing where it has too few iterations for that.

    Raises:
        PerfDojoError: it is no reduction in a scope, or may not be split; nothing has changed.
    """
    place = h.program.statements.get(name)
    if place is None or not place.around:
        raise PerfDojoError(f"{name} is no reduction in a scope")
    scope = place.around[-1].name
    size = accumulators * widest_lanes(h.program, place.node, h.setting.target)
    if not size or extent(h, scope) < 2 * size:
        return
    found = h.why_not(f"split_reduction {name} by {scope}")
    if found is not None:
        raise PerfDojoError(f"{name} cannot be split: {found.reason}", hint=found.hint)
    _, inner, _ = blocks(h, scope, size)
    scopes = made(h, f"split_reduction {name} by {inner}")
    if not h.setting.target.vector_bits:
        unroll(h, (inner, *scopes))
