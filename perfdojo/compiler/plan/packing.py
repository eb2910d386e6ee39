"""Operands that a register tile would read with long strides are packed into panels first."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import reads, statements_in, written
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.plan.legal import conditional
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.stage_packed import stage_packed
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, path
from perfdojo.compiler.walk import const_int, iterators

LEAST_ROWS = 32
"""Rows from which on a panel is packed only for its strides; each element is then used that often."""

MAX_GROUP, GROUP_BYTES = 16, 128 << 10
"""Panels that are packed at a time, and their size: a quarter of a second-level cache."""

FIRST_BYTES = 256
"""Of a row of the operand in a panel, from which on the panel is packed by the first rows that use it; less
is read better in long rows, for several panels at a time. Measured on Zen 5, 192 products of 256 x 128 x 256
in main memory: 64 bytes 4 % slower, 256 bytes as fast."""

SMALL_BYTES = 16 << 10
"""An operand of this size stays in the first-level cache, whatever its strides."""


LEAST_STEP = 256
"""Bytes between neighbours along the reduction from which on lines of a panel can push each other out."""


def pack_streamed(
    program: Program, outer: str, inner: str, c: Contraction, once: bool, group: str = ""
) -> tuple[Program, str, list[str]]:
    """Pack the operands that move with the columns, `outer` blocks of `inner` columns each, where it pays.

    Args:
        once: all panels before the loops; else some at a time, so that they are used while in the cache.
        group: the scope whose iterations are neighbours in a panel, see `dots`; "" when it is `inner`.
    Returns:
        The program, the name of the outermost scope of the columns, and the panels that may be packed by
        the first rows that use them: those read as they lie, step by step of one reduction.
    """
    paying = [
        load for load in _streamed(program, outer, inner, c) if group or _pays(program, load, outer, inner, c)
    ]
    if not paying:
        return program, outer, []
    first = not once and not group and len(c.inner) == 1
    first = first and all(
        stride(program, load, inner) == 1
        and const_int(find(program, inner).extent) * program.buffer(load.buffer).dtype.bytes >= FIRST_BYTES
        for load in paying
    )
    panels: list[str] = []
    around = path(program, outer)
    if once or outer == inner or any(s.name not in _used(load) for s in around for load in paying):
        for load in paying:
            program, name = _pack_all(program, load, outer, inner, c, group)
            panels.append(name)
        return program, outer, panels if first else []
    buffers = {load.buffer for load in paying}
    together = 1 if first else min(_group(program, load, outer, inner, c) for load in paying)
    outermost = outer
    if together > 1:
        program, outermost, outer = tile(program, outer, together)
    for load in _streamed(program, outer, inner, c):
        if load.buffer in buffers:
            program, name = _pack_panels(program, load, outer, inner, c, group, together > 1)
            panels.append(name)
    return program, outermost, panels if first else []


def _group(program: Program, load: Load, outer: str, inner: str, c: Contraction) -> int:
    """Panels packed together, so that the operand is read in long rows; a divisor of their number."""
    if stride(program, load, inner) != 1:
        return 1
    moving = [s for s in _chain_to(program, find(program, outer), c) if s.name in _used(load)]
    panel = program.buffer(load.buffer).dtype.bytes * prod(const_int(s.extent) for s in moving[1:])
    count = const_int(moving[0].extent)
    most = min(MAX_GROUP, count - 1, GROUP_BYTES // panel)
    return max((g for g in range(1, most + 1) if count % g == 0), default=1)


def _pack_panels(
    program: Program, load: Load, outer: str, inner: str, c: Contraction, group: str, together: bool
) -> tuple[Program, str]:
    """Pack the panel of a block inside of it, or the panels of a group of blocks around them, row by row."""
    around = path(program, outer)
    order = [s.name for s in _chain_to(program, around[-1], c) if s.name in _used(load)]
    order = _innermost(order, inner, group)
    if not together:
        return stage_packed(program, around, inner, load, order[1:])
    program, name = stage_packed(program, around[:-1], outer, load, order)
    body = find(program, around[-2].name).body
    packing = next(n.name for n in body if isinstance(n, Scope) and name in written((n,)))
    return interchange(program, packing), name


def _statement(program: Program, outer: str, c: Contraction) -> Statement:
    """The contraction's statement in the copy of its nest under `outer`."""
    return next(
        s
        for s in statements_in((find(program, outer),))
        if s.op != "=" and s.target.buffer == c.statement.target.buffer
    )


def _streamed(program: Program, outer: str, inner: str, c: Contraction) -> list[Load]:
    statement = _statement(program, outer, c)
    fixed = conditional(statement)
    changing = written((find(program, outer),))
    found = dict.fromkeys(o for o in reads(statement) if o not in fixed and o.buffer not in changing)
    return [load for load in found if stride(program, load, inner)]


def _pays(program: Program, load: Load, outer: str, inner: str, c: Contraction) -> bool:
    if stride(program, load, inner) != 1:
        return True
    around = path(program, outer)[:-1]
    needed = _used(load)
    own = {s.name for s in c.own}
    if any(s.name in needed and s.name in own for s in around) or c.extent(c.rows) < LEAST_ROWS:
        return False
    buffer = program.buffer(load.buffer)
    moving = [s for s in _chain_to(program, find(program, outer), c) if s.name in needed]
    size = buffer.dtype.bytes * prod(const_int(s.extent) for s in moving)
    steps = [abs(stride(program, load, s.name) or 0) * buffer.dtype.bytes for s in moving[1:]]
    return size > SMALL_BYTES and max(steps, default=0) >= LEAST_STEP


def _pack_all(
    program: Program, load: Load, outer: str, inner: str, c: Contraction, group: str
) -> tuple[Program, str]:
    """Insert the copy as far out as the operand stays the same."""
    around = path(program, outer)
    needed = _used(load)
    depth = len(around) - 1
    while (
        depth > 0
        and around[depth - 1].name not in needed
        and load.buffer not in written((around[depth - 1],))
    ):
        depth -= 1
    inside = [s.name for s in (*around[depth:-1], *_chain_to(program, around[-1], c))]
    order = _innermost([s for s in inside if s in needed], inner, group)
    return stage_packed(program, around[:depth], around[depth].name, load, order)


def _innermost(scopes: list[str], inner: str, group: str) -> list[str]:
    """Return the scopes with the columns last, or a group of the reduction behind them."""
    last = [inner, *([group] if group else [])]
    return [*(s for s in scopes if s not in last), *last]


def _chain_to(program: Program, scope: Scope, c: Contraction) -> list[Scope]:
    """Scopes from `scope` to the first of the contraction's statements in it."""
    todo: list[tuple[Scope, list[Scope]]] = [(scope, [scope])]
    while todo:
        at, chain = todo.pop()
        for node in reversed(at.body):
            if isinstance(node, Scope):
                todo.append((node, [*chain, node]))
            elif node.op != "=" and node.target.buffer == c.statement.target.buffer:
                return chain
    raise ValueError(f"no contraction in scope {scope.name}")


def _used(load: Load) -> set[str]:
    return set().union(*(iterators(i) for i in load.indices))
