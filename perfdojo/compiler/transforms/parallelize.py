"""Parallelize: the iterations of a scope are spread over CPU threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import CONCURRENT_MARKS, LANE_MARKS, Program
from perfdojo.compiler.transforms._marks import (
    SEQUENTIAL,
    around,
    inside,
    not_offered,
    why_dependent,
    with_mark,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class Parallelize(Transform):
    """Spread the iterations of a scope over CPU threads; each has its own copy of what is private to it.

        parallelize i
        i:N { B }   ->   i:N@parallel { B }

    0. i is a scope.
    1. The target has threads.
    2. i has no mark.
    3. No scope around i runs concurrently or in lanes, and none in it runs concurrently.
    4. (D) No iteration depends on another one; a `tmp` that each iteration fills before it reads is private.
    """

    aliases = ("parallel", "parallelise")

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "parallel"):
            return
        names = (n for n in program.scopes if extent_of(program, n) > 1)
        yield from legal(map(cls, names), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "parallel"):
            yield Violation(1, reason)
        name, mark = self.scope, program.scopes[self.scope].node.mark
        if mark:
            yield Violation(2, f"scope {name} is marked @{mark}", SEQUENTIAL.format(name))
        if outer := around(program, name, {*CONCURRENT_MARKS, *LANE_MARKS}):
            yield Violation(3, f"scope {name} is inside of {outer.name}, which is @{outer.mark}")
        if inner := inside(program, name, CONCURRENT_MARKS):
            yield Violation(3, f"scope {name} is around {inner.name}, which is @{inner.mark}")
        if reason := why_dependent(program, name):
            yield Violation(4, f"scope {name} cannot run on threads: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "parallel")


TRANSFORM = Parallelize
