"""Sizes become numbers: a symbolic program -> one for these sizes, checked and folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perfdojo.compiler import ir
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.walk import map_expr, map_statement, subexpressions

MAX_SIZE = 1 << 62


def bind(program: ir.Program, overrides: Mapping[str, int] | None = None) -> ir.Program:
    """Return the program with every size replaced by its value; its sizes are then `fixed`.

    A size may be 0 where it only occurs in indices and values, as no padding does; extents may not.

    Constant subexpressions over sizes are folded, so extents, shapes and coefficients are Literals.

    Raises:
        PerfDojoError: an override of an unknown or fixed size, a negative size, an extent under 1.
    """
    given = overrides or {}
    values = size_values(program, given)
    binder = _Binder(program, values)
    return ir.Program(
        program.name,
        tuple(
            ir.Size(s.name, ir.Literal(values[s.name], I64, s.value.span), True, s.name in given, s.span)
            for s in program.sizes
        ),
        tuple(binder.buffer(b) for b in program.buffers),
        tuple(binder.node(n) for n in program.body),
        program.source,
    )


def size_values(program: ir.Program, overrides: Mapping[str, int]) -> dict[str, int]:
    """Return the value of each size under the overrides."""
    known = {s.name: s for s in program.sizes}
    for name in overrides:
        if name not in known:
            hint = nearest(name, known) or f"sizes are {' '.join(known) or 'none'}"
            raise PerfDojoError(f"-D {name}: the kernel has no size '{name}'", program.source, None, hint)
        if known[name].fixed and _constant(known[name].value, {}) != overrides[name]:
            raise PerfDojoError(
                f"-D {name}: this text was made for {name} = {_constant(known[name].value, {})}",
                program.source,
                known[name].span,
                "start from the original kernel",
            )
    values: dict[str, int] = {}
    for size in program.sizes:
        value = overrides[size.name] if size.name in overrides else _evaluate(size.value, values, program)
        if not 0 <= value <= MAX_SIZE:
            shown = str(value) if abs(value) <= MAX_SIZE**2 else "out of all range"
            given = f" (-D {size.name}={shown})" if size.name in overrides else ""
            wrong = "a size is not negative" if value < 0 else "a size is at most 2^62"
            raise PerfDojoError(f"size {size.name} is {shown}{given}; {wrong}", program.source, size.span)
        values[size.name] = value
    return values


class _Binder:
    """Rewrites one program; remembers the values for its messages."""

    def __init__(self, program: ir.Program, values: Mapping[str, int]) -> None:
        self.program, self.values = program, values

    def expr(self, expr: ir.Expr) -> ir.Expr:
        return map_expr(self._fold, expr)

    def _fold(self, e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.SizeRef):
            value = self.values[e.name]
            if e.dtype.is_integer and value > e.dtype.largest:
                raise PerfDojoError(
                    f"size {e.name} = {value} does not fit {e.dtype}", self.program.source, e.span
                )
            return ir.Literal(float(value) if e.dtype.is_float else value, e.dtype, e.span)
        return folded(e) if isinstance(e, ir.Op) else e

    def node(self, node: ir.Node) -> ir.Node:
        if isinstance(node, ir.Statement):
            return map_statement(self._fold, node)
        extent = self.positive(node.extent, f"scope {node.name} has the extent", node.span)
        return replace(node, extent=extent, body=tuple(self.node(n) for n in node.body))

    def buffer(self, b: ir.Buffer) -> ir.Buffer:
        shape = tuple(
            self.positive(e, f"dimension {i} of {b.name} is", e.span or b.span) for i, e in enumerate(b.shape)
        )
        values = None if b.values is None else (self.constant(b.values[0]), self.constant(b.values[1]))
        return replace(b, shape=shape, values=values)

    def constant(self, expr: ir.Expr) -> ir.Literal:
        return ir.Literal(_evaluate(expr, self.values, self.program), I64, expr.span)

    def positive(self, expr: ir.Expr, what: str, span: ir.Span | None) -> ir.Expr:
        folded = self.constant(expr)
        if folded.value < 1:
            named = sorted({e.name for e in subexpressions(expr) if isinstance(e, ir.SizeRef)})
            where = ", ".join(f"{n} = {self.values[n]}" for n in named)
            raise PerfDojoError(
                f"{what} {folded.value}; it is at least 1",
                self.program.source,
                span,
                f"here {where}: choose larger sizes" if named else "",
            )
        return folded


def folded(e: ir.Op) -> ir.Expr:
    """Return the Literal that an operation on i64 Literals is, as it stands in every bound program.

    The operation itself comes back where it wraps or divides by 0, and where it is none of those.
    """
    if e.op not in _FOLDED or not all(_is_i64(a) for a in e.args):
        return e
    value = _value(e)
    return e if value is None else ir.Literal(value, I64, e.span)


def fold(e: ir.Expr) -> ir.Expr:
    """Return an operation on i64 literals as its value, anything else as it is; operands are folded."""
    if isinstance(e, ir.Op) and e.op in _FOLDED and all(_is_i64(a) for a in e.args):
        folded = _value(e)
        return e if folded is None else ir.Literal(folded, I64, e.span)
    return e


_FOLDED = frozenset({"add", "sub", "mul", "floordiv", "mod", "neg", "abs", "min", "max"})


def _is_i64(e: ir.Expr) -> bool:
    return isinstance(e, ir.Literal) and e.dtype == I64


def _constant(expr: ir.Expr, values: Mapping[str, int]) -> int:
    """Value of a constant i64 expression in unbounded integers; KeyError for what is not one."""
    if isinstance(expr, ir.Literal):
        return int(expr.value)
    if isinstance(expr, ir.SizeRef):
        return values[expr.name]
    if not isinstance(expr, ir.Op) or expr.op not in _FOLDED:
        raise KeyError
    a = [_constant(e, values) for e in expr.args]
    if expr.op == "add":
        return a[0] + a[1]
    if expr.op == "sub":
        return a[0] - a[1]
    if expr.op == "mul":
        return a[0] * a[1]
    if expr.op == "floordiv":
        return a[0] // a[1]
    if expr.op == "mod":
        return a[0] % a[1]
    if expr.op in ("neg", "abs"):
        return -a[0] if expr.op == "neg" else abs(a[0])
    return min(a) if expr.op == "min" else max(a)


def _value(expr: ir.Expr) -> int | None:
    """Value of a constant in a statement; None where it wraps or divides by 0, which has a meaning there."""
    try:
        value = _constant(expr, {})
    except ZeroDivisionError:
        return None
    return value if -(1 << 63) <= value < 1 << 63 else None


def _evaluate(expr: ir.Expr, values: Mapping[str, int], program: ir.Program) -> int:
    try:
        value = _constant(expr, values)
    except ZeroDivisionError:
        raise PerfDojoError("a size is divided by 0", program.source, expr.span) from None
    except KeyError:
        raise PerfDojoError(
            "this is not a constant",
            program.source,
            expr.span,
            "sizes and extents use + - * // % min max abs",
        ) from None
    if abs(value) >= 1 << 63:
        raise PerfDojoError(f"{value} does not fit i64", program.source, expr.span)
    return value
