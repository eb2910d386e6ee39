"""Dma: a copy is made by the DMA engine of a Snitch cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import CONCURRENT_MARKS, Program
from perfdojo.compiler.lowering.copies import why_no_copy
from perfdojo.compiler.transforms._marks import SEQUENTIAL, around, not_offered, with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg

ALONE = ("vector", "stream", "frep", "dma")


@dataclass(frozen=True, slots=True)
class Dma(Transform):
    """Let the DMA engine make a copy, while the cores go on with what does not need it.

        dma c
        c:N { t[{c}] = x[{i}*N+{c}] }   ->   c:N@dma { t[{c}] = x[{i}*N+{c}] }

    Arguments then lie in main memory, whatever their size, and temporaries in the TCDM. Neighbours in both
    are one row of a transfer; rows at equal distances are one transfer of two dimensions.

    0. i is a scope.
    1. The target has a DMA engine.
    2. i has no mark.
    3. No scope around i runs concurrently, in lanes, as a stream or as a copy.
    4. i does nothing but copy elements from one buffer to another one, each to a place of its own, at indices
       that are sums of iterations times constants; one of the two is a temporary.
    5. No @stream scope takes an argument from where it lies: streams reach the TCDM alone.
    """

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "dma"):
            return
        yield from legal(map(cls, program.scopes), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "dma"):
            yield Violation(1, reason)
        name, mark = self.scope, program.scopes[self.scope].node.mark
        if mark:
            yield Violation(2, f"scope {name} is marked @{mark}", SEQUENTIAL.format(name))
        if outer := around(program, name, {*CONCURRENT_MARKS, *ALONE}):
            yield Violation(3, f"scope {name} is inside of {outer.name}, which is @{outer.mark}")
        if reason := why_no_copy(program, name, setting.target):
            yield Violation(4, f"scope {name} cannot be copied by the DMA engine: {reason}")
        arguments = {b.name for b in program.arguments}
        for other, place in program.scopes.items():
            used = {load.buffer for load, _ in touches(place.node.body)}
            if place.node.mark == "stream" and (found := sorted(used & arguments)):
                reason = f"scope {other} streams {found[0]}, which would lie in main memory"
                yield Violation(5, reason, f"create_temporary copies {found[0]} to the TCDM")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "dma")


TRANSFORM = Dma
