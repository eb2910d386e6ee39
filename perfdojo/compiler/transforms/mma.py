"""Mma: a nest is one instruction of tensor cores, which the threads of a warp do together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.kept import MAX_THREADS
from perfdojo.compiler.analysis.offsets import offset
from perfdojo.compiler.analysis.tensor import Why, misplaced, tensor_op
from perfdojo.compiler.ir import GRID, Program, Scope
from perfdojo.compiler.transforms._gpu import threads_of
from perfdojo.compiler.transforms._marks import SEQUENTIAL, around, not_offered, with_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import nodes

ADVICE = {
    5: "'fission_scope' parts statements, 'set_space r fragment' says where sums lie",
    6: "'tile_scope' and 'reorder' make such scopes",
    9: "'create_temporary' makes a copy that lies otherwise, 'pad_dims' parts its rows",
}


@dataclass(frozen=True, slots=True)
class Mma(Transform):
    """Let the tensor cores do a nest: the 32 threads of a warp together, along x.

        mma i
        i:16 { j:16 { k:16 { r[{i},{j}] += f32(a[{i},{k}]) * f32(b[{k},{j}]) } } }
          ->  i:16@mma { j:16 { k:16 { .. } } }

    The same for a matrix that is filled, `r[{i},{j}] = 0.0`, loaded, `r[{i},{j}] = c[{i},{j}]`, or stored.
    Sums have any order and are truncated, not rounded; factors in f32 are rounded to tf32, 11 bits.

    0. i is a scope.
    1. The target has tensor cores.
    2. The level is fast.
    3. i and the scopes in it have no mark.
    4. A scope around i is @grid, and none is @block_x, @warp or @mma: the lanes lie along x. The block then
       has at most 1024 threads.
    5. i holds one statement without a guard, in scopes that hold nothing else: a fill, load or store of a
       matrix of a buffer in space(fragment), or a sum of products into it.
    6. The scopes have 16 iterations each; that of a sum of products of f32 has 8.
    7. The matrix in space(fragment) is f32; factors are both f16, both bf16 or both f32, and in memory.
    8. Two of its indices are each a multiple of 16 plus an iteration: rows and columns. One factor is indexed
       by rows and steps, the other by steps and columns.
    9. A matrix in memory has rows, or columns, of neighbouring elements, a multiple of 16 bytes apart; it
       begins at a multiple of 32 bytes.
    """

    level = "fast"
    aliases = ("tensorize", "tensor_core")

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "mma") or not setting.allows("fast"):
            return
        yield from legal(map(cls, program.scopes), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "mma"):
            yield Violation(1, reason)
        if not setting.allows("fast"):
            yield Violation(2, f"{setting.fp} rounds each sum to nearest", "compile with --fp fast")
        scope = program.scopes[self.scope].node
        for s in nodes((scope,)):
            if isinstance(s, Scope) and s.mark:
                yield Violation(3, f"scope {s.name} is marked @{s.mark}", SEQUENTIAL.format(s.name))
        if not around(program, self.scope, GRID):
            reason = f"scope {self.scope} is not inside of a grid"
            yield Violation(4, reason, "mark an outer scope with 'grid' first")
        if outer := around(program, self.scope, ("block_x", "warp", "mma")):
            yield Violation(4, f"scope {self.scope} is inside of {outer.name}, which is @{outer.mark}")
        if (threads := threads_of(program, self.scope, "mma")) > MAX_THREADS:
            yield Violation(4, f"the block would have {threads} threads, over {MAX_THREADS}")
        known = model(program)
        found = tensor_op(known, scope)
        why = found if isinstance(found, Why) else misplaced(known, found, lambda a: offset(known, a))
        if why is not None:
            yield Violation(why.condition, why.reason, ADVICE.get(why.condition, ""))

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "mma")


TRANSFORM = Mma
