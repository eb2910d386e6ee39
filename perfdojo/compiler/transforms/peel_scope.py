"""Peel scope: the range of a scope is cut in two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.touches import repeatable
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Literal, Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.transforms._kept import copied_private
from perfdojo.compiler.transforms._marks import SEQUENTIAL
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    made,
    no_free_name,
    no_scope,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import copy_named, rebuild, shift, taken_names
from perfdojo.compiler.walk import const_int

ENDS = (1, 2)
"""Menu: iterations cut off at either end, as windows of stencils and joined scopes ask for."""
BLOCKS = (4, 8, 16, 32)
"""Menu: multiples up to the last of which the first part reaches, so that it tiles exactly."""


@dataclass(frozen=True, slots=True)
class PeelScope(Transform):
    """Cut the range of a scope in two parts that run one behind the other.

        peel_scope i at n
        i:N { B({i}) }   ->   i:n { B({i}) }
                              i_t:N-n { B_t({i_t}+n) }

        peel_scope i at n again a
        i:N { B({i}) }   ->   i:n { B({i}) }
                              i_t:N-n+a { B_t({i_t}+n-a) }

    With `again` the second part begins a iterations earlier and runs these once more, so that it can be as
    wide as a vector. Everything in it is called `.._t`. Both parts have the mark of i.

    0. i is a scope, and the new name is free.
    1. 0 < n < N.
    2. a <= n.
    3. (D) With a > 0: an iteration may run twice, as it writes every element before it uses it.
    4. Nothing is private to i or to a scope in it that runs concurrently or in lanes.
    """

    aliases = ("cut_loop", "peel")

    scope: str = arg("scope")
    at: int = arg("int", "at", lowest=1)
    again: int = arg("int", "again", default=0)
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        for name in program.scopes:
            extent = extent_of(program, name)
            cuts = {c for n in ENDS for c in (n, extent - n)}
            cuts |= {extent - extent % b for b in BLOCKS if extent % b}
            moves = [cls(name, at) for at in sorted(cuts) if 0 < at < extent]
            if moves and repeatable(program.scopes[name].node):
                lanes = (b for b in BLOCKS if b < extent and extent % b)
                moves += [cls(name, extent - extent % b, b - extent % b) for b in lanes]
            if moves and not copied_private(program, name):
                yield from moves

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        yield from no_free_name(program, self.names)
        extent = extent_of(program, self.scope)
        if not 0 < self.at < extent:
            reason = f"{self.at} does not cut the {extent} iterations of scope {self.scope} in two"
            yield Violation(1, reason, f"it lies between 0 and {extent}" if extent > 1 else "")
        if self.again > self.at:
            reason = f"{self.again} iterations cannot be repeated, as {self.at} stand before the cut"
            yield Violation(2, reason)
        if self.again and not repeatable(program.scopes[self.scope].node):
            reason = f"an iteration of scope {self.scope} cannot run twice: it uses what it writes later"
            yield Violation(3, reason, "leave out 'again'")
        private = copied_private(program, self.scope)
        if private is not None:
            marked, reason = private
            yield Violation(4, reason, SEQUENTIAL.format(marked))

    def rewrite(self, program: Program) -> Program:
        start = self.at - self.again
        taken = taken_names(program)
        taken.update(self.names)
        tail = made(self.names, 0, f"{self.scope}_t", taken)

        def parts(s: Scope) -> Iterator[Scope]:
            rest = const_int(s.extent) - start
            yield replace(s, extent=Literal(self.at, I64))
            body = copy_named(shift(s.body, {s.name: iteration(tail, 1, start)}), "_t", taken)
            yield replace(s, name=tail, extent=Literal(rest, I64), body=body)

        return rebuild(program, self.scope, parts)


TRANSFORM = PeelScope
