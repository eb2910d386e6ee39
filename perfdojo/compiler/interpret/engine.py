"""The engine: executes a plan in an algebra, many iterations at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from perfdojo.compiler.interpret.algebra import Algebra, Array, Change
from perfdojo.compiler.interpret.expressions import Expressions
from perfdojo.compiler.interpret.frame import Frame
from perfdojo.compiler.interpret.indices import occurring
from perfdojo.compiler.interpret.plan import Plan
from perfdojo.compiler.interpret.storage import Storage, layout
from perfdojo.compiler.interpret.tree import Node, Step
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import const_int, statements

CHUNK = 1 << 16
"""Elements of an array that are computed at a time: temporaries stay in the cache, and small."""

WIDE = 1 << 12
"""Lanes from which a reduction is faster as a loop of vectors than as one accumulation after another."""

Run = Callable[[], None]


def execute(plan: Plan, algebra: Algebra, inputs: Mapping[str, Array]) -> dict[str, Storage]:
    """Execute `plan` and return the storage of every buffer; `inputs` are copied."""
    storages = _storages(plan.program, algebra, inputs)
    with np.errstate(all="ignore"):
        base = dict.fromkeys(plan.extents, 0)
        run = _sequence([_compile(node, (), plan, algebra, storages, base) for node in plan.body])
        run()
    return storages


def _storages(program: Program, algebra: Algebra, inputs: Mapping[str, Array]) -> dict[str, Storage]:
    signs: dict[str, set[str]] = {}
    for _, statement in statements(program):
        signs.setdefault(statement.target.buffer, set()).add(statement.op)
    storages = {}
    for buffer in program.buffers:
        shape = tuple(const_int(n) for n in buffer.shape)
        storage = layout(buffer.dtype, shape, buffer.reuse, frozenset(signs.get(buffer.name, ())))
        algebra.allocate(storage, inputs.get(buffer.name))
        storages[buffer.name] = storage
    return storages


def _compile(
    node: Node,
    axes: tuple[str, ...],
    plan: Plan,
    algebra: Algebra,
    storages: dict[str, Storage],
    base: dict[str, int],
) -> Run:
    if isinstance(node, Step):
        return _step(node, axes, plan, algebra, storages, base)
    inner = (*axes, node.scope) if node.axis else axes
    body = _sequence([_compile(n, inner, plan, algebra, storages, base) for n in node.body])
    if node.axis:
        return body
    scope, extent = node.scope, node.extent

    def loop() -> None:
        for i in range(extent):
            base[scope] = i
            body()
        base[scope] = 0

    return loop


def _sequence(runs: list[Run]) -> Run:
    if len(runs) == 1:
        return runs[0]

    def run() -> None:
        for each in runs:
            each()

    return run


# ---------------------------------------------------------------- steps


@dataclass(frozen=True, slots=True)
class Shape:
    """How the axis scopes around a step are executed.

    Attributes:
        lanes: scopes side by side, in any order.
        loops: scopes in order, one iteration after another.
        folded: scopes in order inside of these, as one accumulation along trailing axes.
    """

    lanes: tuple[str, ...]
    loops: tuple[str, ...]
    folded: tuple[str, ...]


def shape_of(step: Step, axes: tuple[str, ...], extents: Mapping[str, int]) -> Shape:
    """Choose the shape of a step inside the axis scopes `axes`, outermost first."""
    lanes = tuple(a for a in axes if a not in step.serial)
    serial = [a for a in axes if a in step.serial]
    elements = prod(extents[a] for a in lanes)
    folded: list[str] = []
    if step.op != "=" and elements < WIDE:
        targeted = occurring(step.target.indices)
        while serial and serial[-1] not in targeted and (not folded or elements < CHUNK):
            folded.insert(0, serial.pop())
            elements *= extents[folded[0]]
        if len(folded) > 1 and elements > CHUNK:
            serial.append(folded.pop(0))
    return Shape(lanes, tuple(serial), tuple(folded))


def blocks(shape: Shape, extents: Mapping[str, int]) -> Iterator[tuple[tuple[str, int, int], ...]]:
    """Yield, in order of execution, the first iteration and the number of iterations for every axis scope."""
    ranges = _split(shape.lanes, extents, CHUNK)
    ranges += [[(s, i, 1) for i in range(extents[s])] for s in shape.loops]
    lanes = prod(extents[s] for s in shape.lanes)
    ranges += _split(shape.folded, extents, max(1, CHUNK // lanes) if shape.folded else CHUNK)
    yield from product(*ranges)


def _split(
    scopes: tuple[str, ...], extents: Mapping[str, int], limit: int
) -> list[list[tuple[str, int, int]]]:
    """Cut the outermost scopes so that a block has at most `limit` iterations."""
    result: list[list[tuple[str, int, int]]] = []
    for scope in reversed(scopes):
        extent = extents[scope]
        length = max(1, min(extent, limit))
        result.insert(0, [(scope, i, min(length, extent - i)) for i in range(0, extent, length)])
        limit //= extent
    return result


def _step(
    step: Step,
    axes: tuple[str, ...],
    plan: Plan,
    algebra: Algebra,
    storages: dict[str, Storage],
    base: dict[str, int],
) -> Run:
    shape = shape_of(step, axes, plan.extents)
    frame = Frame(base, shape.lanes + shape.folded)
    apply = _apply(step, frame, len(shape.folded), plan.program, algebra, storages)

    loops = len(shape.lanes), len(shape.lanes) + len(shape.loops)

    def run() -> None:
        for block in blocks(shape, plan.extents):
            for scope, first, _ in block:
                base[scope] = first
            for scope, _, length in block[: loops[0]] + block[loops[1] :]:
                frame.size[scope] = length
            apply()
        for scope in axes:
            base[scope] = 0

    return run


def _apply(
    step: Step,
    frame: Frame,
    folded: int,
    program: Program,
    algebra: Algebra,
    storages: dict[str, Storage],
) -> Run:
    expressions = Expressions(program, algebra, storages, frame)
    guard = None if step.guard is None else expressions.compile(step.guard)
    value = expressions.compile(step.value)
    target = expressions.access(step.target, step.start)
    storage = target.storage
    change = Change(step.op, step.start, folded)

    def apply() -> None:
        condition = mask = None
        if guard is not None:
            condition = guard(None)
            mask = algebra.may(condition)
            if not mask.any():
                return
            if not algebra.may_not(condition).any():
                condition = None
        operand = value(mask)
        algebra.admit(storage, operand, condition)

        def update(planes: list[Array]) -> None:
            algebra.update(storage, planes, change, operand, condition, frame.shape())

        target.modify(mask, folded, update)

    return apply
