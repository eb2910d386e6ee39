"""Width of loop counters in C: 32 bits where index arithmetic fits them, for registers have no more."""

from __future__ import annotations

from collections.abc import Iterator

from perfdojo.compiler.ir import BLOCK
from perfdojo.compiler.lowering.lir import (
    INDEX,
    Call,
    Const,
    For,
    Kernel,
    Stmt,
    Stream,
    Value,
    Var,
    children,
    thread_number,
)
from perfdojo.compiler.lowering.walk import BLOCKS, values

_LIMIT = 1 << 31
_Range = tuple[int, int]


def narrow(body: tuple[Stmt, ...]) -> bool:
    """Tell whether all index arithmetic of a body on constants and counters alone fits 32 bits.

    What else is in an index (elements, i64 variables) has 64 bits in C by itself, whatever a counter has.
    """
    return all(_fits(s, {}) for s in body)


def _fits(s: Stmt, counters: dict[str, _Range]) -> bool:
    if isinstance(s, For):
        low, high = _range(s.start, counters), _range(s.stop, counters)
        if low is None or high is None:
            return False
        counters = {**counters, s.var.name: (low[0], high[1] + s.step)}
    if isinstance(s, Kernel):
        counters = {var.name: (0, n - 1) for var, _, n in s.blocks}
        counters |= {thread_number(d): (0, n - 1) for d, n in zip(BLOCK, s.threads, strict=True)}
    found = [r for v in values(s) for r in _ranges(v, counters)]
    inner = s.body if isinstance(s, BLOCKS) else s.otherwise if isinstance(s, Stream) else ()
    within = all(low >= -_LIMIT and high < _LIMIT for low, high in (*found, *counters.values()))
    return within and all(_fits(t, counters) for t in inner)


def _ranges(value: Value, counters: dict[str, _Range]) -> Iterator[_Range]:
    """Yield the ranges of all parts of a value that are index arithmetic on counters."""
    found = _range(value, counters)
    if found is not None and not isinstance(value, Const):
        yield found
    for c in children(value):
        yield from _ranges(c, counters)


def _range(value: Value, counters: dict[str, _Range]) -> _Range | None:
    """Return the range of index arithmetic on counters and constants, None for anything else."""
    if value.type != INDEX:
        return None
    if isinstance(value, Const):
        return int(value.value), int(value.value)
    if isinstance(value, Var):
        return counters.get(value.name)
    if not isinstance(value, Call):
        return None
    parts = [_range(a, counters) for a in value.args]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    return _result(value.op, known)


def _result(op: str, parts: list[_Range]) -> _Range | None:
    low, high = parts[0]
    if op == "ineg":
        return -high, -low
    if op not in ("iadd", "isub", "imul", "idiv", "imod"):
        return None
    a, b = parts[1]
    if op == "imod":
        return 0, b - 1
    ends = {
        "iadd": (low + a, high + b),
        "isub": (low - b, high - a),
        "imul": tuple(x * y for x in (low, high) for y in (a, b)),
        "idiv": (low // max(b, 1), high // max(a, 1)),
    }[op]
    return min(ends), max(ends)
