"""Reorder: two nested scopes change places (interchange)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.order import reversed_by_interchange
from perfdojo.compiler.ir import CONCURRENT_MARKS, Program, Scope
from perfdojo.compiler.transforms._kept import untrue_mark
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import rebuild, with_body


@dataclass(frozen=True, slots=True)
class Reorder(Transform):
    """Exchange two nested scopes: the inner one comes to lie outside.

        reorder i k
        i:N { k:M { B } }   ->   k:M { i:N { B } }

    Both keep their marks.

    0. i and k are scopes.
    1. The body of i is the scope k and nothing else.
    2. (D) No two accesses to one element, one of them writing, change places. Reductions with one sign may:
       those of integers always, those of floats at reassoc.
    3. The marks stay true, and no concurrent scope comes to lie in one that is @vector.
    """

    aliases = ("interchange", "reorder_loops")

    outer: str = arg("scope")
    inner: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        pairs = (
            (name, place.node.body[0].name)
            for name, place in program.scopes.items()
            if len(place.node.body) == 1 and isinstance(place.node.body[0], Scope)
        )
        yield from legal((cls(*pair) for pair in pairs), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.outer, self.inner)
        body = program.scopes[self.outer].node.body
        if len(body) != 1 or body[0].name != self.inner:
            inside = program.scopes[self.inner].around
            reason = f"scope {self.inner} is not all that is directly in scope {self.outer}"
            if not inside or inside[-1].name != self.outer:
                yield Violation(1, reason)
            yield Violation(
                1, reason, f"'fission_scope {self.outer} at ...' parts it from what stands beside it"
            )
        clash = reversed_by_interchange(program, self.outer, setting.allows("reassoc"))
        if clash is not None:
            yield Violation(2, str(clash))
        yield from self._marks(program)

    def _marks(self, program: Program) -> Iterator[Violation]:
        outer, inner = (program.scopes[n].node.mark for n in (self.outer, self.inner))
        if inner == "vector" and outer in CONCURRENT_MARKS:
            yield Violation(
                3, f"scope {self.outer} is @{outer} and would lie in {self.inner}, which is @vector"
            )
        # That of i stays true: what two iterations of it share in one iteration of k they shared before.
        reason = untrue_mark(self.rewrite(program), self.inner) if inner else ""
        if reason:
            yield Violation(3, reason)

    def rewrite(self, program: Program) -> Program:
        def swapped(s: Scope) -> Iterator[Scope]:
            (inner,) = s.body
            assert isinstance(inner, Scope)
            yield with_body(inner, (with_body(s, inner.body),))

        return rebuild(program, self.outer, swapped)


TRANSFORM = Reorder
