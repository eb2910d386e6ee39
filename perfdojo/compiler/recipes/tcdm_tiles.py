"""TCDM tiles: arguments in main memory pass through a cluster's memory in tiles, two at a time."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import reads
from perfdojo.compiler.ir import Load, Program, Scope, Statement
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.recipes._shape import ACCUMULATORS, Reduction, reduction, shape, tried
from perfdojo.compiler.recipes._steps import blocks, chain, drop_single, extent, made, order, unmark
from perfdojo.compiler.recipes.streams import mark, separate
from perfdojo.compiler.schedule import History
from perfdojo.compiler.tree import nodes
from perfdojo.compiler.walk import const_int, iterators, loads

TCDM_BYTES = 104 << 10
"""Of 128 KiB: tiles, beside stacks, constants, and what is aligned."""
ARGUMENT_BYTES, GUARD_BYTES = (120 << 10) - 64, 128
"""What the harness leaves for arguments, and what it puts around each."""
COLUMNS = 8
"""Words of results side by side, as `streams` makes them. Panels of the operand that all cores read are as
wide: their rows lie one behind the other and in all banks by turns."""


def tcdm_tiles(h: History) -> None:
    """Copy tiles by the DMA engine while the cores compute with those copied before.

        M N K c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
        ->
        m_o:M/32 a_t[..]@dma = a[..]
        | b_t[0,..]@dma = b[..]
        | n_o:N/8 b_t[({n_o}+1)%2,..]@dma = b[..] if {n_o}+1 < N/8
        | | m_i_o:8@core m_i_i:4@stream n_i:8@unroll c_t[{n_o}%2,..] = 0
        | | | | k:K@frep n_i_2:8@unroll c_t[{n_o}%2,..] += a_t[..] * b_t[{n_o}%2,..]
        | | c[..]@dma = c_t[{n_o}%2,..]

    Elementwise nests are cut along their outermost scope, so that tiles of all their arrays fit. What has no
    such form stays as it is, and reads its arguments in main memory.
    """
    unmark(h, [s for s, place in h.program.scopes.items() if place.node.mark == "parallel"])
    drop_single(h)
    for node in h.program.body:
        separate(h, node.name)
    for node in h.program.body:
        if node.name in h.program.scopes and not h.program.scopes[node.name].node.mark:
            tiled(h, node.name)


def fits(program: Program) -> bool:
    """Tell whether the arguments of a bound program fit the TCDM, with the guards of the harness."""
    return sum(layout(b).bytes + GUARD_BYTES for b in program.arguments) <= ARGUMENT_BYTES


def tiled(h: History, top: str) -> None:
    """Let the arrays of a nest pass through the TCDM; leave it alone where that fails, or data decide."""
    if any(_gathers(n) for n in nodes(h.program.scopes[top].node.body) if isinstance(n, Statement)):
        return
    found = reduction(h, top)
    tried(h, lambda: _product(h, found) if found and found.steps else _rows(h, top))


# ---------------------------------------------------------------- products


def _product(h: History, found: Reduction) -> bool:
    """Tile a reduction of two operands, one of which is all cores'; tell if it was done."""
    statement = h.program.statements[found.statement].node
    operands = [load for load in loads(statement.value) if _is_argument(h, load.buffer)]
    if len(found.rows) < 2:
        return False
    *outer, m, n = found.rows
    mine = [x.buffer for x in operands if n not in _used(x)]
    shared = [x.buffer for x in operands if n in _used(x)]
    if any(m in _used(x) for x in operands if x.buffer in shared) or not shared:
        return False
    columns = COLUMNS * widest_lanes(h.program, statement, h.setting.target)
    rows = _tallest(h, found, columns, len(mine), len(shared))
    if not rows or extent(h, n) % columns or extent(h, n) == columns:
        return False
    order(h, (*outer, m, n, *found.steps))
    m_o, m_i, _ = blocks(h, m, rows)
    n_o, n_i, _ = blocks(h, n, columns)
    order(h, (*outer, m_o, n_o, m_i, n_i))
    core = blocks(h, m_i, rows // h.setting.target.cores).outer if rows > h.setting.target.cores else m_i
    for buffer in mine:
        _staged(h, f"create_temporary {buffer} at {n_o}")
    for buffer in shared:
        _staged(h, f"create_temporary {buffer} at {core}", f"by {n_o} ahead")
    if _is_argument(h, statement.target.buffer):
        _staged(h, f"create_temporary {statement.target.buffer} at {core} writes", f"by {n_o}")
    return _shaped(h, core)


def _tallest(h: History, found: Reduction, columns: int, mine: int, shared: int) -> int:
    """Return the rows of the largest tile that fits, with whole sums, so that results are not read again."""
    steps, cores = prod(extent(h, s) for s in found.steps), h.setting.target.cores
    whole = extent(h, found.rows[-2])
    size = h.program.buffer(h.program.statements[found.statement].node.target.buffer).dtype.bytes
    for rows in range((whole - 1) // cores * cores, 0, -cores):
        needed = mine * rows * steps + 2 * shared * columns * steps + 2 * rows * columns
        if whole % rows == 0 and needed * size <= _left(h):
            return rows
    return 0


# ---------------------------------------------------------------- rows


def _rows(h: History, top: str) -> bool:
    """Tile an elementwise nest along its outermost scope; tell if it was done."""
    around, cores = chain(h, top), h.setting.target.cores
    body = h.program.scopes[around[-1]].node.body
    statements = [n for n in body if isinstance(n, Statement)]
    if len(statements) < len(body) or h.why_not(f"core {top}"):
        return False
    accesses = [load for s in statements for load in (*reads(s), s.target) if _is_argument(h, load.buffer)]
    moving = list(dict.fromkeys(x.buffer for x in accesses if top in _used(x)))
    fixed = [x.buffer for x in accesses if top not in _used(x)]
    each = 2 * sum(_bytes(h.program, b) for b in moving) // extent(h, top)
    count = (_left(h) - sum(_bytes(h.program, b) for b in set(fixed))) // max(each, 1)
    if count < cores:
        return False
    lanes = min(widest_lanes(h.program, n, h.setting.target) for n in statements)
    unit = cores * lanes * ACCUMULATORS.start if len(around) == 1 else cores
    unit = unit if unit <= count else cores
    size = _most(count, extent(h, top), unit)
    if size and extent(h, top) % size:
        # the rest has tiles of its own
        size = _most(count * 3 // 4, extent(h, top), unit)
    if not size or 2 * size > extent(h, top):
        return False
    tile, whole, tail = blocks(h, top, size)
    for buffer in dict.fromkeys(fixed):
        _staged(h, f"create_temporary {buffer} at {tile}")
    core = blocks(h, whole, size // cores).outer if size > cores else whole
    written = {s.target.buffer for s in statements}
    for buffer in moving:
        if buffer in written:
            _staged(h, f"create_temporary {buffer} at {core} writes", f"by {tile}")
        else:
            _staged(h, f"create_temporary {buffer} at {core}", f"by {tile} ahead")
    if tail:
        tiled(h, tail)
    return _shaped(h, core)


def _most(most: int, whole: int, unit: int) -> int:
    """Return the iterations of a tile: at most so many, in units of all cores, a divisor if one is near."""
    top = min(most, whole // 2) // unit * unit
    exact = next((n for n in range(top, top // 2, -unit) if whole % n == 0), 0)
    return exact or top


# ---------------------------------------------------------------- copies


def _staged(h: History, move: str, turns: str = "") -> None:
    """Let a node work on a copy of what it accesses of a buffer, made by the DMA engine; by turns on two."""
    names = {b.name for b in h.program.buffers}
    new = made(h, move)
    (copy,) = (b.name for b in h.program.buffers if b.name not in names)
    for scope in new:
        around = h.program.scopes[scope].around
        if not any(s.name in new for s in around):
            h.attempt(f"dma {scope}")
    if turns:
        h.attempt(f"double_buffer {copy} {turns}")


def _shaped(h: History, core: str) -> bool:
    """Stream what each core does in a tile."""
    for name in _inner(h, core):
        shape(h, name)
    if not h.attempt(f"core {core}"):
        return False
    for name in _inner(h, core):
        mark(h, [name])
    return True


def _inner(h: History, scope: str) -> list[str]:
    return [n.name for n in h.program.scopes[scope].node.body if isinstance(n, Scope)]


def _left(h: History) -> int:
    """Return the bytes of the TCDM that no temporary takes."""
    return TCDM_BYTES - sum(_bytes(h.program, b.name) for b in h.program.buffers if b.role == "tmp")


def _is_argument(h: History, buffer: str) -> bool:
    return h.program.buffer(buffer).role != "tmp"


def _gathers(statement: Statement) -> bool:
    """Tell whether data decide which elements it touches: no tile holds these."""
    accesses = (*reads(statement), statement.target)
    return any(True for access in accesses for index in access.indices for _ in loads(index))


def _used(load: Load) -> set[str]:
    return set[str]().union(*map(iterators, load.indices))


def _bytes(program: Program, buffer: str) -> int:
    b = program.buffer(buffer)
    return b.dtype.bytes * prod(const_int(e) for e in b.shape)
