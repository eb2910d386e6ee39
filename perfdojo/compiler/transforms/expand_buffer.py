"""Expand buffer: each iteration of a scope gets its own copy of a buffer (scalar expansion)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Buffer, Iter, Load, Program
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    bytes_of,
    common_of,
    map_accesses,
    with_buffers,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.verify import MAX_BYTES


@dataclass(frozen=True, slots=True)
class ExpandBuffer(Transform):
    """Give each iteration of a scope its own copy of a buffer, in a new first dimension: fission needs that.

        expand_buffer t by i
        tmp t: f32[]                      tmp t: f32[N]
        i:N { t[] = e; y[{i}] = t[] }     ->   i:N { t[{i}] = e; y[{i}] = t[{i}] }

    0. t is a buffer and i a scope.
    1. t is a tmp that is accessed only inside i.
    2. (D) Each iteration of i writes the elements of t before it reads them.
    3. t then takes at most 2^47 bytes.

    Scopes marked as concurrent stay so: what iterations have of their own can only become more.
    """

    aliases = ("expand_scalar", "privatize", "privatise")

    buffer: str = arg("buffer")
    scope: str = arg("scope", "by")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        known = model(program)
        for b in program.buffers:
            if b.role != "tmp":
                continue
            stored = known.stored(b.name)
            indexed = {
                s for a in known.by_buffer.get(b.name, ()) for d in stored for s in a.indices[d].scopes()
            }
            scopes = (
                s.name
                for s in common_of(known, b.name)
                if s.name not in indexed and is_private(known, s.name, b.name, exact=False)
            )
            yield from legal((cls(b.name, s) for s in scopes), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        yield from no_scope(program, self.scope)
        known, buffer = model(program), program.buffer(self.buffer)
        if buffer.role != "tmp":
            yield Violation(1, f"{self.buffer} is an '{buffer.role}' buffer, whose shape the caller knows")
        if self.scope not in (s.name for s in common_of(known, self.buffer)):
            yield Violation(1, f"{self.buffer} is accessed outside scope {self.scope}")
        try:
            if not is_private(known, self.scope, self.buffer):
                reason = f"an iteration of {self.scope} can read what an earlier one wrote to {self.buffer}"
                yield Violation(2, reason)
        except Undecided:
            yield Violation(2, f"whether values of {self.buffer} cross iterations is open: {UNDECIDED}")
        if (size := bytes_of(self._expanded(program))) > MAX_BYTES:
            yield Violation(3, f"{self.buffer} would take {size} bytes; the limit is 2^47")

    def _expanded(self, program: Program) -> Buffer:
        b = program.buffer(self.buffer)
        return replace(
            b,
            shape=(program.scopes[self.scope].node.extent, *b.shape),
            order=(0, *(d + 1 for d in b.order)) if b.order else (),
            pad=(0, *b.pad) if b.pad else (),
            reuse=tuple(d + 1 for d in b.reuse),
        )

    def rewrite(self, program: Program) -> Program:
        def wider(load: Load) -> Load:
            return replace(load, indices=(Iter(self.scope), *load.indices))

        return with_buffers(
            program, (self._expanded(program),), body=map_accesses(program.body, self.buffer, wider)
        )


TRANSFORM = ExpandBuffer
