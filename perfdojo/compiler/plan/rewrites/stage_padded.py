"""Stage padded: a copy of an input with its border filled in takes the place of a test at every read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.linear import Linear, expression, linear
from perfdojo.compiler.tree import Body, edit_body, fresh, taken_names
from perfdojo.compiler.walk import map_statement, map_statements


@dataclass(frozen=True, slots=True)
class Box:
    """The part of a buffer that a padded read names, dimension by dimension, in local coordinates from 0.

    Attributes:
        extents: size of the copy.
        origin: index in the buffer of local coordinate 0, linear in the scopes around.
        inside: half-open range of local coordinates at which the buffer is read; elsewhere is the border.
        local: index into the copy that the read becomes.
    """

    extents: tuple[int, ...]
    origin: tuple[Linear, ...]
    inside: tuple[tuple[int, int], ...]
    local: tuple[Linear, ...]


def padded_box(
    select: Expr, inner: Mapping[str, int], around: Mapping[str, int], shape: Sequence[int]
) -> Box | None:
    """Return the box of  `lo_d <= e_d <= hi_d and .. ? x[e] : literal`, None when `select` is something else.

    Args:
        inner: extents of the scopes over which the read moves; iterators of others belong to the origin.
        around: extents of those other scopes.
        shape: extents of x, in which the inside of the box has to lie.
    """
    if not isinstance(select, Op) or select.op != "select":
        return None
    condition, load, border = select.args
    if not isinstance(load, Load) or not isinstance(border, Literal):
        return None
    limits = _limits(condition)
    if limits is None or not load.indices:
        return None
    extents, origin, inside, local = [], [], [], []
    used: set[Linear] = set()
    for index, size in zip(load.indices, shape, strict=True):
        form = linear(index)
        if form is None:
            return None
        moving = form.only(set(inner))
        start = form.plus(moving, -1)
        low, high = moving.span(inner)
        least, most = limits.get(moving, (None, None))
        first, last = max(low, low if least is None else least), min(high, high if most is None else most)
        begin, end = start.span(around)
        if first > last or begin + first < 0 or end + last >= size or (moving in limits and start.terms):
            return None
        used.add(moving)
        extents.append(high - low + 1)
        origin.append(start.plus(Linear((), low)))
        inside.append((first - low, last + 1 - low))
        local.append(moving.plus(Linear((), -low)))
    return Box(tuple(extents), tuple(origin), tuple(inside), tuple(local)) if used >= set(limits) else None


def _limits(condition: Expr) -> dict[Linear, tuple[int | None, int | None]] | None:
    """Bounds, both included, on linear forms without constant, that a conjunction of comparisons states."""
    if isinstance(condition, Op) and condition.op == "and":
        parts = [_limits(a) for a in condition.args]
        if parts[0] is None or parts[1] is None:
            return None
        out = dict(parts[0])
        for form, (low, high) in parts[1].items():
            a, b = out.get(form, (None, None))
            lows = [v for v in (a, low) if v is not None]
            highs = [v for v in (b, high) if v is not None]
            out[form] = (max(lows) if lows else None, min(highs) if highs else None)
        return out
    if not isinstance(condition, Op) or condition.op not in ("ge", "gt", "le", "lt"):
        return None
    left, right = (linear(a) for a in condition.args)
    if left is None or right is None or right.terms:
        return None
    value = right.const - left.const
    form = Linear(left.terms)
    match condition.op:
        case "ge":
            return {form: (value, None)}
        case "gt":
            return {form: (value + 1, None)}
        case "le":
            return {form: (None, value)}
        case _:
            return {form: (None, value - 1)}


def stage_padded(program: Program, parent: Sequence[Scope], child: str, select: Op, box: Box) -> Program:
    """Write the padded copy before the node `child` in the innermost scope of `parent` and read it there.

        n:N { U(0 <= e and e < H ? x[{n},e] : v) }   ->   n:N { x_pad[{n},border] = v
                                                               x_pad[{n},inside] = x[{n},..]
                                                               U(x_pad[{n},e-low]) }

    The copy has a dimension for each scope of `parent`, which is not materialised.

    1. `box` is `padded_box` of the select over the scopes inside child, so that its inside lies in x.
    2. (D) Nothing in `child` writes x.
    """
    _, load, border = select.args
    assert isinstance(load, Load)
    assert isinstance(border, Literal)
    taken = taken_names(program)
    name = fresh(f"{load.buffer}_pad", taken)
    around = tuple(Iter(s.name) for s in parent)
    shape = (*(s.extent for s in parent), *(Literal(n, I64) for n in box.extents))
    buffer = Buffer(name, "tmp", program.buffer(load.buffer).dtype, shape, reuse=tuple(range(len(parent))))
    nodes = _copies(name, around, load.buffer, border, box, taken - {name})
    staged = Load(name, (*around, *(expression(f) for f in box.local)))

    def read_copy(e: Expr) -> Expr:
        return staged if e == select else e

    def insert(body: Body) -> Body:
        out: list[Node] = []
        for node in body:
            if node.name != child:
                out.append(node)
                continue
            out += nodes
            if isinstance(node, Statement):
                out.append(map_statement(read_copy, node))
            else:
                out.append(
                    replace(node, body=map_statements(lambda s: map_statement(read_copy, s), node.body))
                )
        return tuple(out)

    program = replace(program, buffers=(*program.buffers, buffer))
    return edit_body(program, parent[-1].name if parent else None, insert)


def _copies(
    name: str, around: tuple[Iter, ...], source: str, border: Literal, box: Box, taken: set[str]
) -> list[Node]:
    """The slabs of the border, one dimension after another, then the inside: every element once."""
    out: list[Node] = []
    for d, (first, last) in enumerate(box.inside):
        for start, stop in ((0, first), (last, box.extents[d])):
            if start < stop:
                ranges = [*box.inside[:d], (start, stop), *((0, n) for n in box.extents[d + 1 :])]
                out.append(_fill(name, around, None, border, ranges, box, taken))
    out.append(_fill(name, around, source, border, list(box.inside), box, taken))
    return out


def _fill(
    name: str,
    around: tuple[Iter, ...],
    source: str | None,
    border: Literal,
    ranges: list[tuple[int, int]],
    box: Box,
    taken: set[str],
) -> Node:
    """A nest over `ranges` that copies from `source`, or writes the border."""
    scopes = [fresh(f"{name}_i{d}", taken) for d in range(len(ranges))]
    here = [Linear(((s, 1),), start) for s, (start, _) in zip(scopes, ranges, strict=True)]
    value: Expr = border
    if source is not None:
        value = Load(source, tuple(expression(h.plus(o)) for h, o in zip(here, box.origin, strict=True)))
    target = Load(name, (*around, *(expression(h) for h in here)))
    node: Node = Statement(fresh(name, taken), target, "=", value)
    for scope, (start, stop) in reversed(list(zip(scopes, ranges, strict=True))):
        node = Scope(scope, Literal(stop - start, I64), (node,))
    return node
