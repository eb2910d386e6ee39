"""What a contraction is: a reduction whose operands are used again along different scopes."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.analysis.touches import reads
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.linear import linear
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.legal import conditional, independent
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.walk import const_int, dtype_of, iterators, statements, subexpressions


@dataclass(frozen=True, slots=True)
class Contraction:
    """A reduction that a register tile pays for.

    Attributes:
        statement: the reduction.
        around: the scopes around it, outermost first.
        columns: the scope that runs in lanes, by name; the target moves along it by one element.
        rows: the other side of the tile: operands that move with the columns do not move with it.
        inner: the reduction scopes, in order.
        streamed: operands that move with the columns; the others are broadcast.
        lanes: elements of the widest type involved in one vector.
    """

    statement: Statement
    around: tuple[Scope, ...]
    columns: str
    rows: str
    inner: tuple[str, ...]
    streamed: tuple[Load, ...]
    lanes: int

    def extent(self, scope: str) -> int:
        """Iterations of one of the scopes around."""
        return next(const_int(s.extent) for s in self.around if s.name == scope)

    @property
    def own(self) -> tuple[Scope, ...]:
        """The scopes from the outermost one that the tile needs."""
        needed = {self.columns, self.rows, *self.inner}
        first = next(n for n, s in enumerate(self.around) if s.name in needed)
        return self.around[first:]

    @property
    def outer(self) -> list[str]:
        """The own scopes that are no reduction, in order."""
        return [s.name for s in self.own if s.name not in self.inner]


def widest_lanes(program: Program, statement: Statement, target: Target) -> int:
    """Return the lanes of a vector of the widest type in a statement; 16-bit floats are computed as f32.

    Of these f16 has lanes of its own on some targets.
    """
    bits = 8
    for e in (statement.target, *subexpressions(statement.value)):
        if isinstance(e, Load):
            dtype = dtype_of(e, program)
            half = dtype.is_float and dtype.bits == 16 and not (target.half_lanes and dtype.name == "f16")
            bits = max(bits, 32 if half else dtype.bits)
    return max(1, target.vector_bits // bits)


def find_contraction(program: Program, name: str, target: Target) -> Contraction | None:
    """Return how the statement `name` is a contraction, None when it is none or no tile fits its strides."""
    around, statement = next((a, s) for a, s in statements(program) if s.name == name)
    if (
        statement.op == "="
        or statement.guard is not None
        or any(s.mark in ("vector", "unroll") for s in around)
    ):
        return None
    operands = tuple(dict.fromkeys(reads(statement)))
    if len(operands) < 2 or any(linear(i) is None for o in (*operands, statement.target) for i in o.indices):
        return None
    moved: set[str] = set().union(*(iterators(i) for i in statement.target.indices))
    inner = tuple(s.name for s in around if s.name not in moved)
    if not inner:
        return None
    parallel = [s for s in around if s.name in moved and independent(program, s)]
    found = [
        (columns, rows)
        for columns in parallel
        if stride(program, statement.target, columns.name) == 1
        for rows in parallel
        if rows is not columns and _fits(program, operands, columns.name, rows.name)
    ]
    if not found:
        return None
    columns, rows = max(found, key=lambda f: (_unit(program, operands, f[0].name), const_int(f[1].extent)))
    streamed = tuple(o for o in operands if stride(program, o, columns.name))
    if any(stride(program, o, columns.name) != 1 for o in streamed if o in conditional(statement)):
        return None
    width = widest_lanes(program, statement, target)
    return Contraction(statement, around, columns.name, rows.name, inner, streamed, width)


def _fits(program: Program, operands: tuple[Load, ...], columns: str, rows: str) -> bool:
    """What moves with the columns does not move with the rows; some operand moves with the rows alone."""
    streamed = [o for o in operands if stride(program, o, columns)]
    kept = [o for o in operands if not stride(program, o, columns)]
    return (
        bool(streamed)
        and all(stride(program, o, rows) == 0 for o in streamed)
        and any(stride(program, o, rows) for o in kept)
    )


def _unit(program: Program, operands: tuple[Load, ...], columns: str) -> bool:
    return all(stride(program, o, columns) in (0, 1) for o in operands)
