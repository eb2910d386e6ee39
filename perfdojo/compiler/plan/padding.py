"""Padded inputs that are read often are copied once, with their border, so that the loops test nothing."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import written
from perfdojo.compiler.ir import Load, Op, Program, Scope, Statement
from perfdojo.compiler.linear import linear
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.ahead import comes_from_memory, fetch_ahead
from perfdojo.compiler.plan.rewrites.stage_padded import padded_box, stage_padded
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import extents
from perfdojo.compiler.walk import const_int, iterators, statements, subexpressions

LEAST_REUSE = 2
"""Reads of each element of the copy from which on it pays."""

NEAR_BYTES = 64 << 10
"""A slice up to this size is still near when it is copied, while the one before it was used. Measured on
Zen 5: 1024 slices of 56 x 56, 26 MB with the result, 8 % faster, 13 % where the result is read next; slices
of 28 x 28 and 112 x 112 as fast. Where all is in the last-level cache the prefetches cost 2 % to 6 %."""


def stage_paddings(program: Program, target: Target) -> Program:
    """Return the program with every padded read of enough reuse staged."""
    while True:
        staged = next(
            (p for a, s in statements(program) for p in [_staged(program, a, s, target)] if p is not None),
            None,
        )
        if staged is None:
            return program
        program = staged


def _staged(
    program: Program, around: tuple[Scope, ...], statement: Statement, target: Target
) -> Program | None:
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
            staged = stage_padded(program, around[:depth], child.name, select, box)
            size = prod(box.extents) * program.buffer(select.args[1].buffer).dtype.bytes
            near = target.vector_bits > 0 and size <= NEAR_BYTES
            return _next_slice(staged, around[:depth], select.args[1]) if near else staged
    return None


def _next_slice(program: Program, around: tuple[Scope, ...], load: Load) -> Program:
    """Fetch the next slice of what comes from memory while one is copied."""
    if not around or not comes_from_memory(program):
        return program
    return fetch_ahead(program, {load.buffer: stride(program, load, around[-1].name) or 0})


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
