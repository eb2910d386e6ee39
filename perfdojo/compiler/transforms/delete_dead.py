"""Delete dead: a buffer that nobody reads goes, and the statements that fill it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._storage import with_buffers, without_empty
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class DeleteDead(Transform):
    """Remove a temporary that nothing uses, the statements that write it, and scopes that are empty then.

        delete_dead t
        N t[{0}] = x[{0}]; y[{0}] = 2 * x[{0}]   ->   N y[{0}] = 2 * x[{0}]

    0. t is a buffer.
    1. t is a tmp.
    2. No statement that writes another buffer reads t.
    3. Some other statement is left.
    """

    aliases = ("eliminate_dead",)

    buffer: str = arg("buffer")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        yield from legal((cls(b.name) for b in program.buffers if b.role == "tmp"), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        if (role := program.buffer(self.buffer).role) != "tmp":
            yield Violation(1, f"{self.buffer} is an '{role}' buffer, not a tmp")
        for access in model(program).by_buffer.get(self.buffer, ()):
            if access.statement.target.buffer != self.buffer:
                yield Violation(2, f"{access.statement.name} reads {self.buffer}")
        if all(p.node.target.buffer == self.buffer for p in program.statements.values()):
            yield Violation(3, f"all statements write {self.buffer}")

    def rewrite(self, program: Program) -> Program:
        body = without_empty(program.body, lambda s: s.target.buffer == self.buffer)
        return with_buffers(program, gone=self.buffer, body=body)


TRANSFORM = DeleteDead
