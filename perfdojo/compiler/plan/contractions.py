"""Contractions get a register tile: rows unrolled, columns in lanes, the reduction around both."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import reads, repeatable
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.dots import Dot
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.ahead import fetch_ahead
from perfdojo.compiler.plan.arrange import arrange
from perfdojo.compiler.plan.contraction import Contraction
from perfdojo.compiler.plan.dots import dot_for, further_sums, groups_in, in_groups, rows_of_neighbours
from perfdojo.compiler.plan.first_use import blocks_behind_first, pack_at_first_use
from perfdojo.compiler.plan.knobs import CHOSEN, Knobs
from perfdojo.compiler.plan.packing import pack_streamed
from perfdojo.compiler.plan.recipes import blocks, extent
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.sink import sink
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.shapes import Part, partition
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find, nodes
from perfdojo.compiler.walk import const_int, statements

LEAST_BLOCKS = 4
"""Blocks of columns from which on the rows, which are read once for each, are worth keeping in a cache."""

ROWS_BYTES = 4 << 20
"""What a block of rows may take of the last-level cache. Measured on Zen 3 with 1024 x 1024 x 1024: smaller
blocks, and blocks of the reduction, cost more than they save."""

MAX_WRITTEN_OUT = 9
"""Steps of the innermost reduction scopes that are written out: a 3 x 3 filter."""


def tile_contractions(program: Program, target: Target, fp: FpLevel, knobs: Knobs = CHOSEN) -> Program:
    """Return the program with every contraction tiled for the registers of `target`."""
    if target.vector_bits == 0:
        return program
    for name in [s.name for _, s in statements(program) if s.op != "="]:
        found = arrange(program, name, target)
        if found is not None:
            program = _tile(*found, target, fp, knobs)
    return program


def _tile(program: Program, c: Contraction, target: Target, fp: FpLevel, knobs: Knobs) -> Program:
    """Cut the columns into parts of equal blocks, and tile each part."""
    dot = dot_for(program, c, target, fp)
    parts = partition(
        extent(program, c.rows),
        extent(program, c.columns),
        c.lanes,
        target.registers,
        target.masked_memory,
        repeatable(find(program, c.columns)),
        further_sums(dot, target, c.lanes) if dot else 0,
        any(stride(program, o, c.columns) == stride(program, o, i) for o in c.streamed for i in c.inner),
        knobs.rows,
        knobs.vectors,
    )
    for scope in c.own:
        if scope.mark:
            program = mark(program, scope.name, "")
    if dot:
        program = rows_of_neighbours(program, c)
    rest = c.columns
    for n, part in enumerate(parts):
        here = rest
        if n + 1 < len(parts):
            program, here, rest = peel(program, here, part.count * part.size, parts[n + 1].again)
        program = _tile_part(program, here, part, c, target, dot)
    return program if dot else fetch_ahead(program, _next_rows(program, c, parts[0].rows))


def _next_rows(program: Program, c: Contraction, rows: int) -> dict[str, int]:
    """How far ahead the rows of the next tile lie in operands of which each product of a batch has its own.

    Measured on Zen 5, 192 products of 256 x 128 x 256 in main memory: a sixth faster.
    """
    batch = [s.name for s in c.around if s not in c.own]
    kept = [o for o in reads(c.statement) if o not in c.streamed and stride(program, o, c.inner[-1]) == 1]
    steps = {o.buffer: stride(program, o, c.rows) or 0 for o in kept}
    return {
        o.buffer: rows * steps[o.buffer]
        for o in kept
        if steps[o.buffer] > 1 and any(stride(program, o, s) for s in batch)
    }


def _tile_part(
    program: Program, columns: str, part: Part, c: Contraction, target: Target, dot: Dot | None
) -> Program:
    """columns { rows { .. k { U } .. } }  ->  columns_o { rows_o { .. k { rows_i { columns_i { U } } } } }"""
    rows = find(program, columns).body[0].name
    outer = columns
    if part.count > 1:
        program, outer, columns = tile(program, columns, part.size)
    size = _rows_in_cache(program, rows, part, c)
    group = ""
    if dot:
        program, group = in_groups(program, _reductions(program, rows, c)[-1].name, dot.group)
    program, outer, panels = pack_streamed(program, outer, columns, c, size is not None, group)
    nests = [(columns, rows)]
    if size is not None:
        program, nests = _block_rows(program, outer, columns, rows, size)
    vector = target.masked_memory or part.size >= c.lanes
    for block, side in nests:
        program = _write_out(program, side, c)
        if panels:
            program, inner, tail = blocks_behind_first(program, side, part.rows)
        else:
            program, _, inner, tail = blocks(program, side, part.rows)
        groups = groups_in(program, block, c, dot.group) if dot else frozenset()
        program, copies = sink(mark(program, block, "vector" if vector else "unroll"), block, groups)
        for tiled in (inner, *(() if tail is None else (tail,))):
            program, _ = sink(mark(program, tiled, "unroll"), tiled, frozenset(copies))
    for panel in panels:
        program = pack_at_first_use(program, panel)
    return program


def _rows_in_cache(program: Program, rows: str, part: Part, c: Contraction) -> int | None:
    """Rows of a block that stays in a cache while all columns are computed from it; None: all of them do."""
    steps = prod(extent(program, s.name) for s in _reductions(program, rows, c))
    row_bytes = steps * program.buffer(c.statement.target.buffer).dtype.bytes
    whole = extent(program, rows)
    count = round(whole * row_bytes / ROWS_BYTES)
    if count < 2 or part.count < LEAST_BLOCKS:
        return None
    return max(1, -(-whole // count) // part.rows) * part.rows


def _block_rows(
    program: Program, outer: str, columns: str, rows: str, size: int
) -> tuple[Program, list[tuple[str, str]]]:
    """outer { columns { rows } }  ->  rows_o { outer { columns { rows_i } } } and what is left.

    Returns the names of columns and rows in each nest.
    """
    whole = extent(program, rows)
    program = interchange(interchange(program, columns), outer)
    nests = [(columns, rows)]
    if whole % size:
        program, _, tail = peel(program, rows, whole - whole % size)
        outer_t = find(program, tail).body[0].name
        columns_t = find(program, outer_t).body[0].name
        program = interchange(interchange(program, tail), tail)
        nests.append((columns_t, tail))
    program, _, inner = tile(program, rows, size)
    nests[0] = (columns, inner)
    return interchange(interchange(program, inner), inner), nests


def _write_out(program: Program, rows: str, c: Contraction) -> Program:
    """Unroll the innermost reduction scopes while they are few steps together."""
    steps = 1
    for scope in reversed(_reductions(program, rows, c)):
        steps *= const_int(scope.extent)
        if steps > MAX_WRITTEN_OUT:
            break
        program = mark(program, scope.name, "unroll")
    return program


def _reductions(program: Program, rows: str, c: Contraction) -> list[Scope]:
    """The reduction scopes in the copy of the nest that `rows` belongs to."""
    found = [n for n in nodes(find(program, rows).body) if isinstance(n, Scope)]
    return found[: len(c.inner)]
