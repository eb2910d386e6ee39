"""Padded inputs that are read often are copied once, with their border, so that the loops test nothing."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import written
from perfdojo.compiler.ir import Load, Op, Program, Scope, Statement
from perfdojo.compiler.linear import linear
from perfdojo.compiler.plan.rewrites.stage_padded import padded_box, stage_padded
from perfdojo.compiler.tree import extents
from perfdojo.compiler.walk import const_int, iterators, statements, subexpressions

LEAST_REUSE = 2
"""Reads of each element of the copy from which on it pays."""


def stage_paddings(program: Program) -> Program:
    """Return the program with every padded read of enough reuse staged."""
    while True:
        staged = next(
            (p for a, s in statements(program) for p in [_staged(program, a, s)] if p is not None), None
        )
        if staged is None:
            return program
        program = staged


def _staged(program: Program, around: tuple[Scope, ...], statement: Statement) -> Program | None:
    """Stage the first padded read of a statement, None when it has none that pays."""
    if any(s.mark in ("vector", "unroll") for s in around):
        return None
    for select in subexpressions(statement.value):
        if not isinstance(select, Op) or select.op != "select" or not isinstance(select.args[1], Load):
            continue
        depth = _depth(around, select.args[1])
        if depth == len(around):
            continue
        child = around[depth]
        inner = {child.name: const_int(child.extent), **extents(child.body)}
        outer = {s.name: const_int(s.extent) for s in around[:depth]}
        shape = [const_int(e) for e in program.buffer(select.args[1].buffer).shape]
        box = padded_box(select, inner, outer, shape)
        executions = prod(const_int(s.extent) for s in around[depth:])
        if box is None or select.args[1].buffer in written((child,)):
            continue
        if executions >= LEAST_REUSE * prod(box.extents):
            return stage_padded(program, around[:depth], child.name, select, box)
    return None


def _depth(around: tuple[Scope, ...], load: Load) -> int:
    """How many outer scopes walk over disjoint slices of the buffer: the copy lives inside of them."""
    for depth, scope in enumerate(around):
        using = [linear(i) for i in load.indices if scope.name in iterators(i)]
        inner = {s.name for s in around[depth + 1 :]}
        alone = len(using) == 1 and using[0] is not None
        if not alone or any(s in inner and abs(c) != 1 for s, c in using[0].terms):  # type: ignore[union-attr]
            return depth
        form = using[0]
        assert form is not None
        others = [s for s, _ in form.terms if s in inner]
        span = sum(const_int(s.extent) - 1 for s in around if s.name in others)
        if span >= abs(form.coefficient(scope.name)):
            return depth
    return len(around)
