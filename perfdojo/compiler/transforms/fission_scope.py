"""Fission scope: one scope over several nodes into two, one behind the other (distribute)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.order import reversed_by_fission
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.transforms._kept import untrue_mark
from perfdojo.compiler.transforms._marks import SEQUENTIAL
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    legal,
    made,
    no_free_name,
    no_node,
    no_scope,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import rebuild, shift, taken_names, with_body


@dataclass(frozen=True, slots=True)
class FissionScope(Transform):
    """Cut a scope before one of its nodes: all iterations of what stands before it run first.

        fission_scope i at B
        i:N { A B C }   ->   i:N { A }  i_2:N { B C }

    Both parts have the mark of i.

    0. i is a scope, B a scope or a statement, and the new name is free.
    1. B stands directly in i, and something before it.
    2. (D) No two accesses to one element, one of them writing, change places. Reductions with one sign may:
       those of integers always, those of floats at reassoc.
    3. The mark stays true.
    """

    aliases = ("distribute", "fission")

    scope: str = arg("scope")
    at: str = arg("node", "at")
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        cuts = (cls(name, n.name) for name, place in program.scopes.items() for n in place.node.body[1:])
        yield from legal(cuts, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        yield from no_node(program, self.at)
        yield from no_free_name(program, self.names)
        around, position = self._place(program)
        if not around or around[-1].name != self.scope:
            where = f"in scope {around[-1].name}" if around else "in no scope"
            yield Violation(1, f"{self.at} stands {where}, not directly in scope {self.scope}")
        if position == 0:
            yield Violation(1, f"nothing stands before {self.at} in scope {self.scope}", "name a later node")
        clash = reversed_by_fission(program, self.scope, position, setting.allows("reassoc"))
        if clash is not None:
            yield Violation(2, str(clash))
        if program.scopes[self.scope].node.mark:
            after = self.rewrite(program)
            reason = untrue_mark(after, self.scope, *(after.scopes.keys() - program.scopes.keys()))
            if reason:
                yield Violation(3, reason, SEQUENTIAL.format(self.scope))

    def _place(self, program: Program) -> tuple[tuple[Scope, ...], int]:
        place = program.scopes.get(self.at) or program.statements[self.at]
        return place.around, place.position

    def rewrite(self, program: Program) -> Program:
        name = made(self.names, 0, self.scope, taken_names(program))
        return cut_scope(program, self.scope, self._place(program)[1], name)


def cut_scope(program: Program, scope: str, cut: int, name: str) -> Program:
    """Return the program with a scope cut before its node number `cut`; the second part is called `name`."""

    def parts(s: Scope) -> Iterator[Scope]:
        yield with_body(s, s.body[:cut])
        yield replace(s, name=name, body=shift(s.body[cut:], {s.name: iteration(name)}))

    return rebuild(program, scope, parts)


TRANSFORM = FissionScope
