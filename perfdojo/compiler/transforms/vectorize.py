"""Vectorize: a scope runs in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import carried_reductions
from perfdojo.compiler.analysis.offsets import step
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.trial import why_scalar
from perfdojo.compiler.lowering.wide import why_not_wide
from perfdojo.compiler.ops import REDUCTIONS
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
from perfdojo.compiler.walk import iterators

VECTOR = ("vector",)


@dataclass(frozen=True, slots=True)
class Vectorize(Transform):
    """Run the iterations of a scope in the lanes of vector registers; sums over lanes end behind it.

        vectorize i
        i:N { B }   ->   i:N@vector { B }

    What does not fill a register is masked, or done in narrower vectors and one by one.

    0. i is a scope.
    1. The target has vectors.
    2. i has no mark.
    3. No scope around i or in it is @vector.
    4. (D) No iteration depends on another one, but for reductions with one sign into one element.
    5. Reductions of floats over the lanes need the level reassoc, as they change their order.
    6. The target has an instruction for all that happens in lanes: what is written are neighbours in memory,
       and there are enough iterations for a vector. On a GPU the scope copies 4, 8 or 16 bytes, which
       begin at a multiple of that.
    """

    aliases = ("vectorise",)

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "vector") or not (setting.target.vector_bits or setting.target.wide_copies):
            return
        yield from legal(
            (cls(name) for name in program.scopes if _promises(program, name, setting)), program, setting
        )

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "vector"):
            yield Violation(1, reason)
        name, mark = self.scope, program.scopes[self.scope].node.mark
        if mark:
            yield Violation(2, f"scope {name} is marked @{mark}", SEQUENTIAL.format(name))
        outer, inner = around(program, name, VECTOR), inside(program, name, VECTOR)
        if outer or inner:
            where = f"inside of {outer.name}" if outer else f"around {inner.name if inner else ''}"
            yield Violation(3, f"scope {name} is {where}, which is @vector")
        if reason := why_dependent(program, name, lanes=True):
            yield Violation(4, f"scope {name} cannot run in lanes: {reason}")
        if not setting.allows("reassoc"):
            statements = program.statements
            for s in carried_reductions(program, name):
                target = statements[s].node.target.buffer
                if program.buffer(target).dtype.is_float:
                    reason = f"{s} sums floats over the lanes of {name}, which {setting.fp} keeps in order"
                    yield Violation(5, reason, "compile with --fp reassoc")
        if setting.target.wide_copies:
            reason = why_not_wide(program, name, setting.target)
        else:
            reason = why_scalar(program, name, setting.target, setting.fp)
        if reason:
            yield Violation(6, f"scope {name} would stay scalar: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "vector")


def _promises(program: Program, name: str, setting: Setting) -> bool:
    """Tell whether a scope is worth the whole test: unmarked, long, writing neighbours or sums."""
    if program.scopes[name].node.mark or extent_of(program, name) < setting.target.min_lanes:
        return False
    if around(program, name, VECTOR) or inside(program, name, VECTOR):
        return False
    known = model(program)
    for access in known.within(name):
        if not access.writes:
            continue
        by = step(known, access, name)
        if by not in (0, 1):
            return False
        if by == 0 and access.statement.op not in REDUCTIONS and name in iterators(access.statement.value):
            return False
    return True


TRANSFORM = Vectorize
