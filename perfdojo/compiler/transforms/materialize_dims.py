"""Materialize dims: dimensions that shared one storage become storage again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.coverage import Coverage
from perfdojo.compiler.analysis.lifetimes import sharing_dims
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    bytes_of,
    with_buffers,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.reuse_dims import per_iteration, wrong_dims
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.verify import MAX_BYTES


@dataclass(frozen=True, slots=True)
class MaterializeDims(Transform):
    """Give each index along reused dimensions of a buffer its own storage again; undoes reuse_dims.

        materialize_dims t [0]
        tmp t: f32[B, N] reuse(0)   ->   tmp t: f32[B, N]

    0. t is a buffer.
    1. t then takes at most 2^47 bytes.
    2. The dimensions are reused ones of t, each named once.
    3. (D) Each read names, in these dimensions too, the element of the write whose value it sees.

    Scopes marked as concurrent stay so: what iterations have of their own can only become more.
    """

    aliases = ("unfold_buffer",)

    buffer: str = arg("buffer")
    dims: tuple[int, ...] = arg("ints")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        found = (cls(b.name, (d,)) for b in program.buffers for d in b.reuse)
        yield from legal(found, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        known, buffer = model(program), program.buffer(self.buffer)
        yield from wrong_dims(self.buffer, self.dims, buffer.reuse, "reused")
        result = self.rewrite(program)
        if (size := bytes_of(result.buffer(self.buffer))) > MAX_BYTES:
            yield Violation(1, f"{self.buffer} would take {size} bytes; the limit is 2^47")
        if not per_iteration(known, self.buffer, self.dims):
            yield from self._flow(result)

    def _flow(self, result: Program) -> Iterator[Violation]:
        fine = model(result)
        try:
            found = sharing_dims(fine, self.buffer, self.dims)
            if found is not None:
                yield Violation(3, f"so far {found}, which is another element of {self.buffer}")
            for access, _ in Coverage(fine, result.body, only=(self.buffer,)).uncovered():
                yield Violation(3, f"{access.statement.name} would read what nothing wrote to {self.buffer}")
        except Undecided:
            yield Violation(3, f"which writes the reads of {self.buffer} see is open: {UNDECIDED}")

    def rewrite(self, program: Program) -> Program:
        buffer = program.buffer(self.buffer)
        kept = tuple(d for d in buffer.reuse if d not in self.dims)
        return with_buffers(program, (replace(buffer, reuse=kept),))


TRANSFORM = MaterializeDims
