"""Pad dims: unused elements behind a dimension of a temporary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.transforms._buffers import (
    fastest_first,
    is_too_large,
    not_own,
    temporaries,
    with_buffer,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_buffer
from perfdojo.compiler.transforms.spelling import arg

PADS = (0, 1, 4, 8, 16)
"""Menu: no padding, an odd stride, and the elements of vectors of 16, 32 and 64 bytes."""


@dataclass(frozen=True, slots=True)
class PadDims(Transform):
    """Set how many unused elements lie behind a dimension, so that slower ones have another stride.

        pad_dims x 1 8
        tmp x: f32[4, 64]   ->   tmp x: f32[4, 64] pad(0, 8)

    0. The buffer exists.
    1. It is a temporary.
    2. It has the dimension, and its elements along it lie in different places.
    3. The padding differs from what it was, and the buffer is at most 2^47 bytes.
    """

    aliases = ("align",)

    buffer: str = arg("buffer")
    dim: int = arg("int")
    pad: int = arg("int")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[PadDims]:
        for buffer in temporaries(program):
            dims = fastest_first(buffer)
            if len(dims) < 2:
                continue
            moves = (cls(buffer.name, dims[0], pad) for pad in PADS)
            yield from (m for m in moves if m.pad != _pads(buffer)[m.dim] and not is_too_large(m._on(buffer)))

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        buffer = program.buffer(self.buffer)
        yield from not_own(buffer)
        if not 0 <= self.dim < len(buffer.shape):
            yield Violation(
                2, f"{self.buffer} has {len(buffer.shape)} dimensions, none of them is {self.dim}"
            )
        if self.dim in buffer.reuse:
            yield Violation(2, f"all indices of dimension {self.dim} of {self.buffer} name the same storage")
        if _pads(buffer)[self.dim] == self.pad:
            yield Violation(
                3, f"dimension {self.dim} of {self.buffer} has {self.pad} unused elements already"
            )
        if is_too_large(self._on(buffer)):
            yield Violation(3, f"{self.buffer} would take more than 2^47 bytes")

    def rewrite(self, program: Program) -> Program:
        return with_buffer(program, self._on(program.buffer(self.buffer)))

    def _on(self, buffer: Buffer) -> Buffer:
        pad = tuple(self.pad if d == self.dim else p for d, p in enumerate(_pads(buffer)))
        return replace(buffer, pad=pad if any(pad) else ())


def _pads(buffer: Buffer) -> tuple[int, ...]:
    return buffer.pad or (0,) * len(buffer.shape)


TRANSFORM = PadDims
