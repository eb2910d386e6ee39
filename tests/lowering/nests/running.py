"""Kernels that are nothing but stream nests, run by the machine of these tests and by the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends import get_target
from perfdojo.compiler.interpret import compare, first_difference, interpret, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.lowering.lir import Allocate, Comment, Const, Function, Stream
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.nests.limits import MOVERS, latency
from perfdojo.compiler.lowering.nests.nest import Compute, Item, Loop, issued
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.numpy_types import NUMPY
from tests.lowering.nests.machine import Machine

Array = NDArray[Any]


def nests(program: Program, fp: FpLevel = "strict") -> tuple[Function, list[Stream]] | None:
    """Return a lowered program and its nests; None where they are not all of it."""
    function = lower(program, get_target("snitch"), fp)
    body = [s for s in function.body if not isinstance(s, Comment | Allocate)]
    streams = [s for s in body if isinstance(s, Stream)]
    return (function, streams) if body and len(streams) == len(body) else None


def run(
    program: Program, streams: list[Stream], inputs: Mapping[str, Array], early: bool
) -> dict[str, Array]:
    """Return the outputs of the nests, run one after the other."""
    placed = layouts(program)
    memory: dict[str, NDArray[np.uint8]] = {}
    views: dict[str, Array] = {}
    for b in program.buffers:
        dtype = NUMPY[b.dtype.name]
        memory[b.name] = np.full(-(-placed[b.name].elems * dtype.itemsize // 8) * 8, 0xA5, np.uint8)
        flat = memory[b.name][: placed[b.name].elems * dtype.itemsize].view(dtype)
        strides = tuple(s * dtype.itemsize for s in placed[b.name].strides)
        views[b.name] = np.lib.stride_tricks.as_strided(flat, placed[b.name].shape, strides)
        if b.name in inputs:
            views[b.name][...] = inputs[b.name]
    for s in streams:
        offsets = [p.value for p in s.pointers if isinstance(p, Const)]
        assert len(offsets) == len(s.pointers)
        check_rules(s.nest.body)
        pushed = {(c.dest, latency(c.op)) for c in _computed(s.nest.body) if c.dest < MOVERS}
        assert len(pushed) == len({dest for dest, _ in pushed}), "results may overtake each other"
        arguments = [memory[a.buffer] for a in s.nest.arguments]
        machine = Machine(s.nest, arguments, early)
        machine.run()
        assert machine.issued == issued(s.nest.body)
    return {b.name: views[b.name] for b in program.buffers if b.role in ("out", "inout")}


def check_rules(items: tuple[Item, ...], around: tuple[Loop, ...] = ()) -> None:
    """Assert what the FPU's sequencer asks for."""
    for item in items:
        if not isinstance(item, Loop):
            continue
        inside = (*around, item) if item.frep else around
        if item.frep:
            assert len(inside) <= 2
            assert 1 <= item.count <= 1 << 16
            assert 1 <= _size(item.body) <= 32
            assert not (len(item.body) == 1 and isinstance(item.body[0], Loop)), "bodies that are one"
        else:
            assert not around, "a loop of the integer core inside of one of the FPU"
        check_rules(item.body, inside)


def _computed(items: tuple[Item, ...]) -> Iterator[Compute]:
    for i in items:
        if isinstance(i, Loop):
            yield from _computed(i.body)
        elif isinstance(i, Compute):
            yield i


def _size(items: tuple[Item, ...]) -> int:
    return sum(_size(i.body) if isinstance(i, Loop) else 1 for i in items)


def disagreement(program: Program, streams: list[Stream], inputs: Mapping[str, Array], fp: FpLevel) -> str:
    """Return "" or how the nests differ from the interpreter: in bits at strict, else beyond the bound."""
    late, early = (run(program, streams, inputs, e) for e in (False, True))
    found = first_difference(early, late)
    if found:
        return f"it depends on how far streams run ahead: {found}"
    if fp == "strict":
        return first_difference(early, interpret(program, inputs))
    verdict = compare(early, reference(program, inputs, fp))
    return "" if verdict.passed else verdict.message
