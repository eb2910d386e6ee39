"""Stream: what moves in a scope comes from Snitch's data movers and goes to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._marks import SEQUENTIAL, around, inside, not_offered, with_mark
from perfdojo.compiler.transforms._snitch import streams, why_no_streams
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg

STREAM = ("stream",)


@dataclass(frozen=True, slots=True)
class Stream(Transform):
    """Let data movers feed the FPU with what moves in a scope: set up before it, one element each iteration.

        stream i
        i:N { B }   ->   i:N@stream { B }

    A stream is an access in an innermost scope that moves with it, `+=` two of them.

    0. i is a scope.
    1. The target has streams.
    2. i has no mark.
    3. No scope around i or in it is @stream.
    4. There is a stream.
    5. Each is affine, under no condition, of floats that fill 64-bit words, in at most 4 scopes of at most
       2^17 iterations, to a buffer that fits the 128 KiB of the TCDM; at most 3 of them differ; and what
       one writes no other place or iteration touches.
    """

    aliases = ("ssr",)

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "stream"):
            return
        names = (n for n in program.scopes if extent_of(program, n) > 1)
        yield from legal(map(cls, names), program, setting)

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
        if not streams(program, name):
            yield Violation(4, f"nothing in scope {name} moves with an innermost scope")
        for reason in why_no_streams(program, name):
            yield Violation(5, f"scope {name} cannot be streamed: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "stream")


TRANSFORM = Stream
