"""Collapse scopes: two nested ones into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import (
    CONCURRENT_MARKS,
    Cast,
    Expr,
    Iter,
    Literal,
    Load,
    Op,
    Program,
    Scope,
    Statement,
)
from perfdojo.compiler.linear import Linear, expression, iteration, linear
from perfdojo.compiler.transforms._kept import untrue_mark
from perfdojo.compiler.transforms._marks import SEQUENTIAL
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    legal,
    made,
    no_free_name,
    no_scope,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import rebuild, shift, taken_names
from perfdojo.compiler.walk import map_statements, substitute

MOST = 1 << 62
"""Iterations of a scope."""


@dataclass(frozen=True, slots=True)
class CollapseScopes(Transform):
    """Make one scope of two nested ones: it runs through all their iterations, in the same order.

        collapse_scopes i j
        i:N { j:M { B({i},{j}) } }   ->   i_j:N*M { B({i_j}//M,{i_j}%M) }

    An index {i}*M+{j} becomes {i_j}; so does {i} where M is 1, and {j} where N is 1.

    0. i and j are scopes, and the new name is free.
    1. The body of i is the scope j and nothing else.
    2. Both have the same mark, or none; it says @unroll or that iterations are concurrent, and stays true.
    3. N*M is at most 2^62.
    """

    aliases = ("fuse_nested", "mult_loops", "collapse", "flatten")

    outer: str = arg("scope")
    inner: str = arg("scope")
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        pairs = (
            (name, place.node.body[0].name)
            for name, place in program.scopes.items()
            if len(place.node.body) == 1 and isinstance(place.node.body[0], Scope)
        )
        yield from legal((cls(*pair) for pair in pairs), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.outer, self.inner)
        yield from no_free_name(program, self.names)
        outer, inner = (program.scopes[n].node for n in (self.outer, self.inner))
        if len(outer.body) != 1 or outer.body[0] is not inner:
            yield Violation(1, f"scope {self.inner} is not all that is directly in scope {self.outer}")
        if outer.mark != inner.mark:
            marks = " and ".join(f"@{m}" if m else "unmarked" for m in (outer.mark, inner.mark))
            reason = f"scopes {self.outer} and {self.inner} run in different ways, {marks}"
            yield Violation(2, reason, SEQUENTIAL.format(self.outer if outer.mark else self.inner))
        if outer.mark and outer.mark not in CONCURRENT_MARKS | {"unroll"}:
            yield Violation(2, f"scope {self.outer} is @{outer.mark}", SEQUENTIAL.format(self.outer))
        if extent_of(program, self.outer) * extent_of(program, self.inner) > MOST:
            yield Violation(3, f"scopes {self.outer} and {self.inner} have over 2^62 iterations together")
        if outer.mark:
            after = self.rewrite(program)
            reason = untrue_mark(after, *(after.scopes.keys() - program.scopes.keys()))
            if reason:
                yield Violation(2, reason)

    def rewrite(self, program: Program) -> Program:
        n, m = extent_of(program, self.outer), extent_of(program, self.inner)
        name = made(self.names, 0, f"{self.outer}_{self.inner}", taken_names(program))

        def one(s: Scope) -> Iterator[Scope]:
            (inner,) = s.body
            assert isinstance(inner, Scope)
            if m == 1:
                body = shift(inner.body, {s.name: iteration(name), inner.name: Linear()})
            elif n == 1:
                body = shift(inner.body, {s.name: Linear(), inner.name: iteration(name)})
            else:
                same = {scope: iteration(scope) for scope in (s.name, inner.name)}
                plain = shift(inner.body, same)  # no {i} - {i} is left, which no coefficient would show
                body = map_statements(_Indices(s.name, inner.name, name, m).statement, plain)
            yield replace(s, name=name, extent=Literal(n * m, I64), body=body)

        return rebuild(program, self.outer, one)


@dataclass(frozen=True, slots=True)
class _Indices:
    """Says with the iteration of one scope what those of two nested ones said, `m` being the inner extent."""

    outer: str
    inner: str
    name: str
    m: int

    def statement(self, s: Statement) -> Statement:
        guard = None if s.guard is None else self.of(s.guard)
        return replace(s, target=self.load(s.target), value=self.of(s.value), guard=guard)

    def load(self, load: Load) -> Load:
        return replace(load, indices=tuple(map(self.of, load.indices)))

    def of(self, e: Expr) -> Expr:
        form = linear(e)
        if form is not None:
            moves = form.coefficient(self.outer) or form.coefficient(self.inner)
            return self._spelled(form) if moves else e
        if isinstance(e, Load):
            return self.load(e)
        if isinstance(e, Cast):
            return replace(e, arg=self.of(e.arg))
        return replace(e, args=tuple(map(self.of, e.args))) if isinstance(e, Op) else e

    def _spelled(self, form: Linear) -> Expr:
        i, j = form.coefficient(self.outer), form.coefficient(self.inner)
        rest = form.without({self.outer, self.inner})
        if i == j * self.m:
            return expression(iteration(self.name, j).plus(rest))
        one, m = Iter(self.name), Literal(self.m, I64)
        parts: dict[str, Expr] = {_QUOTIENT: Op("floordiv", (one, m)), _REMAINDER: Op("mod", (one, m))}
        terms = tuple((name, c) for name, c in ((_QUOTIENT, i), (_REMAINDER, j)) if c)
        return substitute(expression(Linear(terms).plus(rest)), parts)


_QUOTIENT, _REMAINDER = "//", "%"
"""Stand for parts of an index until it is spelled; no scope is called so."""

TRANSFORM = CollapseScopes
