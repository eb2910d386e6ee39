"""Nontemporal: full vectors that are stored to a buffer pass by the caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from perfdojo.compiler.analysis.accesses import Access, model
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.walk import const_int, iterators

WORTH_BYTES = 1 << 20
"""Results up to this size fit a second-level cache, from where whoever reads them next gets them sooner."""

_IN_TILES = ("unroll", "vector")


@dataclass(frozen=True, slots=True)
class Nontemporal(Transform):
    """Store full vectors past the caches, so that memory is not read before it is overwritten.

        nontemporal y
        out y: f32[N]   ->   out y: f32[N] nontemporal

        try nontemporal y over 16777216
        the same where y is larger than a cache of 16 MiB, so that one schedule serves all sizes

    0. y is a buffer.
    1. y is written and never read in the kernel, by a reduction neither; but one may add to y in registers:
       scopes of y inside its own are @unroll or @vector and fit them, and it starts right before.
    2. y is not `nontemporal` yet, and has its place in memory.
    3. The target has such a store for the type of y; for sums one that fills a line by itself.
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
        room = max(1, setting.target.vector_bits // max(b.dtype.bits, 32)), setting.target.registers
        reader = next((a for a in accesses if a.reads and not _in_registers(a, accesses, *room)), None)
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
        sums = any(a.kind == "reduce" for a in accesses)
        if not any(target.supports("stream_line" if sums else "stream", b.dtype, n) for n in counts):
            what = f"sums in {b.dtype}, a whole line at a time" if sums else f"{b.dtype}"
            yield Violation(3, f"target {target.name} has no store past the caches for {what}")
        if (size := layout(b).bytes) <= self.over:
            reason = f"{b.name} takes {size} bytes, not over {self.over}"
            yield Violation(4, reason, "what fits a cache is read from there sooner")

    def rewrite(self, program: Program) -> Program:
        buffers = tuple(replace(b, nontemporal=True) if b.name == self.buffer else b for b in program.buffers)
        return replace(program, buffers=buffers)


def _in_registers(a: Access, accesses: Sequence[Access], lanes: int, registers: int) -> bool:
    """Tell whether what a reduction adds to stays in registers, from its start until it is stored."""
    moving = {name for i in a.load.indices for name in iterators(i)}
    first = next((n for n, s in enumerate(a.scopes) if s.name not in moving), None)
    if a.kind != "reduce" or first is None:
        return False
    tile = [s for s in a.scopes[first:] if s.name in moving]
    steps = [s for s in a.scopes[first:] if s.name not in moving]
    taken = prod(-(-const_int(s.extent) // (lanes if s.mark == "vector" else 1)) for s in tile)
    starts = [w for w in accesses if w.kind == "write" and w.scopes[:first] == a.scopes[:first]]
    return (
        taken < registers
        and all(s.mark in _IN_TILES for s in tile)
        and all(s.mark != "vector" for s in steps)
        and any(all(s.mark in _IN_TILES for s in w.scopes[first:]) for w in starts)
    )


TRANSFORM = Nontemporal
