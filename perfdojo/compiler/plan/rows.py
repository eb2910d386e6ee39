"""Rows that come from memory are fetched ahead: the next one is on its way while one is in the cache."""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads
from perfdojo.compiler.ir import Program, Scope, Statement
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.ahead import comes_from_memory
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.walk import iterators, statements

AHEAD_BYTES = 8 << 10
"""Least distance, two pages: the processor's own prefetches end at each page. 2 KiB gained half as much."""

ROW_BYTES = 128 << 10
"""Rows up to this size stay in the second-level cache while the next one comes."""


LEAST_BYTES = 64 << 10
"""Inputs up to this size are in a near cache anyway."""

SHORT_BYTES = 8 << 10
"""Rows up to this size are over before the processor's prefetches have caught up. With two reductions each,
which wait for each other, they gain from a cache too: layernorm 512 x 768 9 %, softmax 4096 x 512 5 %."""

SHORT_ON = "x86_64"
"""Where this was measured; elsewhere it is only known to cost instructions."""


def fetch_rows(program: Program, target: Target, fp: FpLevel) -> Program:
    """Return the program with prefetches of what is reduced row by row, in lanes along the row."""
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.transforms.prefetch import Prefetch

    if target.vector_bits == 0:
        return program
    setting = Setting(target, fp)
    arguments = [b for b in program.buffers if b.role != "tmp"]
    far = comes_from_memory(program)
    if not far and target.machine != SHORT_ON:
        return program
    for b in arguments:
        distance = 0 if b.prefetch or b.role == "out" else _distance(program, b.name, far)
        move = Prefetch(b.name, distance)
        if distance and layout(b).bytes > LEAST_BYTES and move.why_not(program, setting) is None:
            program = move.rewrite(program)
    return program


def _distance(program: Program, buffer: str, far: bool) -> int:
    """Elements to fetch ahead: whole rows where several passes go over each; 0 for what has no rows."""
    reductions = [row for around, s in statements(program) if (row := _row(program, around, s))]
    passes, pitches = set[str](), dict[str, int]()
    for around, s in statements(program):
        lanes = _lanes(around)
        loads = [o for o in reads(s) if o.buffer == buffer]
        if not loads or any(stride(program, o, lanes) != 1 for o in loads):
            continue
        passes.add(lanes)
        row = _row(program, around, s)
        if row:
            pitches[row] = max(pitches.get(row, 0), stride(program, loads[0], row) or 0)
    size = program.buffer(buffer).dtype.bytes
    row, pitch = max(pitches.items(), key=lambda p: p[1], default=("", 0))
    if not far:
        return pitch if reductions.count(row) > 1 and pitch * size <= SHORT_BYTES else 0
    least = AHEAD_BYTES // size
    if not pitch or len(passes) == 1 or pitch * size > ROW_BYTES:
        return least if pitch else 0
    return -(-least // pitch) * pitch


def _row(program: Program, around: tuple[Scope, ...], s: Statement) -> str:
    """The scope over the rows that `s` reduces in lanes, "" when it is no such reduction.

    Operands that all rows share, as in products, are in the cache; what streams past them is another matter.
    """
    lanes = _lanes(around)
    moved = {name for i in s.target.indices for name in iterators(i)}
    rows = [a.name for a in around if a.name in moved]
    if s.op == "=" or not lanes or lanes in moved or not rows:
        return ""
    along = [o for o in reads(s) if stride(program, o, lanes)]
    return rows[-1] if all(rows[-1] in iterators(o) for o in along) else ""


def _lanes(around: tuple[Scope, ...]) -> str:
    return next((a.name for a in around if a.mark == "vector"), "")
