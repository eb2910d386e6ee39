"""Nontemporal: full vectors that are stored to a buffer pass by the caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.spelling import arg

WORTH_BYTES = 1 << 20
"""Results up to this size fit a second-level cache, from where whoever reads them next gets them sooner."""


@dataclass(frozen=True, slots=True)
class Nontemporal(Transform):
    """Store full vectors past the caches, so that memory is not read before it is overwritten.

        nontemporal y
        out y: f32[N]   ->   out y: f32[N] nontemporal

        try nontemporal y over 16777216
        the same where y is larger than a cache of 16 MiB, so that one schedule serves all sizes

    0. y is a buffer.
    1. y is written and never read in the kernel, by a reduction neither.
    2. y is not `nontemporal` yet, and has its place in memory.
    3. The target has such a store for the type of y.
    4. y takes more than `over` bytes, if that is given.
    """

    aliases = ("stream_store",)

    buffer: str = arg("buffer")
    over: int = arg("int", "over", default=0)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        large = (b.name for b in program.buffers if b.role == "out" and layout(b).bytes > WORTH_BYTES)
        yield from legal(map(cls, large), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        b = program.buffer(self.buffer)
        accesses = model(program).by_buffer.get(b.name, [])
        if not any(a.writes for a in accesses):
            yield Violation(1, f"nothing writes {b.name}", "prefetch is for what is read")
        reader = next((a for a in accesses if a.reads), None)
        if reader:
            how = "adds to" if reader.writes else "reads"
            yield Violation(1, f"{reader.statement.name} {how} {b.name}, which would come back from memory")
        if b.nontemporal:
            yield Violation(2, f"{b.name} is nontemporal already")
        if b.space in ("register", "stack"):
            yield Violation(2, f"{b.name} is in space {b.space}")
        target = setting.target
        most = target.vector_bits // b.dtype.bits
        # f16 and bf16 are computed in the lanes of f32
        counts = {n for n in (most, min(most, target.vector_bits // 32)) if n > 1}
        if not any(target.supports("stream", b.dtype, n) for n in counts):
            yield Violation(3, f"target {target.name} has no store past the caches for {b.dtype}")
        if (size := layout(b).bytes) <= self.over:
            reason = f"{b.name} takes {size} bytes, not over {self.over}"
            yield Violation(4, reason, "what fits a cache is read from there sooner")

    def rewrite(self, program: Program) -> Program:
        buffers = tuple(replace(b, nontemporal=True) if b.name == self.buffer else b for b in program.buffers)
        return replace(program, buffers=buffers)


TRANSFORM = Nontemporal
