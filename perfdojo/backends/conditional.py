"""Statements that load something only where a condition holds, which gcc 12 brings into lanes wrongly.

    for o: for i < 4: c[4 o + i] = a[4 o + i] > 0 ? x[4 o + i] : 0

The inner loop is written out, the outer one put into lanes, and its masked loads get the masks of others: by
gcc 12.2 at -O3 with AVX2 or AVX-512, for conditions and data of nearly all types, `&&` and `||` included.
Loads in the body of an `if` may even read behind their array. Loads before the condition are fine. The code
is right by the C standard. An empty `asm` statement in the loop makes the vectoriser leave it alone, whatever
flags its user gives.
"""

from __future__ import annotations

from perfdojo.compiler.lowering.lir import If, Load, Stmt, Value, children
from perfdojo.compiler.lowering.walk import BLOCKS, lazy_from, values

AS_WRITTEN = "pd_as_written"


def loads_conditionally(s: Stmt) -> bool:
    """Tell whether a statement loads something under a condition: itself, or as an `if` in its body."""
    inside = s.body if isinstance(s, If) else ()
    return any(map(_conditional, values(s))) or any(map(_reads, inside))


def _reads(s: Stmt) -> bool:
    """Tell whether a statement loads something, itself or in its body."""
    inside = s.body if isinstance(s, BLOCKS) else ()
    return any(map(_loads, values(s))) or any(map(_reads, inside))


def _conditional(value: Value) -> bool:
    parts = children(value)
    return any(map(_loads, parts[lazy_from(value) :])) or any(map(_conditional, parts))


def _loads(value: Value) -> bool:
    return isinstance(value, Load) or any(map(_loads, children(value)))
