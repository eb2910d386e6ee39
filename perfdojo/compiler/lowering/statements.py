"""One statement of the language -> target IR, for one iteration or for vectors of iterations."""

from __future__ import annotations

from collections.abc import Callable

from perfdojo.compiler.ir import Statement
from perfdojo.compiler.lowering.context import Frame, NotVectorisableError
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.linear import Linear, plus, split
from perfdojo.compiler.lowering.lir import Const, If, Stmt, Store, Value
from perfdojo.compiler.ops import REDUCTIONS


def statement(s: Statement, frame: Frame, expressions: Expressions, out: list[Stmt]) -> None:
    """Append the code of a statement: once, or for each vector of the frame."""
    if not frame.parts:
        _scalar(s, frame, expressions, out)
        return
    for part in frame.parts:
        lane = expressions.arena.atom(expressions.arena.lane)
        env = {**frame.env, frame.vector: add_lane(part.base, lane)}
        _lanes(s, frame.at(env, part), expressions, out)


def add_lane(base: Linear, lane: Linear) -> Linear:
    """Return the iteration number in each lane of a vector that starts at `base`."""
    return plus(base, lane)


def _scalar(s: Statement, frame: Frame, expressions: Expressions, out: list[Stmt]) -> None:
    arena = expressions.arena
    condition = None if s.guard is None else expressions.value(s.guard, frame)
    if isinstance(condition, Const):
        if not condition.value:
            return
        condition = None
    where = arena.offset(expressions.address(s.target, frame, None))
    dtype = expressions.context.buffers[s.target.buffer].dtype
    value = expressions.value(s.value, frame)
    if s.op != "=":
        old = arena.load(s.target.buffer, where, arena.type(dtype))
        value = expressions.operate(REDUCTIONS[s.op], (old, value), dtype)
    store = Store(s.target.buffer, where, value)
    out.append(store if condition is None else If(condition, (store,)))


def _lanes(s: Statement, frame: Frame, expressions: Expressions, out: list[Stmt]) -> None:
    mask = frame.parts[0].mask
    condition = None if s.guard is None else expressions.value(s.guard, frame, mask)
    if isinstance(condition, Const):
        if not condition.value:
            return
        condition = None
    if condition is not None and condition.type.lanes > 1:
        mask = expressions.both(mask, condition)
        condition = None
    made = written(s, frame, expressions, mask)
    out.append(made if condition is None else If(condition, (made,)))


def written(
    s: Statement,
    frame: Frame,
    expressions: Expressions,
    mask: Value | None,
    summed: Callable[[Value], Value] | None = None,
) -> Stmt:
    """Return the store of a statement in the lanes of `mask`, or what adds to a sum over lanes.

    `summed` gives the new value of a reduction for the old one, where it is not that of the statement.
    """
    arena, buffer, lanes = expressions.arena, s.target.buffer, frame.lanes
    where = expressions.address(s.target, frame, mask)
    dtype = expressions.context.buffers[buffer].dtype
    step, rest = split(where, arena.lane_number)
    if not arena.in_lanes(where):
        return _uniform(s, frame, expressions, mask)
    if step != 1 or arena.in_lanes(rest):
        raise NotVectorisableError(f"the elements of {buffer} that {s.name} writes are not neighbours")
    at = arena.offset(rest)
    type = arena.type(dtype, lanes)
    tail = frame.parts[0].mask
    if summed is None:
        value = expressions.value(s.value, frame, mask)
        if value.type.dtype != dtype:
            value = expressions.cast(value, dtype)
        value = expressions.spread(value, lanes)
    if s.op != "=":
        kept = mask if mask is tail or not expressions.inside(buffer, where, frame) else None
        expressions.need("load" if kept is None else "masked_load", dtype, lanes)
        old = arena.load(buffer, at, type, kept)
        value = summed(old) if summed else expressions.operate(REDUCTIONS[s.op], (old, value), dtype)
    if mask is None or expressions.context.supports("masked_store", dtype, lanes):
        expressions.need("store" if mask is None else "masked_store", dtype, lanes)
        return Store(buffer, at, value, mask)
    if frame.parallel or tail is not None or not expressions.inside(buffer, where, frame):
        raise NotVectorisableError(f"{expressions.target.name} has no masked store for {lanes} x {dtype}")
    for op in ("load", "select", "store"):
        expressions.need(op, dtype, lanes)
    old = arena.load(buffer, at, type)
    return Store(buffer, at, arena.call("select", (mask, value, old), type))


def _uniform(s: Statement, frame: Frame, expressions: Expressions, mask: Value | None) -> Stmt:
    """Return the code of a statement on one element in all lanes: a sum, or a value on which they agree."""
    arena, buffer = expressions.arena, s.target.buffer
    value = expressions.value(s.value, frame, mask)
    part = frame.parts[0]
    if s.op != "=" and frame.accumulators is not None:
        value = expressions.cast(value, expressions.context.buffers[buffer].dtype)
        lanes = expressions.spread(value, frame.lanes)
        where = expressions.address(s.target, frame, mask)
        return frame.accumulators.add(s, where, lanes, mask, part.number)
    if s.op != "=" or value.type.lanes > 1 or mask is not part.mask:
        raise NotVectorisableError(f"all lanes of {s.name} write the same element of {buffer}")
    return Store(buffer, arena.offset(expressions.address(s.target, frame, mask)), value)
