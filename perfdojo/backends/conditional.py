"""Statements that load something only where a condition holds, which gcc 12 brings into lanes wrongly.

    for o: for i < 4: c[4 o + i] = a[4 o + i] > 0 ? x[4 o + i] : 0

The inner loop is written out, the outer one put into lanes, and its masked loads get the masks of others: by
gcc 12.2 at -O3 with AVX2 or AVX-512, for conditions and data of nearly all types, `&&` and `||` included.
Loads in the body of an `if` may even read behind their array. Loads before the condition are fine. The code
is right by the C standard. An empty `asm` statement in the loop makes the vectoriser leave it alone, whatever
flags its user gives.
"""

from __future__ import annotations

from perfdojo.compiler.lowering.lir import Call, For, If, Let, Load, Set, Stmt, Store, Value, children

AS_WRITTEN = "pd_as_written"
CHOOSING = ("select", "and", "or")
"""Operations of which the first operand decides whether the others are evaluated."""


def loads_conditionally(s: Stmt) -> bool:
    """Tell whether a statement itself, not those in it, loads something under a condition."""
    match s:
        case Let() | Set():
            return _conditional(s.value)
        case Store():
            return _conditional(s.value) or _conditional(s.offset)
        case If():
            return _conditional(s.condition) or any(map(_reads, s.body))
    return False


def _reads(s: Stmt) -> bool:
    """Tell whether a statement loads something, in lanes or not."""
    match s:
        case Let() | Set():
            return _loads(s.value)
        case Store():
            return _loads(s.value) or _loads(s.offset)
        case For() | If():
            return any(map(_reads, s.body))
    return False


def _conditional(value: Value) -> bool:
    if isinstance(value, Call) and value.op in CHOOSING and value.args[0].type.lanes == 1:
        return any(map(_loads, value.args[1:])) or any(map(_conditional, value.args))
    return any(map(_conditional, children(value)))


def _loads(value: Value) -> bool:
    return isinstance(value, Load) or any(map(_loads, children(value)))
