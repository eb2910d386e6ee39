"""Unroll: the iterations of a scope are written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.scopes import MAX_COPIES
from perfdojo.compiler.transforms._marks import SEQUENTIAL, not_offered, with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import Body
from perfdojo.compiler.walk import const_int

MENU = 64
"""Menu: the most copies of a statement."""


@dataclass(frozen=True, slots=True)
class Unroll(Transform):
    """Write the iterations of a scope out, one behind the other, in the emitted code.

        unroll i
        i:N { B }   ->   i:N@unroll { B }

    0. i is a scope.
    1. The target has unrolled scopes.
    2. i has no mark.
    3. With the scopes around i and in it that are @unroll, a statement gets at most 1024 copies.
    """

    aliases = ("unroll_loop",)

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "unroll"):
            return
        for name, place in program.scopes.items():
            if (
                not place.node.mark
                and 1 < extent_of(program, name) <= MENU
                and _copies(program, name) <= MENU
            ):
                yield cls(name)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "unroll"):
            yield Violation(1, reason)
        mark = program.scopes[self.scope].node.mark
        if mark:
            yield Violation(2, f"scope {self.scope} is marked @{mark}", SEQUENTIAL.format(self.scope))
        copies = _copies(program, self.scope)
        if copies > MAX_COPIES:
            reason = (
                f"a statement in scope {self.scope} would be written out {copies} times, over {MAX_COPIES}"
            )
            yield Violation(3, reason, "tile it and unroll the inner scope")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "unroll")


def _copies(program: Program, scope: str) -> int:
    """Return how often the most copied statement in a scope would be written out."""
    place = program.scopes[scope]
    around = prod(const_int(s.extent) for s in place.around if s.mark == "unroll")
    return around * const_int(place.node.extent) * _inside(place.node.body)


def _inside(body: Body) -> int:
    scopes = (n for n in body if isinstance(n, Scope))
    return max(
        ((const_int(s.extent) if s.mark == "unroll" else 1) * _inside(s.body) for s in scopes), default=1
    )


TRANSFORM = Unroll
