"""What the moves that change how a temporary lies in memory share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.transforms.base import Violation
from perfdojo.compiler.verify import MAX_BYTES


def not_own(buffer: Buffer) -> Iterator[Violation]:
    """Yield condition 1, that the buffer is a temporary, where it does not hold."""
    if buffer.role != "tmp":
        reason = f"{buffer.name} is an '{buffer.role}' buffer; the caller decides where its elements lie"
        yield Violation(1, reason, "create_temporary makes a copy with a layout of its own")


def temporaries(program: Program) -> Iterator[Buffer]:
    """Yield the temporaries in the order of the header."""
    return (b for b in program.buffers if b.role == "tmp")


def fastest_first(buffer: Buffer) -> list[int]:
    """Return the materialised dimensions from fastest to slowest in memory."""
    order = buffer.order or tuple(range(len(buffer.shape)))
    return [d for d in reversed(order) if d not in buffer.reuse]


def is_too_large(buffer: Buffer) -> bool:
    """True when a buffer takes more bytes than any may."""
    return layout(buffer).bytes > MAX_BYTES


def with_buffer(program: Program, changed: Buffer) -> Program:
    """Return the program with the buffer of that name as given."""
    buffers = tuple(changed if b.name == changed.name else b for b in program.buffers)
    return replace(program, buffers=buffers)
