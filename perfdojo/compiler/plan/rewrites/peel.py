"""Peel: one scope into two after another."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Literal, Node, Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.tree import copy_named, find, fresh, rebuild, shift, taken_names
from perfdojo.compiler.walk import const_int


def peel(program: Program, scope: str, at: int, again: int = 0) -> tuple[Program, str, str]:
    """Cut the range of a scope at `at`; return the program and the names of the two parts.

        i:N { B({i}) }   ->   i:at { B({i}) }
                              i_t:N-at { B({i_t}+at) }

    With `again` = a, the second part begins a iterations earlier and runs those a second time, so that a
    remainder can be as wide as a vector:

                         ->   i:at { B({i}) }
                              i_t:N-at+a { B({i_t}+at-a) }

    The second part and everything in it gets the suffix `_t`.

    1. 0 < at < N, 0 <= a <= at.
    2. (D) With a > 0: an iteration leaves the same values when it is run once more (`legal.repeatable`).
    """
    extent = const_int(find(program, scope).extent)
    if not 0 < at < extent:
        raise ValueError(f"peel: {at} is not inside the range of scope {scope}, 0 to {extent}")
    if not 0 <= again <= at:
        raise ValueError(f"peel: {again} iterations of scope {scope} cannot be repeated before {at}")
    start = at - again
    taken = taken_names(program)
    tail = fresh(f"{scope}_t", taken)
    index = iteration(tail, 1, start)

    def two(s: Scope) -> tuple[Node, ...]:
        body = copy_named(shift(s.body, {scope: index}), "_t", taken)
        rest = replace(s, name=tail, extent=Literal(extent - start, I64), body=body)
        return replace(s, extent=Literal(at, I64)), rest

    return rebuild(program, scope, two), scope, tail
