"""Squares of a transposing statement are turned in registers, and large results stored past the caches."""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads, written
from perfdojo.compiler.ir import Load, Program, Statement
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.legal import can_interchange, can_vectorize, conditional, independent
from perfdojo.compiler.plan.recipes import extent
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.transforms.nontemporal import Nontemporal
from perfdojo.compiler.tree import find

LINE = 16
"""Elements of a row that make a 64-byte line of f32."""

MANY = 64
"""Extent from which on what is left over costs less than shorter lines."""

CLOSE_BYTES = 512
"""Lines this far apart, or a multiple of it, share sets of a cache with many others of a tile. Measured on
Zen 5: without a copy of the tile 4000 x 4000 take less than half the time, 512 x 512 three times as much."""

LARGE_BYTES = 16 << 20
"""Results up to this size may be in a cache for whoever reads them next."""

SQUARES = (16, 8)
"""Sides of squares that are turned in registers, best first; smaller ones leave it to the compiler."""


def crossing(program: Program, s: Statement, read: str, write: str) -> Load | None:
    """The access that is contiguous along `read` and strided along `write`."""
    for load in reads(s):
        across = stride(program, load, write)
        if stride(program, load, read) == 1 and across is not None and across > 1:
            return load
    return None


def square_side(program: Program, rows: str, line: str, target: Target) -> int:
    """The side of the squares that a tile may be cut into and turned in registers; 0 when in none."""
    scope = find(program, line)
    statement = scope.body[0]
    assert isinstance(statement, Statement)
    load = crossing(program, statement, rows, line)
    if (
        load is None
        or load in conditional(statement)
        or load.buffer == statement.target.buffer
        or not can_vectorize(program, scope, "strict")
        or any(stride(program, o, line) not in (0, 1) for o in reads(statement) if o != load)
    ):
        return 0
    dtype = program.buffer(load.buffer).dtype
    extents = extent(program, rows), extent(program, line)
    even = min(extents) <= MANY
    for side in sorted(SQUARES, key=lambda side: even and any(e % side for e in extents)):
        steps = [f"zip_{op}:{side >> k}" for op in ("low", "high") for k in range(1, side.bit_length())]
        able = all(target.supports(op, dtype, side) for op in ("load", "gather", *steps))
        if able and min(extents) >= side:
            return side
    return 0


def close_lines(program: Program, read: str, write: str) -> tuple[bool, bool]:
    """Tell whether lines one below the other share few sets of a cache: those that are read, and written."""
    statement = find(program, write).body[0]
    assert isinstance(statement, Statement)
    load = crossing(program, statement, read, write)
    assert load is not None

    def close(access: Load, scope: str) -> bool:
        step = stride(program, access, scope) or 0
        return step * program.buffer(access.buffer).dtype.bytes % CLOSE_BYTES == 0

    return close(load, write), close(statement.target, read)


def in_registers(program: Program, rows: str, line: str, side: int, target: Target) -> tuple[Program, str]:
    """rows { line { S } }  ->  rows_o { line_o { rows_i:n { line_i { S } } } } and what is left, in scalars.

    Returns the program and the name of rows_o.

    Lines are written whole where rows of squares are full vectors: they may be the power of two apart that
    pushes them out.
    """
    (changed,) = written((find(program, line),))
    full = side == target.vector_bits // program.buffer(changed).dtype.bits
    block = LINE if full and (extent(program, line) > MANY or extent(program, line) % LINE == 0) else side
    for scope, size in ((line, block), (rows, side)):
        left = extent(program, scope) % size
        if left:
            program, _, _ = peel(program, scope, extent(program, scope) - left)
    if len(find(program, rows).body) > 1:
        program, _ = fission(program, rows, [1])
    program, outer, rows_i = tile(program, rows, side)
    program, _, line_i = tile(program, line, block)
    program = mark(mark(interchange(program, rows_i), rows_i, "unroll"), line_i, "vector")
    return _past_caches(program, changed, target), outer


def rows_whole(program: Program, outer: str) -> Program:
    """rows_o { line_o { U } }  ->  line_o { rows_o { U } }, so that rows are read from end to end."""
    scope = find(program, outer)
    (inner,) = scope.body
    if not can_interchange(program, scope) or not independent(program, find(program, inner.name)):
        return program
    if scope.mark:
        program = mark(mark(program, outer, ""), inner.name, scope.mark)
    return interchange(program, outer)


def _past_caches(program: Program, result: str, target: Target) -> Program:
    """Store a large result past the caches: its lines are written whole, and not read before."""
    move = Nontemporal(result, LARGE_BYTES)
    legal = program.buffer(result).role == "out" and move.why_not(program, Setting(target)) is None
    return move.rewrite(program) if legal else program
