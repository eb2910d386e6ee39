"""What lets nests stand alone: storage for rows and matrices, functions with statements of their own."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.ir import Buffer, Expr, Load, Op, Program, Statement
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.lowering.nests.limits import MOVERS
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.recipes._steps import extent
from perfdojo.compiler.schedule import History
from perfdojo.compiler.transforms.outline import parts
from perfdojo.compiler.walk import children, dtype_of, iterators

ARRAY_FUNCTIONS = frozenset(("exp", "tanh", "sigmoid"))
"""Functions of f32 that Snitch has for whole arrays."""
TCDM_BYTES = 118 << 10
"""For arguments and temporaries, of 128 KiB: beside them lie stacks and constants."""
GUARD_BYTES = 128
"""Around each argument and temporary, for alignment."""
LEAST = 24
"""Elements from which on a function of an array is faster than a loop."""


def rows_stored(h: History) -> None:
    """Give dimensions that share storage storage of their own, where it fits.

    tmp e: f32[B, N] reuse(0)   ->   tmp e: f32[B, N]
    """
    for b in h.program.buffers:
        whole = replace(b, reuse=())
        if b.reuse and used(h.program) - layout(b).bytes + layout(whole).bytes <= TCDM_BYTES:
            h.attempt(f"materialize_dims {b.name} [{' '.join(map(str, b.reuse))}]")


def functions_apart(h: History, top: str) -> None:
    """Give each function that arrays have, and its argument, statements and buffers of their own.

    M N y[{0},{1}] = 1 / (1 + exp(-x[{0},{1}]))
    ->
    M N y_v[{0},{1}] = -x[{0},{1}]
    | | y_v_2[{0},{1}] = exp(y_v[{0},{1}])
    | | y[{0},{1}] = 1 / (1 + y_v_2[{0},{1}])
    """
    for name, place in list(h.program.statements.items()):
        around = [s.name for s in place.around]
        if around[:1] != [top] or place.node.guard is not None or not _fits(h, around, 1):
            continue
        for number in reversed(_calls(h.program, place.node)):
            _apart(h, name, number, around)


def streams_apart(h: History, top: str) -> None:
    """Give a part of a value in lanes a statement of its own where it takes more streams than there are.

    M N y[{0},{1}] = d[{0},{1}] * r[{0}] * g[{1}] + b[{1}]
    ->
    M N y_v[{0},{1}] = d[{0},{1}] * r[{0}] * g[{1}]
    | | y[{0},{1}] = y_v[{0},{1}] + b[{1}]
    """
    for name, place in list(h.program.statements.items()):
        around = [s.name for s in place.around]
        s = place.node
        if around[:1] != [top] or s.guard is not None or widest_lanes(h.program, s, h.setting.target) == 1:
            continue
        whole = _moving(s.value, around[-1])
        if len(whole) < MOVERS or around[-1] not in iterators(s.target):
            continue
        for number, part in enumerate(parts(h.program, s), 1):
            inner = _moving(part, around[-1])
            rest = _moving(s.value, around[-1], part)
            if len(inner) < MOVERS and len(rest) < MOVERS - 1:
                _own_matrix(h, name, number, around)
                break


def _moving(e: Expr, scope: str, without: Expr | None = None) -> set[str]:
    """Return the buffers of which a value, but for a part of it, reads another element in each iteration."""
    if e is without:
        return set()
    if isinstance(e, Load):
        return {e.buffer} if scope in iterators(e) else set()
    return {b for c in children(e) for b in _moving(c, scope, without)}


def _own_matrix(h: History, statement: str, number: int, around: list[str]) -> None:
    """Outline an operation, if there is room for an element for each iteration of all scopes around it."""
    size = F32.bytes * prod(extent(h, scope) for scope in around) + GUARD_BYTES
    if used(h.program) + size <= TCDM_BYTES:
        _own(h, statement, number, around)


def _calls(program: Program, s: Statement) -> list[int]:
    """Return the numbers of the functions of arrays among the operations of a statement."""
    found = enumerate(parts(program, s), 1)
    return [n for n, e in found if _is_array_function(e, program)]


def _is_array_function(e: Expr, program: Program) -> bool:
    return isinstance(e, Op) and e.op in ARRAY_FUNCTIONS and dtype_of(e, program) == F32


def _apart(h: History, statement: str, number: int, around: list[str]) -> None:
    """Make moves for one function; it stays where it is when its arrays do not fit."""
    s = h.program.statements[statement].node
    call = parts(h.program, s)[number - 1]
    assert isinstance(call, Op)
    nested = not isinstance(call.args[0], Load) or call.args[0].buffer == s.target.buffer
    alone = call is s.value and s.op == "=" and len(s.target.indices) > 0
    if not _fits(h, around, nested + (not alone)):
        return
    if nested and isinstance(call.args[0], Op):
        _own(h, statement, number + 1, around)
    if not alone:
        _own(h, statement, number, around)


def _own(h: History, statement: str, number: int, around: list[str]) -> None:
    """Outline an operation, with an element for each iteration of the scopes for which they fit."""
    before = {b.name for b in h.program.buffers}
    if not h.attempt(f"outline {statement} number {number}"):
        return
    (name,) = (b.name for b in h.program.buffers if b.name not in before)
    for scope in reversed(around):
        size = layout(h.program.buffer(name)).bytes
        if used(h.program) + size * (extent(h, scope) - 1) > TCDM_BYTES:
            return
        h.attempt(f"expand_buffer {name} by {scope}")


def _fits(h: History, around: list[str], count: int) -> bool:
    """Tell whether arrays of the innermost scope are worth it, and fit."""
    size = extent(h, around[-1])
    return size >= LEAST and used(h.program) + count * (size * F32.bytes + GUARD_BYTES) <= TCDM_BYTES


def used(program: Program) -> int:
    """Return the bytes that all buffers of a program take in the TCDM."""
    return sum(_bytes(b) for b in program.buffers)


def _bytes(b: Buffer) -> int:
    return layout(b).bytes + GUARD_BYTES
