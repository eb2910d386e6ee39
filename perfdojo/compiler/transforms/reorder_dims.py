"""Reorder dims: which dimension of a temporary is the fastest in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._buffers import fastest_first, not_own, temporaries, with_buffer
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_buffer
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class ReorderDims(Transform):
    """Set the order of the dimensions in memory, from the slowest to the fastest.

        reorder_dims x [1 0]
        tmp x: f32[4, 64]   ->   tmp x: f32[4, 64] order(1, 0)

    0. The buffer exists.
    1. It is a temporary.
    2. The list has each dimension once.
    3. The order is another one.
    """

    aliases = ("set_layout", "permute_dims")

    buffer: str = arg("buffer")
    order: tuple[int, ...] = arg("ints")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[ReorderDims]:
        for buffer in temporaries(program):
            now = buffer.order or tuple(range(len(buffer.shape)))
            for d in fastest_first(buffer)[1:]:
                yield cls(buffer.name, (*(e for e in now if e != d), d))

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        buffer = program.buffer(self.buffer)
        yield from not_own(buffer)
        natural = tuple(range(len(buffer.shape)))
        if tuple(sorted(self.order)) != natural:
            dims = " ".join(map(str, self.order))
            reason = f"[{dims}] does not have each of the {len(natural)} dimensions of {self.buffer} once"
            yield Violation(2, reason, f"for instance [{' '.join(map(str, reversed(natural)))}]")
        if (buffer.order or natural) == self.order:
            yield Violation(3, f"the dimensions of {self.buffer} lie in this order already")

    def rewrite(self, program: Program) -> Program:
        order = () if self.order == tuple(range(len(self.order))) else self.order
        return with_buffer(program, replace(program.buffer(self.buffer), order=order))


TRANSFORM = ReorderDims
