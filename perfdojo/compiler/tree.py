"""Edits of the tree that all rewrites share: find, replace, copy under new names, substitute iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from perfdojo.compiler.ir import Expr, Iter, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.linear import Linear, iteration, shifted
from perfdojo.compiler.walk import const_int, map_statement

Body = tuple[Node, ...]


def path(program: Program, name: str) -> tuple[Scope, ...]:
    """Return the scopes around the scope `name` and itself, outermost first; KeyError when there is none."""
    found = _path(program.body, name)
    if found is None:
        raise KeyError(f"no scope is called {name}")
    return found


def _path(body: Body, name: str) -> tuple[Scope, ...] | None:
    for node in body:
        if not isinstance(node, Scope):
            continue
        if node.name == name:
            return (node,)
        deeper = _path(node.body, name)
        if deeper is not None:
            return (node, *deeper)
    return None


def find(program: Program, name: str) -> Scope:
    """Return the scope called `name`; KeyError when there is none."""
    return path(program, name)[-1]


def siblings(program: Program, name: str) -> Body:
    """Return the body that holds the scope `name`."""
    around = path(program, name)
    return around[-2].body if len(around) > 1 else program.body


def rebuild(program: Program, name: str, fn: Callable[[Scope], Iterable[Node]]) -> Program:
    """Return the program with the scope `name` replaced by the nodes `fn` makes of it."""
    body = _rebuild(program.body, name, fn)
    if body is None:
        raise KeyError(f"no scope is called {name}")
    return Program(program.name, program.sizes, program.buffers, body, program.source)


def _rebuild(body: Body, name: str, fn: Callable[[Scope], Iterable[Node]]) -> Body | None:
    for n, node in enumerate(body):
        if not isinstance(node, Scope):
            continue
        if node.name == name:
            return (*body[:n], *fn(node), *body[n + 1 :])
        inner = _rebuild(node.body, name, fn)
        if inner is not None:
            return (*body[:n], with_body(node, inner), *body[n + 1 :])
    return None


def with_body(scope: Scope, body: Body) -> Scope:
    """Return the scope with another body."""
    return Scope(scope.name, scope.extent, body, scope.mark, scope.span)


def edit_body(program: Program, parent: str | None, fn: Callable[[Body], Iterable[Node]]) -> Program:
    """Return the program with the body of scope `parent`, or of the program, replaced by `fn` of it."""
    if parent is None:
        return replace(program, body=tuple(fn(program.body)))
    return rebuild(program, parent, lambda s: (with_body(s, tuple(fn(s.body))),))


def nodes(body: Iterable[Node]) -> Iterable[Node]:
    """Yield every scope and statement of `body` in textual order."""
    for node in body:
        yield node
        if isinstance(node, Scope):
            yield from nodes(node.body)


def extents(body: Iterable[Node]) -> dict[str, int]:
    """Return the extent of every scope in `body`, by name."""
    return {n.name: const_int(n.extent) for n in nodes(body) if isinstance(n, Scope)}


def taken_names(program: Program) -> set[str]:
    """Return all names in use: kernel, sizes, buffers, scopes, statements."""
    named = {program.name, *(b.name for b in program.buffers), *(s.name for s in program.sizes)}
    todo = list(program.body)
    for (
        node
    ) in todo:  # a list that grows: asked for at every step of a plan, several times faster than `nodes`
        named.add(node.name)
        if isinstance(node, Scope):
            todo += node.body
    return named


def fresh(name: str, taken: set[str]) -> str:
    """Return `name`, or `name_2`, `name_3`, ..., whichever is free first, and take it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free


def shift(body: Body, values: Mapping[str, Linear]) -> Body:
    """Replace iterators by linear forms in all statements of `body`."""
    out: list[Node] = []
    for n in body:
        if isinstance(n, Scope):
            out.append(with_body(n, shift(n.body, values)))
            continue
        target = shifted(n.target, values)
        assert isinstance(target, Load)
        guard = None if n.guard is None else shifted(n.guard, values)
        out.append(Statement(n.name, target, n.op, shifted(n.value, values), guard, n.span))
    return tuple(out)


def guarded(body: Body, condition: Expr) -> Body:
    """Return the body with every statement under one more condition; it is asked before the old one."""

    def node(n: Node) -> Node:
        if isinstance(n, Scope):
            return with_body(n, tuple(map(node, n.body)))
        guard = condition if n.guard is None else Op("and", (condition, n.guard))
        return replace(n, guard=guard)

    return tuple(map(node, body))


def rename(program: Program, scope: str, name: str) -> Program:
    """Return the program with a scope called `name` instead."""
    return rebuild(
        program, scope, lambda s: (replace(s, name=name, body=shift(s.body, {scope: iteration(name)})),)
    )


def copy_named(body: Body, suffix: str, taken: set[str]) -> Body:
    """Return a copy of `body` whose scopes and statements are called `<name><suffix>`, made unique."""
    renamed: dict[str, Expr] = {}

    def fn(e: Expr) -> Expr:
        return renamed.get(e.scope, e) if isinstance(e, Iter) else e

    def node(n: Node) -> Node:
        name = fresh(n.name + suffix, taken)
        if isinstance(n, Statement):
            return replace(map_statement(fn, n), name=name)
        renamed[n.name] = Iter(name)
        return replace(n, name=name, body=tuple(node(c) for c in n.body))

    return tuple(node(n) for n in body)
