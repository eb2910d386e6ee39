"""How much work a bound program is: floating-point operations and compulsory traffic."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.ir import Buffer, Expr, Op, Program, Statement
from perfdojo.compiler.ops import OPS, REDUCTIONS
from perfdojo.compiler.walk import const_int, dtype_of, loads, statements, subexpressions

_FREE = frozenset({"neg", "abs", "select"})


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one call.

    Attributes:
        executions: times that a statement is reached.
        flops: operations on floats; an fma is 2, an elementary function 1, sign changes and selects 0. A
            guarded statement counts as if it always happened.
        integer_ops: operations on integers from memory in values; those on iteration numbers, of indices and
            of conditions, are not counted, as loops do them.
        read_bytes: every element of the in and inout arguments once.
        written_bytes: every element of the out and inout arguments once.
    """

    executions: int
    flops: int
    integer_ops: int
    read_bytes: int
    written_bytes: int

    @property
    def bytes(self) -> int:
        """Compulsory traffic: what must be moved even with an unlimited cache."""
        return self.read_bytes + self.written_bytes


def work(program: Program) -> Work:
    """Return the work of one call of a bound program."""
    executions = flops = integer_ops = 0
    for around, statement in statements(program):
        times = 1
        for scope in around:
            times *= const_int(scope.extent)
        f, i = operations(statement, program)
        executions += times
        flops += times * f
        integer_ops += times * i
    read = sum(buffer_bytes(b) for b in program.arguments if b.role != "out")
    written = sum(buffer_bytes(b) for b in program.arguments if b.role != "in")
    return Work(executions, flops, integer_ops, read, written)


def operations(statement: Statement, program: Program) -> tuple[int, int]:
    """Return the float and integer operations of one execution."""
    counts = {True: 0, False: 0}
    if statement.op in REDUCTIONS:
        counts[program.buffer(statement.target.buffer).dtype.is_float] += 1
    for e in values_in(statement.value):
        if isinstance(e, Op) and e.op not in _FREE and OPS[e.op].rule in ("number", "float", "integer"):
            is_float = dtype_of(e, program).is_float
            if is_float or any(True for _ in loads(e)):
                counts[is_float] += 2 if e.op == "fma" else 1
    return counts[True], counts[False]


def values_in(expr: Expr) -> list[Expr]:
    """Return all subexpressions but those inside indices."""
    inside = {
        id(s) for e in subexpressions(expr) for i in getattr(e, "indices", ()) for s in subexpressions(i)
    }
    return [e for e in subexpressions(expr) if id(e) not in inside]


def buffer_bytes(b: Buffer) -> int:
    """Return the bytes of all elements of a buffer, whether they are materialised or not."""
    elements = 1
    for e in b.shape:
        elements *= const_int(e)
    return elements * b.dtype.bytes
