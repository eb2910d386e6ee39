"""Frep: Snitch's FPU repeats the body of a scope by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Cast, Expr, Iter, Op, Program, Scope, Statement
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.transforms._marks import SEQUENTIAL, not_offered, with_mark
from perfdojo.compiler.transforms._snitch import why_no_streams
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, extent_of, legal, no_scope
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.walk import children, dtype_of

MAX_PASSES = 1 << 16
"""Passes of the hardware loop: 16 bits of its register count."""
MAX_INSTRUCTIONS = 32
"""Entries of the buffer from which the FPU repeats."""
ARITHMETIC = frozenset(("add", "sub", "mul", "div", "neg", "abs", "min", "max", "fma", "sqrt"))
"""Operations of floats that an FPU may have an instruction for; the target tells which ones it has."""


@dataclass(frozen=True, slots=True)
class Frep(Transform):
    """Let the FPU repeat the statements of an innermost scope from its buffer, without the integer core.

        frep i
        i:N { B }   ->   i:N@frep { B }

    0. i is a scope.
    1. The target has such a loop.
    2. i has no mark.
    3. Only statements are in i, and none has a guard.
    4. All that they compute is arithmetic of floats for which the FPU has an instruction.
    5. At most 32 instructions, at most 2^16 passes.
    6. What moves with i can be streamed (`stream`), as addresses stay the same in all passes.
    """

    scope: str = arg("scope")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if not_offered(setting, "frep"):
            return
        names = (n for n in program.scopes if extent_of(program, n) > 1)
        yield from legal(map(cls, names), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        if reason := not_offered(setting, "frep"):
            yield Violation(1, reason)
        name, scope = self.scope, program.scopes[self.scope].node
        if scope.mark:
            yield Violation(2, f"scope {name} is marked @{scope.mark}", SEQUENTIAL.format(name))
        count = 0
        for s in scope.body:
            if isinstance(s, Scope):
                yield Violation(
                    3, f"scope {name} holds scope {s.name}", "only an innermost scope is repeated"
                )
                return
            if s.guard is not None:
                yield Violation(3, f"{s.name} has a guard")
            for reason in _foreign(s, program, setting):
                yield Violation(4, f"{s.name} {reason}")
            count += _instructions(s)
        if count > MAX_INSTRUCTIONS:
            yield Violation(5, f"the body takes {count} instructions, over {MAX_INSTRUCTIONS}", "fission it")
        if extent_of(program, name) > MAX_PASSES:
            reason = f"{extent_of(program, name)} iterations are over {MAX_PASSES}"
            yield Violation(5, reason, "tile the scope")
        for reason in why_no_streams(program, name):
            yield Violation(6, f"scope {name} cannot be repeated: {reason}")

    def rewrite(self, program: Program) -> Program:
        return with_mark(program, self.scope, "frep")


def _values(e: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression that are computed as values; what is in indices is no value."""
    yield e
    if isinstance(e, Op | Cast):
        for child in children(e):
            yield from _values(child)


def _foreign(s: Statement, program: Program, setting: Setting) -> Iterator[str]:
    """Yield what in a statement is not the FPU's."""
    dtype = program.buffer(s.target.buffer).dtype
    supports = setting.target.supports
    if not dtype.is_float:
        yield f"writes {dtype}"
    if s.op != "=" and not supports(REDUCTIONS[s.op], dtype, 1):
        yield f"needs {REDUCTIONS[s.op]} of {dtype}, which target {setting.target.name} lacks"
    for e in _values(s.value):
        found = dtype_of(e, program)
        if isinstance(e, Iter):
            yield f"uses the number of the iteration of {e.scope} as a value"
        elif isinstance(e, Op) and e.op not in ARITHMETIC:
            yield f"computes {e.op}, which is no arithmetic of floats"
        elif not found.is_float:
            yield f"computes with {found}"
        elif isinstance(e, Op) and not supports(e.op, found, 1):
            yield f"needs {e.op} of {found}, which target {setting.target.name} lacks"
        elif isinstance(e, Cast) and not supports(f"cast:{dtype_of(e.arg, program)}", found, 1):
            yield f"needs a conversion to {found}, which target {setting.target.name} lacks"


def _instructions(s: Statement) -> int:
    """Return the FPU instructions of a statement: one for each operation, one to move a value."""
    operations = sum(isinstance(e, Op | Cast) for e in _values(s.value)) + (s.op != "=")
    return max(1, operations)


TRANSFORM = Frep
