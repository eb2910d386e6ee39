"""Pack: what a nest reads of a buffer is copied into panels that lie as they are read."""

from __future__ import annotations

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Load
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.recipes._steps import extent, inside, made, order
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import iterators, loads


def pack(h: History, *, buffer: str, at: str, fastest: str = "") -> tuple[str, ...]:
    """Copy what a scope reads of a buffer right before it, with one of its scopes as the fastest in memory.

        m_o:M/6 n_o:N/16 k:K m_i:6 n_i:16 c[..] += a[..] * b[{2},{1}*16+{4}]     buffer b at m_o fastest n_i
        ->
        b_t_k:K b_t_n_o:N/16 b_t_n_i:16@vector b_t[{1},{0},{2}] = b[{0},{1}*16+{2}]
        m_o:M/6 n_o:N/16 k:K m_i:6 n_i:16 c[..] += a[..] * b_t[{1},{2},{4}]

    The copy reads the buffer row by row where its fastest scope runs along the rows.

    Args:
        buffer: what is read, in one expression.
        at: the scope.
        fastest: a scope in it; "": the innermost one that moves along the buffer.
    Returns:
        The scopes of the copy, in order; none where the buffer lies like that already.
    Raises:
        PerfDojoError: such a copy is not legal.
    """
    moving = _moving(h, buffer, at)
    fastest = fastest or moving[-1]
    if fastest not in moving:
        raise PerfDojoError(f"scope {fastest} does not index {buffer} in {at}", hint=nearest(fastest, moving))
    layout = [*(s for s in moving if s != fastest), fastest]
    if _lies_so(h, buffer, at, layout):
        return ()
    scopes = made(h, f"create_temporary {buffer} at {at} layout [{' '.join(layout)}]")
    if extent(h, scopes[-1]) > 1:
        h.attempt(f"vectorize {scopes[-1]}")
    return _as_it_lies(h, buffer, scopes)


def _as_it_lies(h: History, buffer: str, scopes: list[str]) -> tuple[str, ...]:
    """Read the buffer row by row where the copy's last scope runs along its rows."""
    copy = next(p.node for p in h.program.statements.values() if p.around and p.around[-1].name == scopes[-1])
    load = next(x for x in loads(copy.value) if x.buffer == buffer)
    steps = {s: abs(stride(h.program, load, s) or 0) for s in scopes}
    if steps[scopes[-1]] != 1:
        return tuple(scopes)
    wanted = sorted(scopes, key=lambda s: -steps[s])
    order(h, wanted)
    return tuple(wanted)


def _lies_so(h: History, buffer: str, at: str, layout: list[str]) -> bool:
    """Tell whether elements along these scopes are neighbours in memory, without gaps, in this order."""
    read = next(load for load in _reads(h, buffer, at))
    expected = 1
    for scope in reversed(layout):
        if extent(h, scope) > 1 and stride(h.program, read, scope) != expected:
            return False
        expected *= extent(h, scope)
    return True


def _reads(h: History, buffer: str, at: str) -> list[Load]:
    inner = (p.node for p in h.program.statements.values() if any(a.name == at for a in p.around))
    return [load for s in inner for load in loads(s.value) if load.buffer == buffer]


def _moving(h: History, buffer: str, at: str) -> list[str]:
    """Return the scopes from `at` on that index the buffer, in the order of the text."""
    if at not in h.program.scopes:
        raise PerfDojoError(f"there is no scope {at}", hint=nearest(at, h.program.scopes))
    within = [at, *inside(h, at)]
    used = {s for load in _reads(h, buffer, at) for s in iterators(load)}
    if not used.intersection(within):
        raise PerfDojoError(f"nothing in scope {at} reads {buffer} along a scope in it")
    return [s for s in within if s in used]
