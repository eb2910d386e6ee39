"""Stage packed: what a loop nest reads of a buffer is copied into the order in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Node, Program, Scope, Statement
from perfdojo.compiler.tree import Body, edit_body, extents, fresh, taken_names
from perfdojo.compiler.walk import iterators, map_statement, map_statements, substitute


def stage_packed(
    program: Program, parent: Sequence[Scope], child: str, load: Load, order: Sequence[str]
) -> tuple[Program, str]:
    """Copy what `load` names before the scope `child` and read the copy; return the name of the copy, too.

        n:N { j:J { k:K { U(x[{k},{j}]) } } }
          ->  n:N { j_p:J { k_p:K { x_pack[{n},{j_p},{k_p}] = x[{k_p},{j_p}] } }
                    j:J { k:K { U(x_pack[{n},{j},{k}]) } } }

    The dimensions of the copy are the scopes `order`; before them stands one for each scope of `parent`, the
    scopes around `child`, which is not materialised.

    1. `order` are the scopes in `child`, itself included, on which the indices of `load` depend.
    2. (D) Nothing in `child` writes x.
    3. `load` happens in every iteration: it stands under no condition that could keep it from its bounds.
    """
    scope = _child(program, parent, child)
    sizes = extents((scope,))
    used: set[str] = set().union(*(iterators(i) for i in load.indices))
    if used - {s.name for s in parent} != set(order):
        raise ValueError(f"pack: {load.buffer} is read along other scopes than {', '.join(order)}")
    taken = taken_names(program)
    name = fresh(f"{load.buffer}_pack", taken)
    outer = tuple(Iter(s.name) for s in parent)
    shape = (*(s.extent for s in parent), *(Literal(sizes[s], I64) for s in order))
    copy = Buffer(name, "tmp", program.buffer(load.buffer).dtype, shape, reuse=tuple(range(len(parent))))
    here: dict[str, Expr] = {s: Iter(fresh(f"{s}_p", taken)) for s in order}
    target = Load(name, (*outer, *here.values()))
    value = Load(load.buffer, tuple(substitute(i, here) for i in load.indices))
    node: Node = Statement(fresh(name, taken - {name}), target, "=", value)
    for s, it in reversed(here.items()):
        assert isinstance(it, Iter)
        node = Scope(it.scope, Literal(sizes[s], I64), (node,))
    packed = Load(name, (*outer, *(Iter(s) for s in order)))

    def read_copy(e: Expr) -> Expr:
        return packed if e == load else e

    def insert(body: Body) -> Body:
        position = next(n for n, at in enumerate(body) if at.name == child)
        changed = replace(scope, body=map_statements(lambda s: map_statement(read_copy, s), scope.body))
        return (*body[:position], node, changed, *body[position + 1 :])

    program = replace(program, buffers=(*program.buffers, copy))
    return edit_body(program, parent[-1].name if parent else None, insert), name


def _child(program: Program, parent: Sequence[Scope], child: str) -> Scope:
    body = parent[-1].body if parent else program.body
    for node in body:
        if isinstance(node, Scope) and node.name == child:
            return node
    raise ValueError(f"pack: no scope {child} stands there")
