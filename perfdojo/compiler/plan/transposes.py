"""Copies whose source and target are contiguous along different scopes are done in square tiles.

A tile is copied into a small buffer row by row and read from there column by column, so that every cache line
of both sides is touched once, whatever the strides; lines a power of two apart would push each other out.
Where the target can, squares of it are turned in registers.
"""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads, written
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.legal import can_vectorize, conditional, independent
from perfdojo.compiler.plan.recipes import extent, order_chain
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.stage_packed import stage_packed
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, path
from perfdojo.compiler.walk import const_int, statements

TILE = 64
"""Longest side of a tile, in elements: 16 KiB of f32, half a first-level cache."""

LEAST = 16
"""Shortest extent of both scopes that is tiled."""

ROWS, LINE = 8, 16
"""Inner tile: rows of the target, and elements of a row that make a 64-byte line of f32."""


SQUARES = (16, 8)
"""Sides of squares that are turned in registers, best first; smaller ones leave it to the compiler."""


def tile_transposes(program: Program, target: Target) -> Program:
    """Return the program with every transposing statement tiled."""
    for around, statement in statements(program):
        # what is tiled has a nest of its own, so that the others stay as they were found
        found = _crossed(program, around, statement)
        if found is not None:
            program = _tiled(program, *found, target)
    return program


def _crossed(program: Program, around: tuple[Scope, ...], s: Statement) -> tuple[str, str] | None:
    """The two innermost scopes: that along which the statement reads, that along which it writes."""
    if s.op != "=" or len(around) < 2 or any(a.mark in ("vector", "unroll") for a in around):
        return None
    outer, inner = around[-2:]
    if len(outer.body) != 1 or len(inner.body) != 1 or not independent(program, outer):
        return None
    for read, write in ((outer, inner), (inner, outer)):
        if _load(program, s, read.name, write.name) is None or stride(program, s.target, write.name) != 1:
            continue
        if min(const_int(outer.extent), const_int(inner.extent)) < LEAST:
            return None
        return (read.name, write.name) if (stride(program, s.target, read.name) or 0) > 1 else None
    return None


def _load(program: Program, s: Statement, read: str, write: str) -> Load | None:
    """The access that is contiguous along `read` and strided along `write`."""
    for load in reads(s):
        across = stride(program, load, write)
        if stride(program, load, read) == 1 and across is not None and across > 1:
            return load
    return None


def _tiled(program: Program, read: str, write: str, target: Target) -> Program:
    """read { write { S } }  ->  read_o { write_o { copy; read_i { write_i { S } } } } and what is left."""
    ordered = order_chain(program, [read, write])
    if ordered is None:
        return program
    program = ordered
    sides = {read: _side(extent(program, read), ROWS), write: _side(extent(program, write), LINE)}
    for scope, side in sides.items():
        left = extent(program, scope) % side
        if left:
            program, _, _ = peel(program, scope, extent(program, scope) - left)
    if len(find(program, read).body) > 1:
        program, _ = fission(program, read, [1])
    program, _, rows = tile(program, read, sides[read])
    program, _, line = tile(program, write, sides[write])
    program = _staged(interchange(program, rows), rows, line)
    square = _square(program, rows, line, target)
    if square:
        return _in_registers(program, rows, line, square)
    program, _, rows_i = tile(program, rows, _inner(sides[read], ROWS))
    program, _, _ = tile(program, line, _inner(sides[write], LINE))
    return interchange(program, rows_i)


def _square(program: Program, rows: str, line: str, target: Target) -> int:
    """The side of the squares that a tile may be cut into and turned in registers; 0 when in none."""
    scope = find(program, line)
    statement = scope.body[0]
    assert isinstance(statement, Statement)
    load = _load(program, statement, rows, line)
    if (
        load is None
        or load in conditional(statement)
        or load.buffer == statement.target.buffer
        or not can_vectorize(program, scope, "strict")
        or any(stride(program, o, line) not in (0, 1) for o in reads(statement) if o != load)
    ):
        return 0
    dtype = program.buffer(load.buffer).dtype
    for side in SQUARES:
        steps = [f"zip_{op}:{side >> k}" for op in ("low", "high") for k in range(1, side.bit_length())]
        able = all(target.supports(op, dtype, side) for op in ("load", "gather", *steps))
        if able and min(extent(program, rows), extent(program, line)) >= side:
            return side
    return 0


def _in_registers(program: Program, rows: str, line: str, side: int) -> Program:
    """rows { line { S } }  ->  rows_o { line_o { rows_i:n { line_i { S } } } } and what is left, in scalars.

    Lines are written whole where that is possible: they may be the power of two apart that pushes them out.
    """
    for scope in (line, rows):
        left = extent(program, scope) % side
        if left:
            program, _, _ = peel(program, scope, extent(program, scope) - left)
    if len(find(program, rows).body) > 1:
        program, _ = fission(program, rows, [1])
    program, _, rows_i = tile(program, rows, side)
    program, _, line_i = tile(program, line, side if extent(program, line) % LINE else LINE)
    return mark(mark(interchange(program, rows_i), rows_i, "unroll"), line_i, "vector")


def _staged(program: Program, rows: str, line: str) -> Program:
    """Copy the tile before it is read across, where the access is certain to happen."""
    statement = find(program, line).body[0]
    assert isinstance(statement, Statement)
    load = _load(program, statement, rows, line)
    if load is None or load in conditional(statement) or load.buffer in written((find(program, rows),)):
        return program
    return stage_packed(program, path(program, rows)[:-1], rows, load, [line, rows])[0]


def _side(extent: int, unit: int) -> int:
    """The side that leaves least over: the whole extent, or a multiple of `unit` from half a tile on."""
    if extent <= TILE:
        return extent
    return min(range(TILE, TILE // 2 - 1, -unit), key=lambda side: extent % side)


def _inner(side: int, unit: int) -> int:
    """The largest of `unit` and its halves that divides the side; the side itself when that is under 4."""
    while side % unit:
        unit //= 2
    return unit if unit >= 4 else side
