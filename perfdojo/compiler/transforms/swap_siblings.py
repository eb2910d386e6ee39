"""Swap siblings: two nodes that stand one behind the other change places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from perfdojo.compiler.analysis.order import first_writer_becomes_reduction, reversed_by_swap
from perfdojo.compiler.ir import Node, Program, Scope, Statement
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_node
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import Body, edit_body


@dataclass(frozen=True, slots=True)
class SwapSiblings(Transform):
    """Exchange two nodes that stand one behind the other; each is a scope or a statement.

        swap_siblings A B
        A  B   ->   B  A

    0. A and B are scopes or statements.
    1. B stands directly behind A.
    2. (D) No two accesses to one element are in both, one of them writing. Reductions with one sign may be:
       those of integers always, those of floats at reassoc.
    3. No reduction becomes the first in the text to write its buffer, which would start it there.
    """

    aliases = ("swap", "reorder_statements")

    first: str = arg("node")
    second: str = arg("node")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        bodies = (program.body, *(place.node.body for place in program.scopes.values()))
        pairs = (cls(a.name, b.name) for body in bodies for a, b in pairwise(body))
        yield from legal(pairs, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_node(program, self.first, self.second)
        first, second = (program.scopes.get(n) or program.statements[n] for n in (self.first, self.second))
        if first.around != second.around or first.position + 1 != second.position:
            hint = ""
            if first.around == second.around and second.position + 1 == first.position:
                hint = f"write swap_siblings {self.second} {self.first}"
            yield Violation(1, f"{self.second} does not stand directly behind {self.first}", hint)
        clash = reversed_by_swap(program, self.first, self.second, setting.allows("reassoc"))
        if clash is not None:
            yield Violation(2, str(clash))
        started = first_writer_becomes_reduction(program, (second.node,), (first.node,))
        if started is not None:
            buffer = program.statements[started].node.target.buffer
            reason = f"{started} would be the first in the text to write {buffer}, and so start it"
            yield Violation(3, reason)

    def rewrite(self, program: Program) -> Program:
        place = program.scopes.get(self.first) or program.statements[self.first]
        at = place.position

        def swapped(body: Body) -> tuple[Scope | Statement, ...]:
            found: tuple[Node, ...] = (body[at + 1], body[at])
            return (*body[:at], *found, *body[at + 2 :])

        return edit_body(program, place.around[-1].name if place.around else None, swapped)


TRANSFORM = SwapSiblings
