"""Where the elements of a buffer lie: strides from shape, order, padding and reuse."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True, slots=True)
class Layout:
    """Placement of one buffer.

    Attributes:
        shape: extents, outermost dimension first.
        strides: elements between neighbours along each dimension; 0 where all indices share storage.
        elems: elements of the whole buffer, padding included.
    """

    buffer: Buffer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    elems: int

    @property
    def bytes(self) -> int:
        """Bytes of the whole buffer."""
        return self.elems * self.buffer.dtype.bytes


def layout(buffer: Buffer) -> Layout:
    """Return the placement of a buffer of a bound program.

    The padding of a dimension lies behind its elements, so it widens every slower dimension.
    """
    shape = tuple(const_int(e) for e in buffer.shape)
    rank = len(shape)
    pad = buffer.pad or (0,) * rank
    strides = [0] * rank
    step = 1
    for dim in reversed(buffer.order or tuple(range(rank))):
        if dim in buffer.reuse:
            continue
        strides[dim] = step
        step *= shape[dim] + pad[dim]
    return Layout(buffer, shape, tuple(strides), step)


def layouts(program: Program) -> dict[str, Layout]:
    """Return the placement of every buffer, by name."""
    return {b.name: layout(b) for b in program.buffers}
