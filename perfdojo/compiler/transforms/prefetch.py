"""Prefetch: what innermost loops load from a buffer is fetched into the caches ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_buffer
from perfdojo.compiler.transforms.spelling import arg

LINES = (4, 8, 16, 32)
"""Menu of distances, in cache lines of 64 bytes: memory takes about as long as 4 to 32 lines of work."""

LINE_BYTES = 64

WORTH_BYTES = 64 << 10
"""Buffers up to this size are in a first- or second-level cache anyway."""


@dataclass(frozen=True, slots=True)
class Prefetch(Transform):
    """Fetch ahead of innermost loops what lies `distance` elements behind their loads; 0 takes it away.

        prefetch x 512
        in x: f32[N]   ->   in x: f32[N] prefetch(512)

        prefetch x 8 along 0
        in x: f32[M, N]   ->   in x: f32[M, N] prefetch(8*N)

    0. x is a buffer, and has the dimension `along`, if that is given.
    1. Something reads x.
    2. The distance is another one than x has, and lies inside of x.
    """

    buffer: str = arg("buffer")
    distance: int = arg("int")
    along: int = arg("int", "along", default=-1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not setting.target.vector_bits:
            return
        for b in program.buffers:
            placed = layout(b)
            if placed.bytes <= WORTH_BYTES or b.space in ("register", "stack") or not _read(program, b.name):
                continue
            if b.prefetch:
                yield cls(b.name, 0)
            for lines in LINES:
                distance = lines * LINE_BYTES // b.dtype.bytes
                if b.prefetch != distance < placed.elems:
                    yield cls(b.name, distance)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        b = program.buffer(self.buffer)
        if self.along >= len(b.shape):
            yield Violation(0, f"{self.buffer} has no dimension {self.along}, only {len(b.shape)}")
        if not _read(program, self.buffer):
            yield Violation(1, f"nothing reads {self.buffer}", "nontemporal is for what is only written")
        distance = self._elements(program)
        if distance == b.prefetch:
            now = f"is fetched {b.prefetch} elements ahead" if b.prefetch else "is not fetched ahead"
            yield Violation(2, f"{self.buffer} {now} already")
        if distance >= (elems := layout(b).elems):
            yield Violation(2, f"{distance} elements ahead is behind the end: {self.buffer} has {elems}")

    def rewrite(self, program: Program) -> Program:
        distance = self._elements(program)
        buffers = tuple(
            replace(b, prefetch=distance) if b.name == self.buffer else b for b in program.buffers
        )
        return replace(program, buffers=buffers)

    def _elements(self, program: Program) -> int:
        """Return the distance in elements of memory."""
        if self.along < 0:
            return self.distance
        return self.distance * layout(program.buffer(self.buffer)).strides[self.along]


def _read(program: Program, buffer: str) -> bool:
    return any(a.reads for a in model(program).by_buffer.get(buffer, ()))


TRANSFORM = Prefetch
