"""Threads: the outermost scope of each nest that is worth it and whose iterations are independent."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.dependence import is_parallel
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.tree import find, nodes
from perfdojo.compiler.walk import const_int, statements

LEAST_WORK = 20_000
"""Statement executions of a nest below which starting threads costs more than it saves."""


def mark_threads(program: Program, threads: int) -> Program:
    """Return the program with `@parallel` on the outermost scope that may have it of each nest without."""
    if threads < 2:
        return program
    for node in program.body:
        if isinstance(node, Scope):
            program = _mark(program, node.name)
    return program


def _mark(program: Program, name: str) -> Program:
    """Mark a scope, else the scopes in it, unless the writer has marked one of them."""
    scope = find(program, name)
    if (
        any(isinstance(n, Scope) and n.mark == "parallel" for n in nodes((scope,)))
        or _work(program, name) < LEAST_WORK
    ):
        return program
    if not scope.mark and const_int(scope.extent) > 1 and is_parallel(program, name) is None:
        return mark(program, name, "parallel")
    for child in scope.body:
        if isinstance(child, Scope):
            program = _mark(program, child.name)
    return program


def _work(program: Program, name: str) -> int:
    """Statement executions of one run of the scope."""
    total = 0
    for around, _ in statements(program):
        position = next((n for n, s in enumerate(around) if s.name == name), None)
        if position is not None:
            total += prod(const_int(s.extent) for s in around[position:])
    return total
