"""What Snitch's data movers and its FPU loop can do: limits, and which accesses have to be streams.

Figures are those of the snitch_cluster RTL (commit 2fa3848) in its default configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.conflicts import apart
from perfdojo.compiler.analysis.offsets import offset
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.walk import const_int

MOVERS = 3
"""Streams at a time: the data movers of ft0, ft1 and ft2."""
LOOPS = 4
"""Loops of the address generator of a data mover."""
MAX_BOUND = 1 << 17
"""Iterations of each of them: their registers have 17 bits."""
WORD_BYTES = 8
"""Streams deliver 64-bit words; the low three bits of addresses and strides are ignored."""
TCDM_BYTES = 128 << 10
"""Streams address the tightly coupled memory only."""


def streams(program: Program, scope: str) -> list[Access]:
    """Return the accesses in innermost scopes that move with these; all others are no streams."""
    known = model(program)
    depth = len(program.scopes[scope].around)
    return [a for a in known.within(scope) if _moves(known, a, depth)]


def _moves(known: Model, a: Access, depth: int) -> bool:
    if any(isinstance(n, Scope) for n in a.scopes[-1].body):
        return False
    loops = [s for s in a.scopes[depth:] if const_int(s.extent) > 1]
    return bool(loops) and loops[-1].name in set(offset(known, a).scopes())


def why_no_streams(program: Program, scope: str) -> Iterator[str]:
    """Yield why what moves in a scope cannot come from streams and go to them."""
    known, found = model(program), streams(program, scope)
    depth = len(program.scopes[scope].around)
    for a in found:
        yield from _why_not_one(known, a, depth)
    jobs = {(a.load.buffer, offset(known, a), way) for a in found for way in _ways(a)}
    if len(jobs) > MOVERS:
        names = " ".join(sorted({b for b, _, _ in jobs}))
        yield f"it needs {len(jobs)} streams ({names}), and there are {MOVERS}"
    for buffer in dict.fromkeys(a.load.buffer for a in found):
        group = [a for a in known.within(scope) if a.load.buffer == buffer]
        if any(a.writes for a in group) and not _in_place(known, group, depth):
            yield f"{buffer} is touched at several places, one of which writes, and streams keep no order"


def _ways(a: Access) -> tuple[str, ...]:
    return ("read", "write") if a.kind == "reduce" else ("write",) if a.writes else ("read",)


def _why_not_one(known: Model, a: Access, depth: int) -> Iterator[str]:
    name, buffer = a.load.buffer, known.buffers[a.load.buffer]
    loops = [s for s in a.scopes[depth:] if const_int(s.extent) > 1]
    form = offset(known, a)
    inside = {s.name for s in loops}
    if any(not isinstance(atom, str) for atom in form.terms):
        yield f"the address of {name} in {a.statement.name} is no sum of iterations times constants"
    if len(loops) > LOOPS:
        yield f"{len(loops)} scopes move {name}, and a stream has {LOOPS} loops"
    wide = next((s for s in loops if const_int(s.extent) > MAX_BOUND), None)
    if wide:
        yield f"scope {wide.name} has more than the {MAX_BOUND} iterations of a stream"
    if a.conditions:
        yield f"{a.statement.name} touches {name} only under a condition"
    if not buffer.dtype.is_float:
        yield f"{name} is {buffer.dtype}, and streams feed the FPU"
    if layout(buffer).bytes > TCDM_BYTES:
        yield f"{name} has {layout(buffer).bytes} bytes, over the {TCDM_BYTES} of the TCDM"
    lanes = WORD_BYTES // buffer.dtype.bytes
    last = loops[-1]
    steps = [c for s, c in form.terms.items() if s in inside and s != last.name]
    packed = form.terms.get(last.name) == 1 and const_int(last.extent) % lanes == 0
    if lanes > 1 and not (packed and all(c % lanes == 0 for c in (form.const, *steps))):
        yield f"the elements of {name} in {a.statement.name} do not fill words of 64 bits"


def _in_place(known: Model, group: Sequence[Access], depth: int) -> bool:
    """Tell whether all accesses are one statement's to one element, another one in each iteration."""
    first = group[0]
    same = all(a.statement is first.statement and a.indices == first.indices for a in group)
    reads = any(a.reads for a in group)
    loops = range(depth, len(first.scopes))
    return same and (not reads or all(apart(known, a, a, d) for a in group if a.writes for d in loops))
