"""How a scope can run in lanes: how many there are, and where the sums over them begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import Cast, Expr, Iter, Load, Node, Op, Scope, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.ops import OPS, REDUCTIONS
from perfdojo.compiler.walk import const_int, iterators, loads


def inner_statements(nodes: tuple[Node, ...]) -> Iterator[Statement]:
    """Yield the statements in sibling nodes, in textual order."""
    for n in nodes:
        if isinstance(n, Statement):
            yield n
        else:
            yield from inner_statements(n.body)


def inner_scopes(nodes: tuple[Node, ...]) -> Iterator[Scope]:
    """Yield the scopes in sibling nodes, outer before inner."""
    for n in nodes:
        if isinstance(n, Scope):
            yield n
            yield from inner_scopes(n.body)


def lane_counts(scope: Scope, context: Context) -> list[int]:
    """Return the numbers of lanes to try, best first: a register of the widest type in the scope.

    Without masks a vector must be full; with them the smallest one that holds the whole scope is enough.
    """
    widest = max(
        (b for s in inner_statements(scope.body) for b in _widths(s, scope.name, context)), default=32
    )
    most = context.target.vector_bits // widest
    extent = const_int(scope.extent)
    counts = []
    while most >= context.target.min_lanes:
        counts.append(most)
        most //= 2
    if context.target.masked_memory:
        return [n for n in counts if n == counts[-1] or n // 2 < extent]
    return [n for n in counts if n <= extent]


def _widths(s: Statement, scope: str, context: Context) -> set[int]:
    """Return the bits of the types in which a statement computes in lanes."""
    found: set[int] = set()
    if any(scope in iterators(i) for i in s.target.indices):
        found.add(_bits(context.buffers[s.target.buffer].dtype, context))
    for root in (s.value, s.guard):
        if root is not None:
            _varies(root, scope, context, found)
    return found


def _varies(e: Expr, scope: str, context: Context, widths: set[int]) -> bool:
    """Tell whether an expression differs between lanes; add the bits of its parts that do."""
    if isinstance(e, Iter):
        inside = e.scope == scope
        if inside:
            widths.add(32)
        return inside
    if isinstance(e, Load):
        inside = any(scope in iterators(i) for i in e.indices)
    elif isinstance(e, Op):
        inside = sum(_varies(a, scope, context, widths) for a in e.args) > 0
    else:
        inside = isinstance(e, Cast) and _varies(e.arg, scope, context, widths)
    if not inside:
        return False
    dtype = context.dtype(e)
    if dtype.kind != "bool":
        narrow = isinstance(e, Op) and dtype.name == "i64" and _small(e, context)
        widths.add(32 if narrow else _bits(dtype, context))
    return True


def _small(e: Expr, context: Context) -> bool:
    """Tell whether an i64 fits 32 bits, as index arithmetic does."""
    found = context.forms.value(e).range
    return found is not None and found[0] >= -(1 << 31) and found[1] < 1 << 31


def _bits(dtype: DType, context: Context) -> int:
    """Bits of a lane: f16 and bf16 are computed as f32, but for f16 where the target has such lanes."""
    if context.target.half_lanes and dtype.name == "f16":
        return 16
    return 32 if dtype.is_float and dtype.bits == 16 else dtype.bits


# ---------------------------------------------------------------- sums over lanes


@dataclass(frozen=True, slots=True)
class Sums:
    """The reductions of a vector scope whose element is the same in all lanes.

    Attributes:
        statements: their names.
        home: the scope around which their accumulators live: the outermost one in which nothing else touches
            their element.
        why_not: why the lanes may not be summed separately, "" when they may.
    """

    statements: frozenset[str]
    home: str = ""
    why_not: str = ""


def sums(scope: Scope, around: tuple[Scope, ...], context: Context) -> Sums:
    """Return the sums over the lanes of `scope`, which stands inside the scopes `around`, outermost first."""
    found = [s for s in inner_statements(scope.body) if _uniform(s, scope.name, context)]
    if not found:
        return Sums(frozenset())
    names = frozenset(s.name for s in found)
    for s in found:
        reason = _why_in_order(s, scope, found, context)
        if reason:
            return Sums(names, why_not=reason)
    home = scope
    for outer in reversed(around):
        if home.mark == "stream" and "stream" in context.target.marks:
            # what its nest begins with and ends with is the nest's
            break
        apart = outer.mark not in ("parallel", "core") and all(
            not _why_in_order(s, outer, found, context) and _uniform(s, outer.name, context) for s in found
        )
        if not apart:
            break
        home = outer
    return Sums(names, home.name)


def _uniform(s: Statement, scope: str, context: Context) -> bool:
    """Tell whether a reduction works on the same element in all iterations of a scope."""
    if s.op == "=":
        return False
    strides = context.layouts[s.target.buffer].strides
    return all(
        not stride or scope not in iterators(i) for i, stride in zip(s.target.indices, strides, strict=True)
    )


def _why_in_order(s: Statement, scope: Scope, sums: list[Statement], context: Context) -> str:
    """Return why the iterations of a scope cannot be summed in any order, or ""."""
    buffer = s.target.buffer
    deciding = {load.buffer for i in s.target.indices for load in loads(i)}
    for other in inner_statements(scope.body):
        if other.target.buffer in deciding:
            return f"{other.name} writes {other.target.buffer}, which decides what {s.name} adds to"
        partner = other in sums and other.op == s.op
        if other.target.buffer == buffer and not partner:
            return f"{buffer} is written by {other.name} too"
        parts = (other.value, *other.target.indices, *(() if other.guard is None else (other.guard,)))
        if any(load.buffer == buffer for p in parts for load in loads(p)):
            return f"{buffer} is read by {other.name}"
    dtype = context.buffers[buffer].dtype
    if dtype.is_float and not context.allows("reassoc"):
        return f"{context.fp} keeps the order of {s.op}"
    assert OPS[REDUCTIONS[s.op]].arity == 2
    return ""
