"""Add scope: a node gets a scope of one iteration around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Literal, Node, Program, Scope
from perfdojo.compiler.text.resolve import MAX_SCOPES
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, made, no_free_name, no_node
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import Body, edit_body, taken_names


@dataclass(frozen=True, slots=True)
class AddScope(Transform):
    """Wrap a scope or a statement in a scope of one iteration, so that it can be joined with its neighbour.

        add_scope B
        B   ->   B_1:1 { B }

    It is always legal, so that no list of candidates has it; `drop_scope` undoes it.

    0. B is a scope or a statement, and the new name is free.
    1. B lies in, and holds, fewer than 64 nested scopes.
    """

    aliases = ("wrap",)

    node: str = arg("node")
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        return iter(())

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_node(program, self.node)
        yield from no_free_name(program, self.names)
        place = program.scopes.get(self.node) or program.statements[self.node]
        if len(place.around) + _depth(place.node) >= MAX_SCOPES:
            yield Violation(1, f"{self.node} is part of {MAX_SCOPES} nested scopes already")

    def rewrite(self, program: Program) -> Program:
        place = program.scopes.get(self.node) or program.statements[self.node]
        name = made(self.names, 0, f"{self.node}_1", taken_names(program))

        def wrapped(body: Body) -> Iterator[Node]:
            for node in body:
                yield Scope(name, Literal(1, I64), (node,)) if node is place.node else node

        return edit_body(program, place.around[-1].name if place.around else None, wrapped)


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Scope) else 0


TRANSFORM = AddScope
