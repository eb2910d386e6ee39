"""Simplify conditions: guards and choices that are decided for all iterations go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Node, Program, Scope, Statement
from perfdojo.compiler.starts import implicit_starts
from perfdojo.compiler.transforms._decided import Decided
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_node
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import Body, nodes, with_body


@dataclass(frozen=True, slots=True)
class SimplifyConditions(Transform):
    """Leave out the conditions in a node that hold in every iteration, and what never happens.

        simplify_conditions B
        i:N { y[{i}] = {i} < N ? a : b if {i} >= 0 }   ->   i:N { y[{i}] = a }
        i:N { y[{i}] = a  z[{i}] = b if {i} > N }      ->   i:N { y[{i}] = a }

    Conditions are decided by the ranges of iterations, by declared `values`, and by the conditions around
    them. Scopes in which nothing is left go, too.

    0. B is a scope or a statement.
    1. A condition in it is decided.
    2. No reduction becomes the first in the text to write its buffer, and a statement is left.
    """

    aliases = ("simplify", "simplify_guards", "drop_guard")

    node: str = arg("node")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        decided = Decided(program)
        for name, place in program.statements.items():
            found = decided.statement(place.node)
            if found is not place.node and (found is not None or cls(name).why_not(program, setting) is None):
                yield cls(name)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_node(program, self.node)
        decided, place = Decided(program), program.scopes.get(self.node) or program.statements[self.node]
        found = [
            s for s in nodes((place.node,)) if isinstance(s, Statement) and decided.statement(s) is not s
        ]
        if not found:
            yield Violation(1, f"no condition in {self.node} is the same in all iterations")
        if all(decided.statement(s) for s in found):
            return
        after = self.rewrite(program)
        if not after.body:
            yield Violation(2, "no statement would be left")
        for _, statement in implicit_starts(after):
            reason = f"{statement.name} would be the first in the text to write {statement.target.buffer}"
            yield Violation(2, f"{reason}, and so start it")

    def rewrite(self, program: Program) -> Program:
        body = tuple(_simplified(program.body, self.node, Decided(program), False))
        return Program(program.name, program.sizes, program.buffers, body, program.source)


def _simplified(body: Body, wanted: str, decided: Decided, inside: bool) -> Iterator[Node]:
    for n in body:
        here = inside or n.name == wanted
        if isinstance(n, Scope):
            inner = tuple(_simplified(n.body, wanted, decided, here))
            if inner:
                yield n if _same(inner, n.body) else with_body(n, inner)
            continue
        found = decided.statement(n) if here else n
        if found is not None:
            yield found


def _same(a: Iterable[Node], b: Body) -> bool:
    a = tuple(a)
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


TRANSFORM = SimplifyConditions
