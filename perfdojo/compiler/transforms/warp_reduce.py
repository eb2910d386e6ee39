"""Warp reduce: the threads of a warp combine what they have by shuffles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.kept import MAX_THREADS, WARP
from perfdojo.compiler.ir import GRID, Program, Statement
from perfdojo.compiler.transforms._gpu import threads_of
from perfdojo.compiler.transforms._marks import (
    SEQUENTIAL,
    around,
    not_offered,
    why_dependent,
    with_mark,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.walk import iterators


@dataclass(frozen=True, slots=True)
class WarpReduce(Transform):
    """Combine the 32 iterations of a reduction by shuffles between the threads of a warp.

        warp_reduce i
        i:32 { m[] max= p[{i}] }   ->   i:32@warp { m[] max= p[{i}] }

    Iteration n is that of thread n along x, so each thread brings what it holds of p; all of them have the
    result, in a register where threads hold m. `split_reduction` makes such a reduction of a longer one.

    0. i is a scope.
    1. The target has warps.
    2. i has no mark.
    3. A scope around i is @grid, and none is @block_x: the lanes lie along x.
    4. i has 32 iterations and holds one reduction into one element, without a guard; the block then has at
       most 1024 threads.
    5. (D) No iteration depends on another one, but for that reduction into one element.
    6. The level is reassoc where floats are combined, whose order changes.
    """

    aliases = ("shuffle_reduce", "warp_shuffle")

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "warp"):
            return
        names = (n for n in program.scopes if extent_of(program, n) == WARP)
        yield from legal(map(cls, names), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "warp"):
            yield Violation(1, reason)
        name, scope = self.scope, program.scopes[self.scope].node
        if scope.mark:
            yield Violation(2, f"scope {name} is marked @{scope.mark}", SEQUENTIAL.format(name))
        if not around(program, name, GRID):
            yield Violation(
                3, f"scope {name} is not inside of a grid", "mark an outer scope with 'grid' first"
            )
        if outer := around(program, name, ("block_x", "warp")):
            yield Violation(3, f"scope {name} is inside of {outer.name}, which is @{outer.mark}")
        if extent_of(program, name) != WARP:
            reason = f"scope {name} has {extent_of(program, name)} iterations, a warp {WARP} lanes"
            yield Violation(4, reason, "'split_reduction' by a scope of 32")
        threads = threads_of(program, name, "warp")
        if threads > MAX_THREADS:
            yield Violation(
                4, f"the block would have {threads} threads, over {MAX_THREADS}", "tile the scopes"
            )
        inner = scope.body[0]
        if len(scope.body) > 1 or not isinstance(inner, Statement) or inner.op == "=":
            yield Violation(4, f"scope {name} holds something else than one reduction", "fission it")
            return
        if inner.guard is not None:
            yield Violation(4, f"{inner.name} has a guard")
        if name in iterators(inner.target):
            yield Violation(4, f"{inner.name} has an element for each iteration of {name}")
        if reason := why_dependent(program, name, lanes=True):
            yield Violation(5, f"scope {name} cannot run in lanes: {reason}")
        if not setting.reorders(program.buffer(inner.target.buffer).dtype):
            reason = f"{inner.name} combines floats, which {setting.fp} keeps in order"
            yield Violation(6, reason, "compile with --fp reassoc")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "warp")


TRANSFORM = WarpReduce
