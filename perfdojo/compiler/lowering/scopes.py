"""Scopes of the language -> loops of the target IR: in order, written out, on threads, in lanes."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Node, Scope, Statement
from perfdojo.compiler.lowering.accumulators import Accumulators
from perfdojo.compiler.lowering.context import Context, Frame, NotVectorisableError
from perfdojo.compiler.lowering.dots import dots
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.lanes import Sums, inner_scopes, lane_counts, sums
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Comment, For, Stmt, Stream
from perfdojo.compiler.lowering.nests.found import streamed, with_otherwise
from perfdojo.compiler.lowering.nests.tree import NestError
from perfdojo.compiler.lowering.shared import Shared, shared
from perfdojo.compiler.lowering.statements import statement
from perfdojo.compiler.lowering.steps import steps_of
from perfdojo.compiler.lowering.tell import told
from perfdojo.compiler.lowering.vectors import MAX_WRITTEN_OUT, VectorScope, partial_width, stands_alone
from perfdojo.compiler.lowering.wide import MARKS as WIDE
from perfdojo.compiler.lowering.wide import wide_copy
from perfdojo.compiler.walk import const_int

MAX_COPIES = 1024
"""Copies of a statement that @unroll may write out; more stay loops."""


class Scopes:
    """Walks the tree once and writes target IR."""

    def __init__(self, context: Context) -> None:
        self.context, self.arena = context, context.arena
        self.expressions = Expressions(context)
        self._told: set[str] = set()
        self._sums: dict[str, Sums] = {}
        self._homes: dict[str, list[Scope]] = {}
        self._open: dict[str, Accumulators] = {}
        self._counts: dict[str, list[int]] = {}
        self._widths: dict[str, int] = {}
        self._shared: dict[str, Shared] = {}
        if context.target.vector_bits:
            self._find_sums(context.program.body, ())

    def nodes(
        self, nodes: tuple[Node, ...], around: tuple[Scope, ...], frame: Frame, copies: int
    ) -> list[Stmt]:
        """Return the code of sibling nodes; `copies` counts how often @unroll repeats this place."""
        out: list[Stmt] = []
        for node in nodes:
            if isinstance(node, Statement):
                out += self.told(node)
                statement(node, frame, self.expressions, out)
            else:
                out += self._scope(node, around, frame, copies)
        return out

    def told(self, s: Statement) -> list[Stmt]:
        """Return the comment that tells a statement, where no code before has it."""
        if s.name in self._told:
            return []
        self._told.add(s.name)
        return [Comment(told(s, self.context))]

    def told_in(self, scope: Scope) -> list[Stmt]:
        """Return the comments that tell the statements of a scope."""
        return [c for s in scope.body if isinstance(s, Statement) for c in self.told(s)]

    def _find_sums(self, nodes: tuple[Node, ...], around: tuple[Scope, ...]) -> None:
        for n in nodes:
            if not isinstance(n, Scope):
                continue
            if n.mark == "vector":
                found = self._sums[n.name] = sums(n, around, self.context)
                if found.home:
                    self._homes.setdefault(found.home, []).append(n)
            self._find_sums(n.body, (*around, n))

    def _scope(self, scope: Scope, around: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        """Return the code of a scope, with the sums over lanes that end behind it."""
        streams = "stream" in self.context.target.marks and not frame.nest
        if scope.mark == "stream" and streams and not frame.vector:
            told = set(self._told)
            try:
                code = self.nest(scope, around, frame, copies)
                if any(isinstance(s, Stream) and s.nest.checks for s in code):
                    plain = self._with_sums(scope, around, frame, copies)
                    code = with_otherwise(code, plain, self.context, scope)
                return code
            except NestError as why:
                self.context.notes.append(f"scope {scope.name}: not streamed, {why}")
            self._told = told
        return self._with_sums(scope, around, frame, copies)

    def nest(self, scope: Scope, around: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        """Return the code of a scope that data movers feed.

        Raises:
            NestError: they cannot; says why.
        """
        code = self._with_sums(scope, around, replace(frame, nest=True), copies)
        return streamed(scope, code, self.context)

    def _with_sums(self, scope: Scope, around: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        homes = self._homes.get(scope.name, []) if not frame.vector else []
        for vector in homes:
            inside = {s.name for s in (scope, *inner_scopes(scope.body))}
            self._open[vector.name] = Accumulators(self.expressions, self._width(vector, scope), inside)
        code = self._runs(scope, around, frame, copies)
        for vector in homes:
            accumulators = self._open.pop(vector.name)
            code = [*accumulators.opened(), *code, *accumulators.closed()]
        return code

    def _width(self, vector: Scope, home: Scope) -> int:
        if vector.name not in self._widths:
            counts = self._lane_counts(vector)
            made = partial_width(vector, counts[0], home, self._sums[vector.name]) if counts else 1
            self._widths[vector.name] = made
        return self._widths[vector.name]

    def _lane_counts(self, scope: Scope) -> list[int]:
        if scope.name not in self._counts:
            self._counts[scope.name] = lane_counts(scope, self.context)
        return self._counts[scope.name]

    def _shared_in(self, scope: Scope) -> Shared:
        if scope.name not in self._shared:
            self._shared[scope.name] = shared(scope, self.context)
        return self._shared[scope.name]

    def _runs(self, scope: Scope, around: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        extent = const_int(scope.extent)
        inner = (*around, scope)
        if extent == 1:
            return self.nodes(scope.body, inner, _at(frame, scope, Linear(0)), copies)
        if scope.mark == "unroll" and frame.vector:
            code = dots(scope, frame, self.expressions)
            if code is not None:
                return [*self.told_in(scope), *code]
        if scope.mark == "unroll" and self.context.target.rolls:
            return [replace(self._loop(scope, inner, frame, 0, extent, copies), unroll=extent)]
        if scope.mark == "unroll" and copies * extent <= MAX_COPIES:
            return self._written_out(scope, inner, frame, copies * extent)
        if scope.mark == "unroll":
            self.context.notes.append(f"scope {scope.name}: not unrolled, over {MAX_COPIES} copies")
        feeds = "stream" in self.context.target.marks
        if feeds and scope.mark in ("frep", "vector") and all(s.mark != "stream" for s in around):
            self.context.notes.append(f"scope {scope.name}: @{scope.mark} needs a @stream scope around it")
        if scope.mark in WIDE and self.context.target.wide_copies and not frame.vector:
            try:
                return [*self.told_in(scope), *wide_copy(scope, frame, self.expressions)]
            except NotVectorisableError as why:
                self.context.notes.append(f"scope {scope.name}: not one access, {why}")
        lanes = self.context.target.vector_bits and (frame.nest or not feeds)
        if scope.mark == "vector" and not frame.vector and lanes:
            code = self._vector(scope, inner, frame, copies)
            if code is not None:
                return code
        steps = self._steps(scope, inner, frame, copies)
        return [steps or self._loop(scope, inner, frame, 0, extent, copies)]

    def _steps(self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, copies: int) -> For | None:
        """Return one loop for a scope and the steps that fill it, see `steps`; None where it needs two."""
        steps = None if frame.vector or frame.nest else steps_of(scope, self.context)
        if steps is None or steps.name in self._homes or not self._straight(steps.body):
            return None
        count = const_int(steps.extent)
        stop = const_int(scope.extent) * count
        var = self.arena.var(scope.name, INDEX, (0, stop - 1))
        env = {**frame.env, scope.name: Linear(0), steps.name: self.arena.atom(var)}
        body = self.nodes(steps.body, (*inner, steps), frame.at(env), copies)
        first, end = self.arena.const(0, INDEX), self.arena.const(stop, INDEX)
        return For(var, first, end, 1, tuple(body), unroll=count)

    def _straight(self, nodes: tuple[Node, ...]) -> bool:
        """Tell whether nodes become code without loops."""
        return all(isinstance(n, Statement) or (self._in_line(n) and self._straight(n.body)) for n in nodes)

    def _in_line(self, scope: Scope) -> bool:
        """Tell whether a scope is repeated in the text of the code, in full vectors when in lanes."""
        extent = const_int(scope.extent)
        if scope.mark != "vector" or extent == 1:
            return scope.mark == "unroll" or extent == 1
        return any(extent % n == 0 and extent <= MAX_WRITTEN_OUT * n for n in self._lane_counts(scope)[:1])

    def _vector(self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt] | None:
        """Return the code of a scope in lanes; None, with a note, when it has to stay scalar."""
        place = VectorScope(
            scope,
            frame,
            self.expressions,
            lambda nodes, f: self.nodes(nodes, inner, f, copies),
            self._sums[scope.name],
            self._shared_in(scope),
            self._open.get(scope.name),
            copies,
            stands_alone(scope, inner[:-1], self.context),
        )
        reason = ""
        told = set(self._told)
        for lanes in self._lane_counts(scope):
            try:
                code = place.code(lanes)
            except NotVectorisableError as why:
                reason = reason or str(why)
                self._told = set(told)
                continue
            self.context.lanes[scope.name] = lanes
            return code
        reason = reason or f"{const_int(scope.extent)} iterations do not fill a vector"
        self.context.notes.append(f"scope {scope.name}: not vectorised, {reason}")
        return None

    def _written_out(self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, copies: int) -> list[Stmt]:
        out: list[Stmt] = []
        for number in range(const_int(scope.extent)):
            out += self.nodes(scope.body, inner, _at(frame, scope, Linear(number)), copies)
        return out

    def _loop(
        self, scope: Scope, inner: tuple[Scope, ...], frame: Frame, start: int, stop: int, copies: int
    ) -> For:
        var = self.arena.var(scope.name, INDEX, (start, stop - 1))
        threads, cores = self.context.threads, self.context.cores
        core = scope.name in self.context.spread
        parallel = (core or (scope.mark == "parallel" and threads > 1)) and not frame.parallel
        frame = replace(_at(frame, scope, self.arena.atom(var)), parallel=frame.parallel or parallel)
        body = self.nodes(scope.body, inner, frame, copies)
        first, end = self.arena.const(start, INDEX), self.arena.const(stop, INDEX)
        loop = For(var, first, end, 1, tuple(body), parallel, frep=frame.nest and scope.mark == "frep")
        return replace(loop, cores=cores) if core and parallel else loop


def _at(frame: Frame, scope: Scope, iteration: Linear) -> Frame:
    return frame.at({**frame.env, scope.name: iteration})
