"""Scopes of the language -> loops of the target IR: in order, written out, on threads, in lanes."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Node, Scope, Statement
from perfdojo.compiler.lowering.arena import Linear
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.lir import INDEX, Comment, For, Stmt
from perfdojo.compiler.lowering.statements import statement
from perfdojo.compiler.text.render import expression
from perfdojo.compiler.walk import const_int

MAX_COPIES = 4096
"""Copies of a statement that @unroll may write out; more stay loops."""


class Scopes:
    """Walks the tree once and writes target IR."""

    def __init__(self, context: Context) -> None:
        self.context, self.arena = context, context.arena
        self.expressions = Expressions(context)
        self._told: set[str] = set()

    def nodes(
        self, nodes: tuple[Node, ...], around: tuple[Scope, ...], frame: Frame, copies: int
    ) -> list[Stmt]:
        """Return the code of sibling nodes; `copies` counts how often @unroll repeats this place."""
        out: list[Stmt] = []
        for node in nodes:
            if isinstance(node, Statement):
                self._tell(node, out)
                statement(node, frame, self.expressions, out)
            else:
                out += self._scope(node, around, frame, copies)
        return out

    def _tell(self, s: Statement, out: list[Stmt]) -> None:
        if s.name not in self._told:
            self._told.add(s.name)
            guard = "" if s.guard is None else f" if {expression(s.guard)}"
            out.append(Comment(f"{expression(s.target)} {s.op} {expression(s.value)}{guard}"))

    def _scope(self, scope: Scope, around: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        extent = const_int(scope.extent)
        inner = (*around, scope)
        if extent == 1:
            return self.nodes(scope.body, inner, _at(frame, scope, Linear(0)), copies)
        if scope.mark == "unroll" and copies * extent <= MAX_COPIES:
            return self._written_out(scope, inner, frame, copies * extent)
        if scope.mark == "unroll":
            self.context.notes.append(f"scope {scope.name}: not unrolled, over {MAX_COPIES} copies")
        return [self._loop(scope, inner, frame, 0, extent, copies)]

    def _written_out(self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        out: list[Stmt] = []
        for number in range(const_int(scope.extent)):
            out += self.nodes(scope.body, inner, _at(frame, scope, Linear(number)), copies)
        return out

    def _loop(
        self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, start: int, stop: int, copies: int
    ) -> For:
        var = self.arena.var(scope.name, INDEX, (start, stop - 1))
        parallel = scope.mark == "parallel" and self.context.threads > 1 and not frame.parallel
        frame = replace(_at(frame, scope, self.arena.atom(var)), parallel=frame.parallel or parallel)
        body = self.nodes(scope.body, inner, frame, copies)
        first, end = self.arena.const(start, INDEX), self.arena.const(stop, INDEX)
        return For(var, first, end, 1, tuple(body), parallel)


def _at(frame: Frame, scope: Scope, iteration: Linear) -> Frame:
    return replace(frame, env={**frame.env, scope.name: iteration})
