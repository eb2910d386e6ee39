"""Copies whose source and target are contiguous along different scopes are done in square tiles.

A tile is copied into a small buffer row by row and read from there column by column, so that every cache line
of both sides is touched once, whatever the strides; lines a power of two apart would push each other out.
Where the target can, squares of it are turned in registers.
"""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import written
from perfdojo.compiler.ir import Program, Scope, Statement
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.blocks import tile_in_blocks
from perfdojo.compiler.plan.legal import conditional, independent
from perfdojo.compiler.plan.recipes import extent, order_chain
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.stage_packed import stage_packed
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.squares import LINE, close_lines, crossing, in_registers, rows_whole, square_side
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, path
from perfdojo.compiler.walk import const_int, statements

TILE = 64
"""Longest side of a tile, in elements: 16 KiB of f32, half a first-level cache."""

LEAST = 16
"""Shortest extent of both scopes that is tiled."""

ROWS = 8
"""Rows of the target in an inner tile, which has a `LINE` of each."""


def tile_transposes(program: Program, target: Target, fp: FpLevel) -> Program:
    """Return the program with every transposing statement tiled."""
    for around, statement in statements(program):
        # what is tiled has a nest of its own, so that the others stay as they were found
        found = _crossed(program, around, statement)
        if found is not None:
            program = _tiled(program, *found, target, fp)
    return program


def _crossed(program: Program, around: tuple[Scope, ...], s: Statement) -> tuple[str, str] | None:
    """The two innermost scopes: that along which the statement reads, that along which it writes."""
    if s.op != "=" or len(around) < 2 or any(a.mark in ("vector", "unroll") for a in around):
        return None
    outer, inner = around[-2:]
    if len(outer.body) != 1 or len(inner.body) != 1 or not independent(program, outer):
        return None
    for read, write in ((outer, inner), (inner, outer)):
        if crossing(program, s, read.name, write.name) is None or stride(program, s.target, write.name) != 1:
            continue
        if min(const_int(outer.extent), const_int(inner.extent)) < LEAST:
            return None
        return (read.name, write.name) if (stride(program, s.target, read.name) or 0) > 1 else None
    return None


def _tiled(program: Program, read: str, write: str, target: Target, fp: FpLevel) -> Program:
    """read { write { S } }  ->  read_o { write_o { copy; read_i { write_i { S } } } } and what is left."""
    ordered = order_chain(program, [read, write])
    if ordered is None:
        return program
    program = ordered
    blocks = tile_in_blocks(program, read, write, target, fp)
    if blocks is not None:
        return blocks
    square = square_side(program, read, write, target)
    close = close_lines(program, read, write)
    if square and not close[0]:
        program, outer = in_registers(program, read, write, square, target)
        return program if close[1] else rows_whole(program, outer)
    unit = max(ROWS, target.vector_bits // 32)
    sides = {read: _side(extent(program, read), unit), write: _side(extent(program, write), LINE)}
    for scope, side in sides.items():
        left = extent(program, scope) % side
        if left:
            program, _, _ = peel(program, scope, extent(program, scope) - left)
    if len(find(program, read).body) > 1:
        program, _ = fission(program, read, [1])
    program, _, rows = tile(program, read, sides[read])
    program, _, line = tile(program, write, sides[write])
    program = _staged(interchange(program, rows), rows, line)
    square = square_side(program, rows, line, target)
    if square:
        return in_registers(program, rows, line, square, target)[0]
    program, _, rows_i = tile(program, rows, _inner(sides[read], ROWS))
    program, _, _ = tile(program, line, _inner(sides[write], LINE))
    return interchange(program, rows_i)


def _staged(program: Program, rows: str, line: str) -> Program:
    """Copy the tile before it is read across, where the access is certain to happen."""
    statement = find(program, line).body[0]
    assert isinstance(statement, Statement)
    load = crossing(program, statement, rows, line)
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
