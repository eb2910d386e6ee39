"""May a rewrite be made: structural tests of independence on linear indices; they err on the safe side.

Two accesses to a buffer are separated by a scope when some stored dimension tells its iterations apart: both
indices there move by the same step along the scope, are equal in the scopes around it, and what the scopes
inside it add stays below the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perfdojo.compiler.analysis.touches import Touch, reads, statements_in, touches, written
from perfdojo.compiler.ir import Expr, Iter, Load, Op, Program, Scope, Statement
from perfdojo.compiler.linear import Linear, linear
from perfdojo.compiler.lowering.target import FpLevel, at_least
from perfdojo.compiler.tree import Body, extents
from perfdojo.compiler.walk import const_int, loads, subexpressions, substitute


def conditional(statement: Statement) -> set[Load]:
    """Return the loads of a statement that only happen where a condition holds."""
    if statement.guard is not None:
        return set(reads(statement))
    under = [
        e.args[1:]
        for e in subexpressions(statement.value)
        if isinstance(e, Op) and e.op in ("select", "and", "or")
    ]
    return {load for args in under for a in args for load in loads(a)}


def separates(program: Program, scope: str, found: Iterable[Load], inner: Mapping[str, int]) -> bool:
    """Tell whether accesses in different iterations of `scope` never name the same storage.

    Args:
        found: accesses to one buffer.
        inner: extents of the scopes that may take any value; all others around `scope` have one value.
    """
    found = list(found)
    buffer = program.buffer(found[0].buffer)
    return any(
        _dimension_separates(scope, [linear(load.indices[d]) for load in found], inner)
        for d in range(len(buffer.shape))
        if d not in buffer.reuse
    )


def _dimension_separates(scope: str, indices: list[Linear | None], inner: Mapping[str, int]) -> bool:
    inside = frozenset(inner)
    step, fixed, low, high = 0, None, 0, 0
    for index in indices:
        if index is None or index.coefficient(scope) == 0:
            return False
        rest = index.without({scope})
        around = tuple(sorted(rest.without(inside).terms))
        start, stop = Linear(tuple(t for t in rest.terms if t[0] in inside), rest.const).span(inner)
        if fixed is None:
            step, fixed, low, high = index.coefficient(scope), around, start, stop
        if index.coefficient(scope) != step or around != fixed:
            return False
        low, high = min(low, start), max(high, stop)
    return high - low < abs(step)


def independent(program: Program, scope: Scope, ranged: Mapping[str, int] | None = None) -> bool:
    """Tell whether no iteration of `scope` depends on another one.

    Args:
        ranged: extents of scopes around it whose iterations count as different, too.
    """
    inner = {**extents(scope.body), **(ranged or {})}
    found = touches(scope.body)
    return all(
        separates(program, scope.name, [load for load, _ in found if load.buffer == buffer], inner)
        or is_local(program, buffer)
        for buffer in written(scope.body)
    )


def is_local(program: Program, buffer: str) -> bool:
    """Tell whether a `tmp` only hands values from one statement to the next ones in the same iteration.

    Every write is an unguarded `=`; every read stands behind such a write to the same indices, in the same
    body, with nothing but statements between. Statements that stand together are never taken apart.
    """
    if program.buffer(buffer).role != "tmp":
        return False
    return _local_in(program.body, buffer)


def _local_in(body: Body, buffer: str) -> bool:
    known: set[tuple[Expr, ...]] = set()
    for node in body:
        if isinstance(node, Scope):
            known = set()
            if not _local_in(node.body, buffer):
                return False
            continue
        if any(load.buffer == buffer and load.indices not in known for load in reads(node)):
            return False
        if node.target.buffer != buffer:
            continue
        if node.op != "=" or node.guard is not None:
            return False
        known = {node.target.indices}
    return True


def can_interchange(program: Program, outer: Scope) -> bool:
    """Tell whether `outer` may change places with the one scope in it."""
    (inner,) = outer.body
    assert isinstance(inner, Scope)
    return independent(program, outer) or independent(program, inner, {outer.name: const_int(outer.extent)})


def can_fission(program: Program, scope: Scope, cut: int) -> bool:
    """Tell whether `scope` may be distributed over its nodes before and behind position `cut`.

    What the two parts share must meet in equal iterations only; each part may depend on itself.
    """
    first, second = scope.body[:cut], scope.body[cut:]
    shared = {load.buffer for load, _ in touches(first)} & {load.buffer for load, _ in touches(second)}
    inner, found = extents(scope.body), touches(scope.body)
    return all(
        separates(program, scope.name, [load for load, _ in found if load.buffer == buffer], inner)
        for buffer in shared & written(scope.body)
    )


def can_join(program: Program, first: Scope, second: Scope) -> bool:
    """Tell whether two neighbours may become one scope, the second renamed to the first."""
    if first.extent != second.extent:
        return False
    inner = {**extents(first.body), **extents(second.body)}
    one, two = touches(first.body), touches(second.body)
    changed = written(first.body) | written(second.body)
    both = {load.buffer for load, _ in one} & {load.buffer for load, _ in two} & changed
    return all(_same_iteration(program, b, first, second, one, two, inner) for b in both)


def _same_iteration(
    program: Program,
    buffer: str,
    first: Scope,
    second: Scope,
    one: list[Touch],
    two: list[Touch],
    inner: Mapping[str, int],
) -> bool:
    """Conflicts on `buffer` are all between equal iterations of the two scopes."""
    values: dict[str, Expr] = {second.name: Iter(first.name)}
    renamed = [
        Load(buffer, tuple(substitute(i, values) for i in load.indices))
        for load, _ in two
        if load.buffer == buffer
    ]
    return separates(program, first.name, [load for load, _ in one if load.buffer == buffer] + renamed, inner)


def reductions_over(scope: Scope) -> list[Statement]:
    """Return the statements in `scope` whose target does not move with it."""
    out = []
    for s in statements_in(scope.body):
        indices = [linear(i) for i in s.target.indices]
        if all(i is not None and i.coefficient(scope.name) == 0 for i in indices):
            out.append(s)
    return out


def can_vectorize(program: Program, scope: Scope, fp: FpLevel) -> bool:
    """Tell whether the iterations of `scope` may run in lanes: independent, but for reductions at `reassoc`.

    A reduction that keeps its order (floats below `reassoc`) rules the scope out; integers wrap, so their
    order is free.
    """
    inner = extents(scope.body)
    found = touches(scope.body)
    reducing = {s.target.buffer: s for s in reductions_over(scope)}
    for buffer in written(scope.body):
        accesses = [load for load, _ in found if load.buffer == buffer]
        if separates(program, scope.name, accesses, inner) or is_local(program, buffer):
            continue
        statement = reducing.get(buffer)
        if statement is None or statement.op == "=" or len(accesses) != 1:
            return False
        if program.buffer(buffer).dtype.is_float and not at_least(fp, "reassoc"):
            return False
    return True
