"""Block: the iterations of a scope are the threads of a GPU block along one dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

from perfdojo.compiler.analysis.kept import MAX_EXTENT, MAX_THREADS
from perfdojo.compiler.ir import GRID, Program
from perfdojo.compiler.transforms._gpu import DIMENSIONS, threads_of
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
class Block(Transform):
    """Run each iteration of a scope inside a grid on a thread of the block, numbered along one dimension.

        block j x
        i:M@grid_x { j:N { B } }   ->   i:M@grid_x { j:N@block_x { B } }

    0. j is a scope.
    1. The target has blocks.
    2. j has no mark.
    3. A scope around j is @grid, and none in it.
    4. No scope around j or in it has that dimension.
    5. The extent is at most 1024 along x and y, 64 along z, and a block has at most 1024 threads.
    6. (D) No iteration depends on another one.
    """

    scope: str = arg("scope")
    dimension: OneOf["x", "y", "z"] = arg("word", choices=DIMENSIONS)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "block_x"):
            return
        names = (n for n, p in program.scopes.items() if p.around and extent_of(program, n) > 1)
        yield from legal((cls(n, d) for n in names for d in DIMENSIONS), program, setting)  # type: ignore[arg-type]

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        name, mark = self.scope, f"block_{self.dimension}"
        if reason := not_offered(setting, mark):
            yield Violation(1, reason)
        old = program.scopes[name].node.mark
        if old:
            yield Violation(2, f"scope {name} is marked @{old}", SEQUENTIAL.format(name))
        if not around(program, name, GRID):
            yield Violation(
                3, f"scope {name} is not inside of a grid", "mark an outer scope with 'grid' first"
            )
        if inner := inside(program, name, GRID):
            yield Violation(3, f"scope {name} is around {inner.name}, which is @{inner.mark}")
        for other in (around(program, name, (mark,)), inside(program, name, (mark,))):
            if other:
                yield Violation(4, f"scope {other.name} is @{mark} already", "take another dimension")
        extent = extent_of(program, name)
        if extent > MAX_EXTENT[mark]:
            yield Violation(
                5, f"{extent} threads are over the {MAX_EXTENT[mark]} of @{mark}", "tile the scope"
            )
        threads = threads_of(program, name, mark)
        if threads > MAX_THREADS:
            yield Violation(
                5, f"the block would have {threads} threads, over {MAX_THREADS}", "tile the scope"
            )
        if reason := why_dependent(program, name):
            yield Violation(6, f"scope {name} cannot run on the threads of a block: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, f"block_{self.dimension}")


TRANSFORM = Block
