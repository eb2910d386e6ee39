"""A contraction gets a nest of its own: others { columns { rows { before inner { statement } after } } }."""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import statements_in, touches
from perfdojo.compiler.ir import Program, Scope, Statement
from perfdojo.compiler.linear import Linear, linear
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.contraction import Contraction, find_contraction
from perfdojo.compiler.plan.legal import independent
from perfdojo.compiler.plan.recipes import isolate, join_next, order_chain
from perfdojo.compiler.tree import find, siblings


def arrange(program: Program, name: str, target: Target) -> tuple[Program, Contraction] | None:
    """Bring the contraction `name` into that form, with neighbours that start or use the result fused in.

    None when the statement is no contraction or a step is not certain to be legal.
    """
    found = _alone(program, name, target)
    if found is None:
        return None
    program, c = found
    outer = c.outer
    if [s.name for s in c.own] != [*outer, *c.inner]:
        ordered = order_chain(program, [*outer, *c.inner])
        if ordered is None:
            return None
        program = ordered
    program = _join_neighbours(program, c, outer)
    others = [s for s in outer if s not in (c.columns, c.rows)]
    ordered = order_chain(program, [*others, c.columns, c.rows])
    return None if ordered is None else (ordered, c)


def _alone(program: Program, name: str, target: Target) -> tuple[Program, Contraction] | None:
    """Separate the nest of the contraction from what shares its scopes."""
    while True:
        c = find_contraction(program, name, target)
        if c is None:
            return None
        crowded = _crowded(c)
        if crowded is None:
            return program, c
        parent, child = crowded
        isolated = isolate(program, parent, child)
        if isolated is None:
            return None
        program = isolated


def _crowded(c: Contraction) -> tuple[str, str] | None:
    """The outermost own scope that holds more than the contraction, and its node that leads there."""
    own = c.own
    rows_last = [s.name for s in own] == [*c.outer, *c.inner]
    children: tuple[Scope | Statement, ...] = (*own[1:], c.statement)
    for scope, child in zip(own, children, strict=True):
        if len(scope.body) == 1:
            continue
        last_row = rows_last and scope.name == c.outer[-1]
        if last_row and all(n is child or isinstance(n, Statement) for n in scope.body):
            continue
        return scope.name, child.name
    return None


def _join_neighbours(program: Program, c: Contraction, outer: list[str]) -> Program:
    """Fuse the nests right before and after that run over the same elements of the target."""
    body = siblings(program, outer[0])
    position = next(n for n, node in enumerate(body) if node.name == outer[0])
    if position > 0:
        matched = _matching(program, body[position - 1], c, outer)
        if matched is not None and all(
            s.op == "=" and s.target.buffer == c.statement.target.buffer
            for s in statements_in((body[position - 1],))
        ):
            joined = join_next(matched[0], matched[1], len(outer), keep_second=True)
            program = program if joined is None else joined
    while True:
        body = siblings(program, outer[0])
        position = next(n for n, node in enumerate(body) if node.name == outer[0])
        if position + 1 == len(body):
            return program
        matched = _matching(program, body[position + 1], c, outer)
        joined = None if matched is None else join_next(matched[0], outer[0], len(outer))
        if joined is None or not all(independent(joined, find(joined, s)) for s in (c.columns, c.rows)):
            return program
        program = joined


def _matching(
    program: Program, node: Scope | Statement, c: Contraction, outer: list[str]
) -> tuple[Program, str] | None:
    """Order the nest `node` like the scopes `outer`, when it touches the target's elements one for one.

    Returns the program and the name of the nest's outermost scope; None when the nest is of another kind.
    """
    chain: list[Scope] = []
    body: tuple[Scope | Statement, ...] = (node,)
    while len(body) == 1 and isinstance(body[0], Scope):
        chain.append(body[0])
        body = body[0].body
    if (
        len(chain) != len(outer)
        or not all(isinstance(n, Statement) for n in body)
        or any(s.mark == "vector" for s in chain)
    ):
        return None
    same = next((load for load, _ in touches(body) if load.buffer == c.statement.target.buffer), None)
    if same is None:
        return None
    ours = [linear(i) for i in c.statement.target.indices]
    theirs = [linear(i) for i in same.indices]
    wanted: list[str] = []
    for scope in outer:
        steps = _steps(ours, scope)
        found = [
            s for s in chain if _steps(theirs, s.name) == steps and s.extent == find(program, scope).extent
        ]
        if steps is None or len(found) != 1:
            return None
        wanted.append(found[0].name)
    ordered = order_chain(program, wanted)
    return None if ordered is None else (ordered, wanted[0])


def _steps(indices: list[Linear | None], scope: str) -> tuple[int, ...] | None:
    """Steps of each index along a scope, None when it does not move at all or is not linear."""
    steps = tuple(0 if i is None else i.coefficient(scope) for i in indices)
    return steps if any(steps) and None not in indices else None
