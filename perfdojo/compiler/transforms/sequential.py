"""Sequential: a scope loses its mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._marks import with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_scope
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class Sequential(Transform):
    """Run the iterations of a scope in order, one after the other; undoes every mark.

        sequential i
        i:N@mark { B }   ->   i:N { B }

    0. i is a scope.
    1. i has a mark.
    """

    aliases = ("unmark", "serial")

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        yield from (cls(name) for name, place in program.scopes.items() if place.node.mark)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if not program.scopes[self.scope].node.mark:
            yield Violation(1, f"scope {self.scope} has no mark")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "")


TRANSFORM = Sequential
