"""Reads of every second element: cheap in lanes where those between are read too, from whole vectors."""

from __future__ import annotations

from itertools import product
from math import prod

from perfdojo.compiler.analysis.touches import reads, statements_in, touches, written
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.ahead import fetch_ahead
from perfdojo.compiler.plan.legal import conditional
from perfdojo.compiler.plan.strides import place, stride
from perfdojo.compiler.tree import extents

MAX_WRITTEN_OUT = 32
"""Iterations of the scopes inside, which have to be written out to bring the reads together."""

AHEAD_BYTES = 12 << 10
"""How far ahead the reads are fetched. Measured on Zen 5: with 26 MB of 2 x 2 squares in the last-level cache
the hardware alone is slower by a third; half as far, and a third farther, are up to a tenth slower."""


def parted(program: Program, scope: Scope, buffer: str, lanes: int, target: Target) -> bool:
    """Tell whether all reads of a buffer by twos along `scope` are certain, and each has a neighbour."""
    dtype = program.buffer(buffer).dtype
    inner = extents(scope.body)
    if (
        not all(target.supports(op, dtype, lanes) for op in ("evens", "odds"))
        or buffer in written(scope.body)
        or prod(inner.values()) * len(statements_in(scope.body)) > MAX_WRITTEN_OUT
    ):
        return False
    found: dict[tuple[tuple[str, int], ...], set[int]] = {}
    for s in statements_in(scope.body):
        for load in reads(s):
            if load.buffer != buffer or stride(program, load, scope.name) != 2:
                continue
            form = place(program, load)
            if form is None or load in conditional(s):
                return False
            around = tuple(sorted(form.without(set(inner)).terms))
            moves = [range(0, c * inner[i], c) for i, c in form.terms if i in inner]
            found.setdefault(around, set()).update(form.const + sum(at) for at in product(*moves))
    return all(at - 1 in starts or at + 1 in starts for starts in found.values() for at in starts)


def seconds_ahead(program: Program, scope: Scope) -> Program:
    """Return the program with buffers that are read by twos along `scope` fetched ahead of it."""
    by_twos = {load.buffer for load, _ in touches(scope.body) if stride(program, load, scope.name) == 2}
    return fetch_ahead(program, {b: AHEAD_BYTES // program.buffer(b).dtype.bytes for b in by_twos})
