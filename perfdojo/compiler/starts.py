"""Where reductions start: implicit starts become `=` statements, as docs/language.md defines them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, nan

from perfdojo.compiler.analysis.affine import Forms
from perfdojo.compiler.analysis.ranges import dtype_range
from perfdojo.compiler.dtypes import BOOL, DType
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.walk import const_int, iterators, statements, substitute

Place = Scope | Statement


def explicit_starts(program: Program) -> Program:
    """Return the bound program with each implicit start of a reduction written as a statement.

    The start stands directly before the outermost scope around the reduction that does not occur in
    its target's indices, inside copies of those inner scopes that do occur there; when every scope
    occurs, directly before the reduction itself. A guard keeps it inside the buffer where only the
    reduction's own guard did. Scopes and statements that are added are called `<name>_start`.
    A program without implicit starts comes back as it is.
    """
    found = implicit_starts(program)
    if not found:
        return program
    names = _names(program)
    buffers = {b.name: b for b in program.buffers}
    before: dict[tuple[type, str], list[Node]] = {}
    for scopes, statement in found:
        place, copied = start_place(scopes, statement)
        before.setdefault((type(place), place.name), []).append(
            _start(buffers, scopes, copied, statement, names)
        )
    return replace(program, body=tuple(_insert(program.body, before)))


def implicit_starts(program: Program) -> list[tuple[tuple[Scope, ...], Statement]]:
    """Return the reductions that start implicitly, each with its enclosing scopes, outermost first."""
    starting = {b.name for b in program.buffers if b.role in ("tmp", "out")}
    found = []
    for scopes, statement in statements(program):
        if statement.target.buffer not in starting:
            continue
        starting.discard(statement.target.buffer)
        if statement.op != "=":
            found.append((scopes, statement))
    return found


def start_place(scopes: tuple[Scope, ...], statement: Statement) -> tuple[Place, tuple[Scope, ...]]:
    """Return the node that the start of a reduction precedes, and the scopes it is wrapped in copies of."""
    used = set[str]().union(*map(iterators, statement.target.indices))
    for depth, scope in enumerate(scopes):
        if scope.name not in used:
            return scope, tuple(s for s in scopes[depth:] if s.name in used)
    return statement, ()


def neutral(op: str, dtype: DType) -> Literal:
    """Return the neutral element of the reduction `op` in `dtype`.

    Of floats it is infinite for max= and min=, NaN for maxnum= and minnum=.
    """
    value: float | int
    if op in ("+=", "*="):
        value = 0 if op == "+=" else 1
    elif op in ("maxnum=", "minnum="):
        value = nan
    elif dtype.is_float:
        value = -inf if op == "max=" else inf
    else:
        value = dtype.smallest if op == "max=" else dtype.largest
    if dtype.is_float:
        return Literal(float(value), dtype)
    return Literal(bool(value) if dtype == BOOL else int(value), dtype)


def _start(
    buffers: Mapping[str, Buffer],
    scopes: tuple[Scope, ...],
    copied: tuple[Scope, ...],
    statement: Statement,
    names: set[str],
) -> Node:
    renamed = {s.name: _fresh(f"{s.name}_start", names) for s in copied}
    iters: dict[str, Expr] = {old: Iter(new) for old, new in renamed.items()}
    target = replace(statement.target, indices=tuple(substitute(i, iters) for i in statement.target.indices))
    value = neutral(statement.op, buffers[target.buffer].dtype)
    guard = None
    if statement.guard is not None:
        extents = {renamed.get(s.name, s.name): const_int(s.extent) for s in scopes}
        guard = _inside(buffers, target, extents)
    name = _fresh(f"{statement.name}_start", names)
    node: Node = Statement(name, target, "=", value, guard, statement.span)
    # Lanes may add to one element; they may not all write it.
    reused = buffers[target.buffer].reuse
    apart = {i.scope for d, i in enumerate(target.indices) if isinstance(i, Iter) and d not in reused}
    for scope in reversed(copied):
        # A guard may be what kept concurrent iterations of the reduction apart; its start has none.
        concurrent = scope.mark == "parallel" or (scope.mark == "vector" and renamed[scope.name] in apart)
        kept = scope.mark == "unroll" or (concurrent and statement.guard is None)
        mark = scope.mark if kept else ""
        node = Scope(renamed[scope.name], scope.extent, (node,), mark, scope.span)
    return node


def _inside(buffers: Mapping[str, Buffer], target: Load, extents: Mapping[str, int]) -> Expr | None:
    """Return the condition that the indices lie in the buffer, None when they always do."""
    forms = Forms(extents, buffers)
    tests = []
    for index, size in zip(target.indices, buffers[target.buffer].shape, strict=True):
        (dtype, found, _), extent = forms.value(index), const_int(size)
        low, high = found or dtype_range(dtype)
        if low < 0:
            tests.append(Op("ge", (index, Literal(0, dtype))))
        if high >= extent:
            tests.append(Op("lt", (index, Literal(extent, dtype))))
    guard: Expr | None = None
    for test in tests:
        guard = test if guard is None else Op("and", (guard, test))
    return guard


def _insert(nodes: Iterable[Node], before: Mapping[tuple[type, str], list[Node]]) -> Iterator[Node]:
    for node in nodes:
        yield from before.get((type(node), node.name), ())
        if isinstance(node, Scope):
            body = tuple(_insert(node.body, before))
            yield node if body == node.body else replace(node, body=body)
        else:
            yield node


def _names(program: Program) -> set[str]:
    """All names in use: of scopes, statements, buffers, sizes and the kernel."""
    names = {program.name, *(b.name for b in program.buffers), *(s.name for s in program.sizes)}
    todo: list[Node] = list(program.body)
    while todo:
        node = todo.pop()
        names.add(node.name)
        if isinstance(node, Scope):
            todo.extend(node.body)
    return names


def _fresh(name: str, names: set[str]) -> str:
    """Return `name`, or `name_2`, `name_3`, ..., whichever is free first, and take it."""
    free, number = name, 2
    while free in names:
        free, number = f"{name}_{number}", number + 1
    names.add(free)
    return free
