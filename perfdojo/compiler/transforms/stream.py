"""Stream: what moves in a scope comes from Snitch's data movers and goes to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.nests.ask import why_not_streamed
from perfdojo.compiler.transforms._marks import SEQUENTIAL, around, inside, not_offered, with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg

STREAM = ("stream",)


@dataclass(frozen=True, slots=True)
class Stream(Transform):
    """Let data movers feed the FPU with what moves in a scope: set up before it, one element for each use.

        stream i
        i:N { B }   ->   i:N@stream { B }

    Lowering decides: it finds the accesses in the order in which the FPU makes them. A scope that holds no
    other loop is also repeated by the FPU, as `frep` says, where that can be.

    0. i is a scope.
    1. The target has streams.
    2. i has no mark.
    3. No scope around i or in it is @stream.
    4. What i computes is arithmetic of floats that the FPU has instructions for, under no condition, in as
       many registers as there are; what moves is in whole words of 64 bits, in buffers that fit the 128 KiB
       of the TCDM, and 3 movers with 4 loops each run through it; what one writes is not read later in i.
    """

    aliases = ("ssr",)

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "stream"):
            return
        yield from legal(map(cls, program.scopes), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "stream"):
            yield Violation(1, reason)
        name, mark = self.scope, program.scopes[self.scope].node.mark
        if mark:
            yield Violation(2, f"scope {name} is marked @{mark}", SEQUENTIAL.format(name))
        for other in (around(program, name, STREAM), inside(program, name, STREAM)):
            if other:
                yield Violation(3, f"scope {other.name} is @stream already")
        if reason := why_not_streamed(self.rewrite(program), name, setting.target, setting.fp):
            yield Violation(4, f"scope {name} cannot be streamed: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "stream")


TRANSFORM = Stream
