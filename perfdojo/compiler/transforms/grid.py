"""Grid: the iterations of a scope are the blocks of a GPU kernel along one dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

from perfdojo.compiler.analysis.kept import MAX_EXTENT
from perfdojo.compiler.ir import GRID, Program
from perfdojo.compiler.transforms._gpu import DIMENSIONS
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
class Grid(Transform):
    """Run each iteration of an outermost scope as a block of a GPU kernel, numbered along one dimension.

        grid i x
        i:N { B }   ->   i:N@grid_x { B }

    0. i is a scope.
    1. The target has a grid.
    2. i has no mark.
    3. Each scope around i is @grid and holds nothing else: blocks do not wait for each other.
    4. No scope around i or in it has that dimension.
    5. The extent is at most 2^31 - 1 along x, 65535 along y and z.
    6. (D) No iteration depends on another one.
    """

    scope: str = arg("scope")
    dimension: OneOf["x", "y", "z"] = arg("word", choices=DIMENSIONS)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "grid_x"):
            return
        names = (n for n in program.scopes if extent_of(program, n) > 1)
        yield from legal((cls(n, d) for n in names for d in DIMENSIONS), program, setting)  # type: ignore[arg-type]

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        name, mark = self.scope, f"grid_{self.dimension}"
        if reason := not_offered(setting, mark):
            yield Violation(1, reason)
        place = program.scopes[name]
        if place.node.mark:
            yield Violation(2, f"scope {name} is marked @{place.node.mark}", SEQUENTIAL.format(name))
        for outer in place.around:
            if outer.mark not in GRID:
                yield Violation(3, f"scope {name} is inside of {outer.name}, which is not @grid")
            if len(outer.body) > 1:
                yield Violation(
                    3, f"scope {outer.name} around {name} holds more than one scope", "fission it"
                )
        for other in (around(program, name, (mark,)), inside(program, name, (mark,))):
            if other:
                yield Violation(4, f"scope {other.name} is @{mark} already", "take another dimension")
        if extent_of(program, name) > MAX_EXTENT[mark]:
            reason = f"{extent_of(program, name)} blocks are over the {MAX_EXTENT[mark]} of @{mark}"
            yield Violation(5, reason, "tile the scope")
        if reason := why_dependent(program, name):
            yield Violation(6, f"scope {name} cannot run in blocks: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, f"grid_{self.dimension}")


TRANSFORM = Grid
