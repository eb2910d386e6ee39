"""Async copy: a thread of a GPU copies into shared memory while it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import BLOCK, Program, Statement
from perfdojo.compiler.lowering.wide import why_not_wide
from perfdojo.compiler.transforms._marks import (
    SEQUENTIAL,
    around,
    not_offered,
    why_dependent,
    with_mark,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class AsyncCopy(Transform):
    """Copy the elements of a scope into shared memory by one access that the thread does not wait for.

        async_copy i
        j:32@block_x { i:4 { t[{j},{i}] = x[{j}*4+{i}] } }   ->   j:32@block_x { i:4@async { .. } }

    The threads wait at the barrier before t is read. `double_buffer .. ahead` lets them compute meanwhile.

    0. i is a scope.
    1. The target has asynchronous copies.
    2. i has no mark.
    3. A scope around i is @block.
    4. (D) No iteration depends on another one.
    5. The scope copies 4, 8 or 16 bytes into a tmp in shared memory, which begin at a multiple of that.
    """

    aliases = ("cp_async",)

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "async"):
            return
        yield from legal(map(cls, program.scopes), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "async"):
            yield Violation(1, reason)
        name, scope = self.scope, program.scopes[self.scope].node
        if scope.mark:
            yield Violation(2, f"scope {name} is marked @{scope.mark}", SEQUENTIAL.format(name))
        if not around(program, name, BLOCK):
            yield Violation(3, f"no scope around {name} is @block", "mark one with 'block' first")
        inner = scope.body[0]
        if not isinstance(inner, Statement):
            yield Violation(5, f"scope {name} does not hold one copy")
            return
        buffer = program.buffer(inner.target.buffer)
        if buffer.role != "tmp" or buffer.space != "shared":
            yield Violation(
                5, f"{buffer.name} does not lie in shared memory", f"set_space {buffer.name} shared"
            )
        if reason := why_dependent(program, name, lanes=True):
            yield Violation(4, f"scope {name} cannot be one copy: {reason}")
        if reason := why_not_wide(program, name, setting.target):
            yield Violation(5, f"scope {name} is no copy: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "async")


TRANSFORM = AsyncCopy
