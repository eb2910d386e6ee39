"""Contractions get a register tile: rows unrolled, columns in lanes, the reduction around both."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.plan.arrange import arrange
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.plan.legal import repeatable
from perfdojo.compiler.plan.packing import pack_streamed
from perfdojo.compiler.plan.recipes import blocks, extent, sink
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.shapes import Part, partition
from perfdojo.compiler.plan.tree import find
from perfdojo.compiler.walk import statements


def tile_contractions(program: Program, target: Target) -> Program:
    """Return the program with every contraction tiled for the registers of `target`."""
    if target.vector_bits == 0:
        return program
    for name in [s.name for _, s in statements(program)]:
        found = arrange(program, name, target)
        if found is not None:
            program = _tile(*found, target)
    return program


def _tile(program: Program, c: Contraction, target: Target) -> Program:
    """Cut the columns into parts of equal blocks, and give each part its tile."""
    parts = partition(
        extent(program, c.rows),
        extent(program, c.columns),
        c.lanes,
        target.registers,
        target.masked_memory,
        repeatable(find(program, c.columns)),
    )
    for scope in c.outer:
        program = mark(program, scope, "")
    rest = c.columns
    for n, part in enumerate(parts):
        here = rest
        if n + 1 < len(parts):
            program, here, rest = peel(program, here, part.count * part.size, parts[n + 1].again)
        program = _tile_part(program, here, part, c, target)
    return program


def _tile_part(program: Program, columns: str, part: Part, c: Contraction, target: Target) -> Program:
    """columns { rows { .. k { U } .. } }  ->  columns_o { rows_o { .. k { rows_i { columns_i { U } } } } }"""
    rows = find(program, columns).body[0].name
    outer = columns
    if part.count > 1:
        program, outer, columns = tile(program, columns, part.size)
    program = pack_streamed(program, outer, columns, c)
    program, _, inner, tail = blocks(program, rows, part.rows)
    vector = target.masked_memory or part.size >= c.lanes
    program, copies = sink(mark(program, columns, "vector" if vector else "unroll"), columns)
    for side in (inner, *(() if tail is None else (tail,))):
        program, _ = sink(mark(program, side, "unroll"), side, frozenset(copies))
    return program
