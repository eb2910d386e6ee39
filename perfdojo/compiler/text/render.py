"""Program -> text: the canonical spelling, `parse(render(p)) == p`."""

from __future__ import annotations

import math

from perfdojo.compiler import ir
from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.text import names as naming
from perfdojo.compiler.walk import statements

_ATOM = 100


def render(program: ir.Program, named: bool = False) -> str:
    """Return the text of a program, with names only where the naming rule would not find them.

    Args:
        named: write every name, for readers who are going to use them.
    """
    lines = [f"kernel {program.name}"]
    lines += [f"size {s.name} = {expression(s.value)}{' fixed' if s.fixed else ''}" for s in program.sizes]
    lines += [_buffer(b) for b in program.buffers]
    lines.append("")
    lines += _Body(program, named).lines()
    return "\n".join(lines) + "\n"


def _buffer(b: ir.Buffer) -> str:
    parts = [f"{b.role:<3} {b.name}: {b.dtype}[{', '.join(expression(e) for e in b.shape)}]"]
    if b.space:
        parts.append(f"space({b.space})")
    for word, numbers in (("order", b.order), ("pad", b.pad), ("reuse", b.reuse)):
        if numbers:
            parts.append(f"{word}({', '.join(map(str, numbers))})")
    if b.values:
        parts.append(f"values({expression(b.values[0])}, {expression(b.values[1])})")
    if b.nontemporal:
        parts.append("nontemporal")
    if b.prefetch:
        parts.append(f"prefetch({b.prefetch})")
    return " ".join(parts)


class _Body:
    """The lines of the body; knows which names can be left out."""

    def __init__(self, program: ir.Program, named: bool) -> None:
        self.program = program
        found: list[tuple[str, ir.Scope]] = []
        self._collect(program.body, 0, found)
        given = naming.leave_out([base for base, _ in found], [s.name for _, s in found])
        self.scope_names = {s.name: g for (_, s), g in zip(found, given, strict=True)}
        all_ = [s for _, s in statements(program)]
        given = naming.leave_out([s.target.buffer for s in all_], [s.name for s in all_])
        self.statement_names = {s.name: g for s, g in zip(all_, given, strict=True)}
        if named:
            self.scope_names = {name: name for name in self.scope_names}
            self.statement_names = {name: name for name in self.statement_names}

    def _collect(self, body: tuple[ir.Node, ...], depth: int, found: list[tuple[str, ir.Scope]]) -> None:
        for node in body:
            if isinstance(node, ir.Scope):
                size = node.extent.name if isinstance(node.extent, ir.SizeRef) else None
                found.append((naming.scope_base(size, depth), node))
                self._collect(node.body, depth + 1, found)

    def lines(self) -> list[str]:
        out: list[str] = []
        self._nodes(self.program.body, (), "", out)
        return out

    def _nodes(self, body: tuple[ir.Node, ...], around: tuple[str, ...], prefix: str, out: list[str]) -> None:
        """Append the lines of `body`; `prefix` holds scopes that the first line still has to open."""
        bars = "| " * len(around)
        for i, node in enumerate(body):
            start = prefix if i == 0 else bars
            if isinstance(node, ir.Scope):
                self._nodes(node.body, (*around, node.name), start + self._scope(node) + " ", out)
            else:
                out.append(start + self._statement(node, around))

    def _scope(self, scope: ir.Scope) -> str:
        name = self.scope_names[scope.name]
        plain = isinstance(scope.extent, ir.SizeRef) or (
            isinstance(scope.extent, ir.Literal) and scope.extent.value >= 0
        )
        extent = expression(scope.extent) if plain else f"({expression(scope.extent)})"
        return (f"{name}:" if name else "") + extent + (f"@{scope.mark}" if scope.mark else "")

    def _statement(self, s: ir.Statement, around: tuple[str, ...]) -> str:
        name = self.statement_names[s.name]
        guard = f" if {expression(s.guard, around)}" if s.guard is not None else ""
        label = f"{name}: " if name else ""
        return f"{label}{expression(s.target, around)} {s.op} {expression(s.value, around)}{guard}"


def expression(e: ir.Expr, around: tuple[str, ...] = ()) -> str:
    """Return the text of an expression inside the scopes `around` (names, outermost first)."""
    return _render(e, around)[0]


def _render(e: ir.Expr, around: tuple[str, ...]) -> tuple[str, int]:
    """Text and precedence of its outermost operation."""
    if isinstance(e, ir.Literal):
        return _literal(e)
    if isinstance(e, ir.SizeRef):
        return e.name, _ATOM
    if isinstance(e, ir.Iter):
        return "{" + (str(around.index(e.scope)) if e.scope in around else e.scope) + "}", _ATOM
    if isinstance(e, ir.Load):
        return f"{e.buffer}[{','.join(_render(i, around)[0] for i in e.indices)}]", _ATOM
    if isinstance(e, ir.Cast):
        return f"{e.dtype}({_render(e.arg, around)[0]})", _ATOM
    info = OPS[e.op]
    if not info.symbol:
        return f"{e.op}({', '.join(_render(a, around)[0] for a in e.args)})", _ATOM
    p = info.precedence
    if e.op == "select":
        c, a, b = e.args
        return f"{_at(c, 2, around)} ? {_at(a, 1, around)} : {_at(b, 1, around)}", p
    if info.arity == 1:
        space = " " if info.symbol.isalpha() else ""
        operand = e.args[0]
        if e.op == "neg" and isinstance(operand, ir.Literal):
            is_zero = (
                not operand.dtype.is_float and operand.value == 0
            )  # "-(0)" reads as a literal, "-(-0)" does not
            return f"-({'-0' if is_zero else _literal(operand)[0]})", p
        return f"{info.symbol}{space}{_at(operand, p, around)}", p
    # comparisons do not chain: both sides need a tighter operation
    left = p + 1 if info.rule == "compare" else p
    return f"{_at(e.args[0], left, around)} {info.symbol} {_at(e.args[1], p + 1, around)}", p


def _at(e: ir.Expr, least: int, around: tuple[str, ...]) -> str:
    text, precedence = _render(e, around)
    return text if precedence >= least else f"({text})"


def _literal(e: ir.Literal) -> tuple[str, int]:
    if e.dtype == BOOL:
        return ("true" if e.value else "false"), _ATOM
    if not e.dtype.is_float:
        return str(e.value), _ATOM if e.value >= 0 else 8
    value = float(e.value)
    if math.isnan(value):
        return "nan", _ATOM
    text = repr(value)
    return text, 8 if text.startswith("-") else _ATOM
