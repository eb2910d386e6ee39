"""Which rows of the language's tables a program uses."""

from __future__ import annotations

from collections import Counter

from perfdojo.compiler import ir
from perfdojo.compiler.walk import scopes, statements, subexpressions


def coverage(program: ir.Program) -> Counter[str]:
    """Count the rows of the language table that `program` uses."""
    rows: Counter[str] = Counter()
    for b in program.buffers:
        rows[f"type {b.dtype}"] += 1
        rows[f"role {b.role}"] += 1
        for attribute in ("space", "order", "pad", "reuse", "values", "nontemporal", "prefetch"):
            rows[f"attribute {attribute}"] += bool(getattr(b, attribute))
    for s in scopes(program):
        rows[f"mark {s.mark or 'none'}"] += 1
    for around, st in statements(program):
        rows[f"sign {st.op}"] += 1
        rows["guard"] += st.guard is not None
        rows["statement outside scopes"] += not around
        for e in (st.target, st.value, *([st.guard] if st.guard else [])):
            for sub in subexpressions(e):
                rows.update(_rows_of(sub))
    return Counter({k: v for k, v in rows.items() if v})


def _rows_of(e: ir.Expr) -> list[str]:
    if isinstance(e, ir.Op):
        return [f"op {e.op}"]
    if isinstance(e, ir.Cast):
        return ["conversion"]
    if isinstance(e, ir.Iter):
        return ["iterator"]
    if not isinstance(e, ir.Load):
        return []
    rows = ["rank " + str(len(e.indices))]
    for index in e.indices:
        kinds = {type(s) for s in subexpressions(index)}
        ops = {s.op for s in subexpressions(index) if isinstance(s, ir.Op)}
        rows += ["gather"] if ir.Load in kinds else []
        rows += ["quasi-affine index"] if ops & {"floordiv", "mod"} else []
    return rows
