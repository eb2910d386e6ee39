"""Frep: Snitch's FPU repeats the body of a scope by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.nests.ask import why_not_streamed
from perfdojo.compiler.transforms._marks import SEQUENTIAL, around, not_offered, with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import nodes

STREAM = ("stream",)
WRITTEN_OUT = ("unroll", "vector")


@dataclass(frozen=True, slots=True)
class Frep(Transform):
    """Let the FPU repeat the body of a loop from its buffer, without the integer core.

        frep i
        i:N { B }   ->   i:N@frep { B }

    The loops around it that hold nothing for the integer core to do are repeated too, two levels of them.

    0. i is a scope.
    1. The target has such a loop.
    2. i has no mark.
    3. The scopes in i, if any, are written out (@unroll, @vector).
    4. A scope around i is @stream: addresses do not move within the loop, so data movers do.
    5. Its nest can be streamed with the loop: at most 32 instructions, all of the FPU, at most 2^16 passes,
       and all that moves with i comes from 3 movers or goes to them.
    """

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "frep"):
            return
        names = (n for n in program.scopes if extent_of(program, n) > 1)
        yield from legal(map(cls, names), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "frep"):
            yield Violation(1, reason)
        name, scope = self.scope, program.scopes[self.scope].node
        if scope.mark:
            yield Violation(2, f"scope {name} is marked @{scope.mark}", SEQUENTIAL.format(name))
        for s in nodes(scope.body):
            if isinstance(s, Scope) and s.mark not in WRITTEN_OUT and extent_of(program, s.name) > 1:
                yield Violation(3, f"scope {name} holds scope {s.name}", "only an innermost loop is repeated")
                break
        nest = around(program, name, STREAM)
        if nest is None:
            yield Violation(4, f"no scope around {name} is @stream", "stream one first")
            return
        if reason := why_not_streamed(self.rewrite(program), nest.name, setting.target, setting.fp):
            yield Violation(5, f"scope {name} cannot be repeated: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "frep")


TRANSFORM = Frep
