"""The rest of a program: scopes of unit stride run in lanes."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.plan.legal import can_fission, can_vectorize, is_local, statements_in, touches
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.plan.tree import find, nodes
from perfdojo.compiler.walk import const_int

MAX_UNROLLED = 32
"""Statements that unrolling the scopes inside a vector scope may lead to."""


def vectorize_rest(program: Program, target: Target, fp: FpLevel) -> Program:
    """Return the program with every unit-stride scope marked that may run in lanes, innermost first."""
    if target.vector_bits == 0:
        return program
    for node in program.body:
        if isinstance(node, Scope):
            program, _ = _visit(program, node.name, target, fp)
    return program


def _visit(program: Program, name: str, target: Target, fp: FpLevel) -> tuple[Program, bool]:
    """Mark inside the scope `name`, else the scope itself; tell whether anything was marked."""
    scope = find(program, name)
    if scope.mark in ("vector", "unroll"):
        return program, True
    inside = [n.name for n in scope.body if isinstance(n, Scope)]
    done = False
    for child in inside:
        program, marked = _visit(program, child, target, fp)
        done = done or marked
    if done:
        return program, True
    if _worthwhile(program, scope, target) and can_vectorize(program, scope, fp):
        return _mark(program, scope), True
    if inside:
        return program, False
    return _split(program, scope, target, fp)


def _mark(program: Program, scope: Scope) -> Program:
    """Run `scope` in lanes; short scopes in it are written out."""
    inner = [n for n in nodes(scope.body) if isinstance(n, Scope)]
    if prod(const_int(s.extent) for s in inner) * len(statements_in(scope.body)) <= MAX_UNROLLED:
        for s in inner:
            program = mark(program, s.name, "unroll")
    return mark(program, scope.name, "vector")


def _split(program: Program, scope: Scope, target: Target, fp: FpLevel) -> tuple[Program, bool]:
    """Separate what may run in lanes in an innermost scope from a sum that has to keep its order."""
    for cut in range(1, len(scope.body)):
        first = Scope(scope.name, scope.extent, scope.body[:cut])
        if (
            can_fission(program, scope, cut)
            and can_vectorize(program, first, fp)
            and _worthwhile(program, first, target)
        ):
            program, (one, two) = fission(program, scope.name, [cut])
            return _visit(mark(program, one, "vector"), two, target, fp)[0], True
    return program, False


def _worthwhile(program: Program, scope: Scope, target: Target) -> bool:
    """Every access moves by one element along the scope or not at all, and there is a vector to fill."""
    found = statements_in(scope.body)
    lanes = min(widest_lanes(program, s, target) for s in found)
    if const_int(scope.extent) < max(2, lanes // (2 if target.masked_memory else 1)):
        return False
    moved = False
    for load, writes in touches(scope.body):
        step = stride(program, load, scope.name)
        if step not in (0, 1):
            return False
        moved = moved or step == 1
        if writes and step == 0 and is_local(program, load.buffer):
            return False
    return moved
