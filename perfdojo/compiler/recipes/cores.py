"""Cores: nests are spread over the cores of a cluster, and streamed in each of them."""

from __future__ import annotations

from perfdojo.compiler.ir import Scope, Statement
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.recipes._shape import Reduction, reduction, shape
from perfdojo.compiler.recipes._steps import blocks, chain, drop_single, extent, made, order, unmark
from perfdojo.compiler.recipes.streams import mark, separate
from perfdojo.compiler.schedule import History


def cores(h: History) -> None:
    """Give each core a block of the results, or neighbours by turns, and stream what it does with them.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        m_o:8@core m_i:M/8@stream n_o:N/8 n_i:8@unroll c[{0}*M/8+{1},{2}*8+{3}] = 0
        | | | k:K@frep n_i_2:8@unroll c[{0}*M/8+{1},{2}*8+{4}] += a[{0}*M/8+{1},{3}] * b[{3},{2}*8+{4}]

    Cores take the elements of an elementwise nest by turns, so that their streams begin in different banks.
    A sum of everything is one of a part for each core, and of these. Where no scope of a nest has independent
    iterations the first core runs it.
    """
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    drop_single(h)
    for node in h.program.body:
        separate(h, node.name)
    for node in h.program.body:
        if node.name in h.program.scopes and not h.program.scopes[node.name].node.mark:
            spread(h, node.name)


def spread(h: History, top: str) -> None:
    """Spread one outermost nest over the cores and stream what each of them does."""
    found = reduction(h, top)
    if found is None:
        outer = _turns(h, top) or _blocks(h, top)
    else:
        outer = _rows(h, found) if found.rows else _parts(h, found)
    before = {n.name for n in h.program.body} - {outer or top}
    for name in _inner(h, outer) if outer else [top]:
        shape(h, name)
    for name in [n.name for n in h.program.body if n.name not in before and n.name in h.program.scopes]:
        spread_out = bool(outer) and h.attempt(f"core {name}")
        for part in _inner(h, name) if spread_out else [name]:
            mark(h, [part])


def _inner(h: History, scope: str) -> list[str]:
    return [n.name for n in h.program.scopes[scope].node.body if isinstance(n, Scope)]


def _rows(h: History, found: Reduction) -> str:
    """Cut the rows of a reduction into a block for each core; return the scope of the blocks."""
    count = h.setting.target.cores
    rows = next((s for s in found.rows if extent(h, s) % count == 0), found.rows[0])
    order(h, (rows, *(s for s in (*found.rows, *found.steps) if s != rows)))
    return blocks(h, rows, -(-extent(h, rows) // count)).outer


def _parts(h: History, found: Reduction) -> str:
    """Cut a sum into one for each core, and one of these; "" where that does not work."""
    count, steps = h.setting.target.cores, found.steps[0]
    if extent(h, steps) % count or h.why_not(f"split_reduction {found.statement} by {steps}"):
        return ""
    outer = blocks(h, steps, extent(h, steps) // count).outer
    made(h, f"split_reduction {found.statement} by {outer}")
    return outer


def _turns(h: History, top: str) -> str:
    """Let cores take the elements of a nest by turns and return their scope; "" where it does not work."""
    around, count = chain(h, top), h.setting.target.cores
    body = [n for n in h.program.scopes[around[-1]].node.body if isinstance(n, Statement) and n.op == "="]
    if len(body) < len(h.program.scopes[around[-1]].node.body):
        return ""
    lanes = min(widest_lanes(h.program, n, h.setting.target) for n in body)
    lanes = lanes if extent(h, around[-1]) % (count * lanes) == 0 else 1
    if extent(h, around[-1]) % (count * lanes) or extent(h, around[-1]) < 2 * count * lanes:
        return ""
    rest, inner, _ = blocks(h, around[-1], count * lanes)
    turns, *lane = (inner,) if lanes == 1 else blocks(h, inner, lanes)[:2]
    order(h, (turns, *around[:-1], rest, *lane))
    return turns


def _blocks(h: History, top: str) -> str:
    """Cut an outermost scope into a block for each core; "" where its iterations are not independent."""
    if h.why_not(f"core {top}"):
        return ""
    return blocks(h, top, -(-extent(h, top) // h.setting.target.cores)).outer
