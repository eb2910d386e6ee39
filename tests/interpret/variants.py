"""Other implementations of a program that a floating-point level allows, and wrong ones that none allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.interpret import engine, interpret, run
from perfdojo.compiler.interpret.algebra import Change
from perfdojo.compiler.interpret.exact import Exact, absorbed
from perfdojo.compiler.interpret.storage import Storage
from perfdojo.compiler.ir import Expr, Iter, Literal, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import (
    const_int,
    dtype_of,
    iterators,
    map_expr,
    map_statement,
    map_statements,
    statements,
    subexpressions,
)

Array = NDArray[Any]
Result = dict[str, Array]


# ---------------------------------------------------------------- allowed


class _Pairwise(Exact):
    """Adds and multiplies the halves of a reduction first."""

    def update(
        self,
        storage: Storage,
        planes: list[Array],
        change: Change,
        value: Array,
        condition: Array | None,
        shape: tuple[int, ...],
    ) -> None:
        if not change.folded or change.op not in ("+=", "*=") or not storage.dtype.is_float:
            super().update(storage, planes, change, value, condition, shape)
            return
        if condition is not None:
            value = np.where(condition, value, absorbed(change.op, storage.dtype))
        ufunc: Any = np.add if change.op == "+=" else np.multiply
        terms = np.broadcast_to(value, shape).reshape((*shape[: len(shape) - change.folded], -1))
        while terms.shape[-1] > 1:
            half = terms.shape[-1] // 2
            rest = terms[..., 2 * half :]
            terms = np.concatenate([ufunc(terms[..., :half], terms[..., half : 2 * half]), rest], axis=-1)
        (target,) = planes
        target[...] = ufunc(target, terms.reshape(target.shape))


def pairwise(program: Program, inputs: Mapping[str, Array], patch: pytest.MonkeyPatch) -> Result:
    """Interpret with every reduction as a tree of halves."""
    with patch.context() as changed:
        changed.setattr(engine, "WIDE", 1 << 60)
        changed.setattr(run, "Exact", _Pairwise)
        return interpret(program, inputs)


def fused(program: Program) -> Program:
    """Contract every product that is added to something, in expressions and in reductions."""

    def contract(e: Expr) -> Expr:
        if not isinstance(e, Op) or e.op not in ("add", "sub"):
            return e
        a, b = e.args
        if _is_product(a, program):
            return Op("fma", (*_factors(a), b if e.op == "add" else Op("neg", (b,))))
        if _is_product(b, program):
            first, second = _factors(b)
            return Op("fma", (first if e.op == "add" else Op("neg", (first,)), second, a))
        return e

    def absorb(s: Statement) -> Statement:
        s = map_statement(contract, s)
        if s.op == "+=" and _is_product(s.value, program):
            s = replace(s, op="=", value=Op("fma", (*_factors(s.value), s.target)))
        return s

    # A sum that starts implicitly would not, once it is an assignment.
    return replace(program, body=map_statements(absorb, explicit_starts(program).body))


def _is_product(e: Expr, program: Program) -> bool:
    return isinstance(e, Op) and e.op == "mul" and dtype_of(e, program).is_float


def _factors(e: Expr) -> tuple[Expr, Expr]:
    assert isinstance(e, Op)
    return e.args[0], e.args[1]


def reversed_sums(program: Program) -> Program:
    """Run every scope that only accumulates from its last iteration to its first."""

    def reverse(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(_reversed(n) if isinstance(n, Scope) else n for n in body)

    def _reversed(scope: Scope) -> Scope:
        inner = reverse(scope.body)
        only = inner[0] if len(inner) == 1 else None
        while isinstance(only, Scope) and len(only.body) == 1:
            only = only.body[0]
        if not isinstance(only, Statement) or only.op == "=":
            return replace(scope, body=inner)
        if scope.name in set[str]().union(*map(iterators, only.target.indices)):
            return replace(scope, body=inner)
        last = Literal(const_int(scope.extent) - 1, I64)
        flip = {scope.name: Op("sub", (last, Iter(scope.name)))}

        def change(e: Expr) -> Expr:
            return flip.get(e.scope, e) if isinstance(e, Iter) else e

        return replace(scope, body=map_statements(lambda s: map_statement(change, s), inner))

    return replace(program, body=reverse(program.body))


def reciprocals(program: Program) -> Program:
    """Multiply with a reciprocal instead of dividing."""

    def change(e: Expr) -> Expr:
        if not isinstance(e, Op) or e.op != "div":
            return e
        one = Literal(1.0, dtype_of(e, program))
        return Op("mul", (e.args[0], Op("div", (one, e.args[1]))))

    return replace(program, body=map_statements(lambda s: map_statement(change, s), program.body))


# ---------------------------------------------------------------- wrong


def dropped_terms(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the program without one term of each sum of floats, the one in the middle of its inner scope."""
    for around, statement in statements(program):
        if statement.op != "+=" or not program.buffer(statement.target.buffer).dtype.is_float:
            continue
        used = set[str]().union(*map(iterators, statement.target.indices))
        summed = [s for s in around if s.name not in used and const_int(s.extent) > 1]
        if not summed:
            continue
        scope = summed[-1]
        middle = Literal(const_int(scope.extent) // 2, I64)
        guard: Expr = Op("ne", (Iter(scope.name), middle))
        if statement.guard is not None:
            guard = Op("and", (guard, statement.guard))
        yield statement.name, _replaced(program, statement, replace(statement, guard=guard))


def neighbours_read(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the program with one load of a float input that reads the neighbour along its last dimension."""
    for _, statement in statements(program):
        for load in subexpressions(statement.value):
            if not isinstance(load, Load) or program.buffer(load.buffer).role != "in":
                continue
            buffer = program.buffer(load.buffer)
            for d in reversed(range(len(buffer.shape))):
                extent = const_int(buffer.shape[d])
                if extent == 1 or not buffer.dtype.is_float:
                    continue
                next_ = Op("add", (load.indices[d], Literal(1, I64)))
                index = Op("min", (next_, Literal(extent - 1, I64)))
                indices = (*load.indices[:d], index, *load.indices[d + 1 :])
                moved = replace(load, indices=indices)
                value = map_expr(partial(_swap, load, moved), statement.value)
                changed = replace(statement, value=value)
                yield f"{statement.name}: {load.buffer}", _replaced(program, statement, changed)
                break


def _swap(old: Expr, new: Expr, e: Expr) -> Expr:
    return new if e is old else e


def _replaced(program: Program, old: Statement, new: Statement) -> Program:
    return replace(program, body=map_statements(lambda s: new if s is old else s, program.body))


def off_by_ulps(result: Array, place: tuple[int, ...], ulps: int) -> Array:
    """Return a copy with one float moved by that many units in the last place, away from zero."""
    changed = result.copy()
    bits = changed.view(f"i{changed.dtype.itemsize}")
    bits[place] += ulps
    return changed
