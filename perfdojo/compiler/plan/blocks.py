"""Large transposed results whose lines are a power of two apart are written in blocks of whole lines."""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads, repeatable, statements_in
from perfdojo.compiler.ir import Load, Program, Statement
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.plan.legal import can_vectorize, conditional, independent
from perfdojo.compiler.plan.recipes import extent, order_chain
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.stores import passes_caches
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.tree import find
from perfdojo.compiler.walk import dtype_of

LINE_BYTES = 64

NEAR_BYTES = 512
"""Lines of a result a multiple of this apart wait for each other in memory. Measured on Zen 5, blocks over
whole rows: 4096 x 4096 took 0.61 of the time, 5120 x 5120 0.68, 4224 x 4224 0.70, but 4000 x 4000 1.24."""

BLOCK_LINES = 8, 4
"""Blocks for these: lines along a row of the result, and along a row of the operand."""


def tile_in_blocks(program: Program, read: str, write: str, target: Target, fp: FpLevel) -> Program | None:
    """read { write { S } }  ->  blocks { read_o { write_o { read_i@unroll { write_i@vector { S } } } } }.

    S reads neighbours along `read` and writes neighbours along `write`, the nest is perfect. What a line does
    not divide is computed by a last tile that repeats some of the one before. None where target or statement
    do not allow it, or the result does not pass by the caches with lines that wait for each other.
    """
    (s,) = statements_in(find(program, read).body)
    buffer = program.buffer(s.target.buffer)
    if not passes_caches(buffer) or (stride(program, s.target, read) or 0) * buffer.dtype.bytes % NEAR_BYTES:
        return None
    lanes = widest_lanes(program, s, target)
    crossed = [o for o in reads(s) if stride(program, o, write) not in (0, 1)]
    if not all(_turns(program, o, lanes, target) for o in crossed) or not _legal(program, s, read, write, fp):
        return None
    line = LINE_BYTES // buffer.dtype.bytes
    ragged = extent(program, read) % line or extent(program, write) % line
    if line % lanes or min(extent(program, read), extent(program, write)) < line:
        return None
    if ragged and not repeatable(find(program, read)):
        return None
    how = [find(program, n).mark for n in (read, write)]
    for name in (read, write):
        program = mark(program, name, "")
    program, nests = _whole(program, read, write, line)
    for r, w in nests:
        program, outermost = _tiles(program, r, w, line, lanes)
        program = mark(program, outermost, "parallel" if "parallel" in how else "")
    return _fetched(program, crossed, target, fp)


def _turns(program: Program, load: Load, lanes: int, target: Target) -> bool:
    """Tell whether squares of what is loaded can be transposed in registers."""
    dtype = dtype_of(load, program)
    steps = [f"zip_{half}:{lanes >> k}" for k in range(1, lanes.bit_length()) for half in ("low", "high")]
    return lanes > 1 and all(target.supports(op, dtype, lanes) for op in ("load", *steps))


def _legal(program: Program, s: Statement, read: str, write: str, fp: FpLevel) -> bool:
    """Tell whether the two scopes may be tiled and run in any order, `write` in lanes."""
    across = [(stride(program, o, read), stride(program, o, write)) for o in reads(s)]
    return (
        s.guard is None
        and all(w in (0, 1) or (r == 1 and w is not None and w > 1) for r, w in across)
        and not any(stride(program, o, write) not in (0, 1) for o in conditional(s))
        and all(independent(program, find(program, n)) for n in (read, write))
        and can_vectorize(program, find(program, write), fp)
    )


def _whole(program: Program, read: str, write: str, line: int) -> tuple[Program, list[tuple[str, str]]]:
    """Peel what a line does not divide, as a line that starts earlier; return the nests that this makes."""
    nests = [(read, write)]
    if left := extent(program, read) % line:
        program, _, tail = peel(program, read, extent(program, read) - left, line - left)
        nests.append((tail, find(program, tail).body[0].name))
    left = extent(program, write) % line
    for r, w in list(nests) if left else ():
        program, _, tail = peel(program, w, extent(program, w) - left, line - left)
        program, (_, again) = fission(program, r, [1])
        nests.append((again, tail))
    return program, nests


def _tiles(program: Program, read: str, write: str, line: int, lanes: int) -> tuple[Program, str]:
    """Tile one nest, and go over the tiles in blocks; return the name of the outermost scope."""
    program, rows, rows_i = tile(program, read, line)
    program, columns, columns_i = tile(program, write, line)
    program = interchange(program, rows_i)
    if lanes < line:
        program, _, rows_i = tile(program, rows_i, lanes)
    program = mark(mark(program, rows_i, "unroll"), columns_i, "vector")
    along, across = (
        _part(extent(program, columns), BLOCK_LINES[0]),
        _part(extent(program, rows), BLOCK_LINES[1]),
    )
    program, columns_b, columns = tile(program, columns, along)
    program, rows_b, rows = tile(program, rows, across)
    ordered = order_chain(program, [columns_b, rows_b, columns, rows])
    assert ordered is not None, "both scopes are independent"
    return ordered, columns_b


def _part(extent: int, size: int) -> int:
    """The largest divisor of an extent up to a size."""
    return max(n for n in range(1, size + 1) if extent % n == 0)


def _fetched(program: Program, loads: list[Load], target: Target, fp: FpLevel) -> Program:
    """Ask for the operand of the next block while this one is done."""
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.transforms.prefetch import Prefetch

    setting = Setting(target, fp)
    for name in dict.fromkeys(o.buffer for o in loads):
        b = program.buffer(name)
        ahead = BLOCK_LINES[1] * LINE_BYTES // b.dtype.bytes
        move = Prefetch(name, ahead)
        if not b.prefetch and move.why_not(program, setting) is None:
            program = move.rewrite(program)
    return program
