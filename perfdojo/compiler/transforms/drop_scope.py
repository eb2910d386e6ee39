"""Drop scope: a scope of one iteration becomes its body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program
from perfdojo.compiler.linear import Linear
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import rebuild, shift


@dataclass(frozen=True, slots=True)
class DropScope(Transform):
    """Put the body of a scope of one iteration in its place, mark or not.

        drop_scope i
        i:1 { B({i}) }   ->   B(0)

    Constants that this makes are folded.

    0. i is a scope.
    1. i has one iteration.
    """

    aliases = ("eliminate", "remove_loop")

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        yield from (cls(name) for name in program.scopes if extent_of(program, name) == 1)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        extent = extent_of(program, self.scope)
        if extent != 1:
            reason = f"scope {self.scope} has {extent} iterations"
            yield Violation(1, reason, f"'peel_scope {self.scope} at 1' makes one of one iteration")

    def rewrite(self, program: Program) -> Program:
        return rebuild(program, self.scope, lambda s: shift(s.body, {s.name: Linear()}))


TRANSFORM = DropScope
