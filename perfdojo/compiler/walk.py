"""Walking and rebuilding trees: statements with their scopes, expressions, types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Load, Node, Op, Program, Scope, SizeRef, Statement
from perfdojo.compiler.ops import OPS


def statements(program: Program) -> Iterator[tuple[tuple[Scope, ...], Statement]]:
    """Yield every statement in textual order with the scopes around it, outermost first."""
    yield from _statements(program.body, ())


def _statements(
    body: tuple[Node, ...], around: tuple[Scope, ...]
) -> Iterator[tuple[tuple[Scope, ...], Statement]]:
    for node in body:
        if isinstance(node, Scope):
            yield from _statements(node.body, (*around, node))
        else:
            yield around, node


def scopes(program: Program) -> Iterator[Scope]:
    """Yield every scope in textual order, outer before inner."""
    stack: list[Node] = list(reversed(program.body))
    while stack:
        node = stack.pop()
        if isinstance(node, Scope):
            yield node
            stack.extend(reversed(node.body))


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of an expression."""
    if isinstance(expr, Op):
        return expr.args
    if isinstance(expr, Load):
        return expr.indices
    return (expr.arg,) if isinstance(expr, Cast) else ()


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and all expressions in it, operands after their operation, left to right."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(children(top)))


def loads(expr: Expr) -> Iterator[Load]:
    """Yield every access in `expr`, those inside indices included."""
    return (e for e in subexpressions(expr) if isinstance(e, Load))


def iterators(expr: Expr) -> set[str]:
    """Return the names of the scopes whose iteration number occurs in `expr`."""
    return {e.scope for e in subexpressions(expr) if isinstance(e, Iter)}


def map_expr(fn: Callable[[Expr], Expr], expr: Expr) -> Expr:
    """Rebuild `expr` bottom-up, `fn` applied to every node whose operands are done."""
    if isinstance(expr, Op):
        args = tuple(map_expr(fn, a) for a in expr.args)
        return fn(expr if args == expr.args else replace(expr, args=args))
    if isinstance(expr, Load):
        indices = tuple(map_expr(fn, a) for a in expr.indices)
        return fn(expr if indices == expr.indices else replace(expr, indices=indices))
    if isinstance(expr, Cast):
        arg = map_expr(fn, expr.arg)
        return fn(expr if arg == expr.arg else replace(expr, arg=arg))
    return fn(expr)


def map_statement(fn: Callable[[Expr], Expr], statement: Statement) -> Statement:
    """Rebuild the expressions of a statement; the target access itself goes through `fn` too."""
    target = map_expr(fn, statement.target)
    assert isinstance(target, Load)
    guard = None if statement.guard is None else map_expr(fn, statement.guard)
    return replace(statement, target=target, value=map_expr(fn, statement.value), guard=guard)


def map_statements(fn: Callable[[Statement], Statement], body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Rebuild a body with `fn` applied to every statement in it."""
    return tuple(replace(n, body=map_statements(fn, n.body)) if isinstance(n, Scope) else fn(n) for n in body)


def substitute(expr: Expr, values: dict[str, Expr]) -> Expr:
    """Replace the iterators of the named scopes by expressions."""
    return map_expr(lambda e: values.get(e.scope, e) if isinstance(e, Iter) else e, expr)


def const_int(expr: Expr) -> int:
    """Return the value of an integer Literal, as every extent and shape is after `bind`."""
    assert isinstance(expr, Literal), expr
    assert isinstance(expr.value, int), expr
    return int(expr.value)


def dtype_of(expr: Expr, program: Program) -> DType:
    """Return the type of an expression."""
    while True:
        if isinstance(expr, Literal | SizeRef | Cast):
            return expr.dtype
        if isinstance(expr, Iter):
            return I64
        if isinstance(expr, Load):
            return program.buffer(expr.buffer).dtype
        if OPS[expr.op].rule in ("compare", "logic"):
            return BOOL
        expr = expr.args[-1]
