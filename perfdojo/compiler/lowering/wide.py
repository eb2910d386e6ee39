"""A scope that copies neighbours, as one access of 8 or 16 bytes: what GPUs have instead of vectors.

4@vector t[{0}] = x[i*4 + {0}]   ->   *(float4 *)t = *(const float4 *)(x + i*4)
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.lowering.context import Context, Frame, NotVectorisableError
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.linear import Linear, split
from perfdojo.compiler.lowering.lir import INDEX, Const, Copy, If, Stmt, Value
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import const_int

MARKS = ("vector", "async")
WIDTHS = (4, 8, 16)
"""Bytes of one access, at an address that they divide (CUDA C++ Programming Guide)."""


def why_not_wide(program: Program, scope: str, target: Target) -> str:
    """Return why a scope cannot be one wide copy, "" when it can."""
    context = Context(explicit_starts(program), target, "strict", 1, trial=True)
    place = context.program.scopes[scope]
    env = {}
    for s in place.around:
        last = const_int(s.extent) - 1
        env[s.name] = context.arena.atom(context.arena.var(s.name, INDEX, (0, last))) if last else Linear(0)
    try:
        wide_copy(place.node, Frame(env), Expressions(context))
    except NotVectorisableError as why:
        return str(why)
    return ""


def wide_copy(scope: Scope, frame: Frame, expressions: Expressions) -> list[Stmt]:
    """Return the code of a scope as one copy.

    Raises:
        NotVectorisableError: it is none; says why.
    """
    s, extent = scope.body[0], const_int(scope.extent)
    if len(scope.body) > 1 or not isinstance(s, Statement) or s.op != "=" or not isinstance(s.value, Load):
        raise NotVectorisableError("it is not all one copy")
    buffers, arena = expressions.context.buffers, expressions.arena
    dtype = buffers[s.target.buffer].dtype
    if buffers[s.value.buffer].dtype != dtype:
        raise NotVectorisableError(f"{s.value.buffer} is not of type {dtype}")
    size = extent * dtype.bytes
    if size not in WIDTHS:
        raise NotVectorisableError(f"{extent} x {dtype} are {size} bytes, not {', '.join(map(str, WIDTHS))}")
    lanes = replace(frame, vector=scope.name, lanes=extent)
    lanes = lanes.at({**frame.env, scope.name: arena.atom(arena.lane)})
    to, source = (_start(x, lanes, expressions) for x in (s.target, s.value))
    late = scope.mark == "async" and s.target.buffer not in expressions.context.at_once
    copy: Stmt = Copy(s.target.buffer, to, s.value.buffer, source, size, asynchronous=late)
    if s.guard is None:
        return [copy]
    differs = f"the guard of {s.name} is not the same for all of them"
    try:
        condition = expressions.value(s.guard, lanes)
    except NotVectorisableError:  # a number of the lane is left in it
        raise NotVectorisableError(differs) from None
    if condition.type.lanes > 1 or arena.lane.name in arena.variables(condition):
        raise NotVectorisableError(differs)
    if isinstance(condition, Const):
        return [copy] if condition.value else []
    return [If(condition, (copy,))]


def _start(access: Load, frame: Frame, expressions: Expressions) -> Value:
    """Return where an access begins, if its elements are neighbours and it is aligned."""
    arena, extent = expressions.arena, frame.lanes
    step, rest = split(expressions.address(access, frame, None), arena.lane_number)
    if step != 1 or arena.in_lanes(rest):
        raise NotVectorisableError(f"what it touches of {access.buffer} are no neighbours")
    if rest.const % extent or any(c % extent for _, c in rest.terms):
        raise NotVectorisableError(
            f"what it touches of {access.buffer} need not begin at a multiple of {extent} elements"
        )
    if any(arena.buffers(arena.atom_value(n)) for n, _ in rest.terms):
        raise NotVectorisableError(f"data decide what it touches of {access.buffer}")
    return arena.offset(rest)
