"""The tree that the engine executes: loops and steps, with the starts of reductions as steps of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan

from perfdojo.compiler import ir
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.indices import occurring
from perfdojo.compiler.ir import Expr, Literal, Load, Program, Scope, Statement
from perfdojo.compiler.walk import const_int, loads


@dataclass(frozen=True, slots=True)
class Step:
    """One statement, or the start of a reduction.

    Attributes:
        start: a start; it skips what its target names outside of the buffer.
        serial: axis scopes whose iterations must run in order for this statement.
    """

    target: Load
    op: str
    value: Expr
    guard: Expr | None = None
    start: bool = False
    serial: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Loop:
    """One scope; `axis` when its iterations run side by side, statement after statement."""

    scope: str
    extent: int
    body: tuple[Node, ...]
    axis: bool = False


Node = Loop | Step


def reads(step: Step) -> Iterator[Load]:
    """Yield the loads of a step in the order of evaluation, but not its target."""
    for expr in (step.guard, step.value, *step.target.indices):
        if expr is not None:
            yield from loads(expr)


def with_starts(program: Program) -> tuple[Node, ...]:
    """Return the body with the implicit start of each reduction as a step of its own.

    It stands before the outermost scope around the reduction that does not occur in the target's
    indices, in loops over those inner scopes that do.
    """
    fresh = {b.name: b.dtype for b in program.buffers if b.role in ("tmp", "out")}
    return _with_starts(program.body, (), fresh)


def _with_starts(
    body: tuple[ir.Node, ...], around: tuple[Scope, ...], fresh: dict[str, DType]
) -> tuple[Node, ...]:
    result: list[Node] = []
    for node in body:
        result += [_start(s, scopes, dtype) for s, scopes, dtype in _starting(node, around, fresh)]
        if isinstance(node, Scope):
            inner = _with_starts(node.body, (*around, node), fresh)
            result.append(Loop(node.name, const_int(node.extent), inner))
        else:
            fresh.pop(node.target.buffer, None)
            result.append(Step(node.target, node.op, node.value, node.guard))
    return tuple(result)


def _starting(
    node: ir.Node, around: tuple[Scope, ...], fresh: dict[str, DType]
) -> Iterator[tuple[Statement, tuple[Scope, ...], DType]]:
    """Yield the reductions whose start stands directly before `node`, with the scopes from `node` inwards."""
    seen: set[str] = set()
    for scopes, statement in _statements(node, ()):
        buffer = statement.target.buffer
        if buffer in seen or buffer not in fresh:
            continue
        seen.add(buffer)
        used = occurring(statement.target.indices)
        if statement.op == "=" or any(s.name not in used for s in around):
            continue
        if not isinstance(node, Scope) or node.name not in used:
            yield statement, tuple(s for s in scopes if s.name in used), fresh[buffer]


def _statements(node: ir.Node, scopes: tuple[Scope, ...]) -> Iterator[tuple[tuple[Scope, ...], Statement]]:
    if isinstance(node, Statement):
        yield scopes, node
        return
    for inner in node.body:
        yield from _statements(inner, (*scopes, node))


def _start(statement: Statement, scopes: tuple[Scope, ...], dtype: DType) -> Node:
    node: Node = Step(statement.target, "=", neutral(statement.op, dtype), start=True)
    for scope in reversed(scopes):
        node = Loop(scope.name, const_int(scope.extent), (node,))
    return node


def neutral(op: str, dtype: DType) -> Literal:
    """Return the neutral element of a reduction sign."""
    if op in ("+=", "*="):
        one = int(op == "*=")
        return Literal(float(one) if dtype.is_float else one, dtype)
    if op in ("maxnum=", "minnum="):
        return Literal(nan, dtype)
    if dtype.is_float:
        return Literal(-inf if op == "max=" else inf, dtype)
    return Literal(dtype.smallest if op == "max=" else dtype.largest, dtype)


def loops(body: tuple[Node, ...]) -> Iterator[Loop]:
    """Yield every loop, outer before inner."""
    for node in body:
        if isinstance(node, Loop):
            yield node
            yield from loops(node.body)
