"""Loops that one call does: f32 functions of neighbouring elements, by functions of arrays in the runtime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.backends.snitch.cluster import ClusterPrinter
from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.lowering.lir import INDEX, Call, Comment, Const, For, Load, Stmt, Store, Value, Var

FUNCTIONS = {name: f"snitch_{name}_f32_array" for name in ("exp", "tanh", "sigmoid")}
ALONE = frozenset(("tanh", "sigmoid"))
"""Those that only one of several cores may call at a time: their work is in static memory."""
LEAST = 24
"""Elements from which on it is faster than the loop."""

_Linear = Counter[Value | None]
"""Coefficients of values, None for the constant."""


def array_call(loop: For, printer: ScalarPrinter) -> str:
    """Return the C statement that does a whole loop, with the loops in it; "" where there is none."""
    counters: dict[Var, tuple[int, int]] = {}
    inner: Stmt = loop
    while isinstance(inner, For):
        start, stop = inner.start, inner.stop
        if inner.step != 1 or inner.parallel or not isinstance(start, Const) or not isinstance(stop, Const):
            return ""
        counters[inner.var] = int(start.value), int(stop.value)
        body = [s for s in inner.body if not isinstance(s, Comment)]
        if len(body) != 1:
            return ""
        inner = body[0]
    if not isinstance(inner, Store) or not isinstance(inner.value, Call):
        return ""
    call = inner.value
    count = prod(stop - start for start, stop in counters.values())
    if call.op not in FUNCTIONS or call.type.dtype != F32 or call.type.lanes > 1 or count < LEAST:
        return ""
    if call.op in ALONE and isinstance(printer, ClusterPrinter) and printer.cores > 1:
        return ""
    source = call.args[0]
    if not isinstance(source, Load) or source.buffer == inner.buffer:
        return ""
    first = [_first(offset, counters) for offset in (source.offset, inner.offset)]
    if first[0] is None or first[1] is None:
        return ""
    pointers = f"{printer.pointer(source.buffer, first[0])}, {printer.pointer(inner.buffer, first[1])}"
    return f"{FUNCTIONS[call.op]}({pointers}, {count});"


def _first(offset: Value, counters: Mapping[Var, tuple[int, int]]) -> Value | None:
    """Return the first offset of loops that run through neighbouring elements in order, else None."""
    linear = _linear(offset)
    distance = 1
    for var, (start, stop) in reversed(tuple(counters.items())):
        if linear.pop(var, 0) != distance:
            return None
        linear[None] += distance * start
        distance *= stop - start
    if any(not isinstance(v, Var) for v in linear if v is not None):
        return None
    terms: list[Value] = [
        Call("imul", (v, Const(c, INDEX)), INDEX) if c != 1 else v for v, c in linear.items() if v is not None
    ]
    if linear[None] or not terms:
        terms.append(Const(linear[None], INDEX))
    total = terms[0]
    for term in terms[1:]:
        total = Call("iadd", (total, term), INDEX)
    return total


def _linear(value: Value) -> _Linear:
    """Return a sum of multiples; what is none is a value of its own."""
    if isinstance(value, Const):
        return Counter({None: int(value.value)})
    if isinstance(value, Call) and value.op in ("iadd", "isub"):
        result, second = (_linear(a) for a in value.args)
        for v, c in second.items():
            result[v] += c if value.op == "iadd" else -c
        return result
    if isinstance(value, Call) and value.op == "imul":
        for factor, other in (value.args, value.args[::-1]):
            if isinstance(factor, Const):
                return Counter({v: c * int(factor.value) for v, c in _linear(other).items()})
    return Counter({value: 1})
