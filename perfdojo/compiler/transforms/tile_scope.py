"""Tile scope: one scope into two nested ones (split, strip-mine)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from perfdojo.compiler.analysis.touches import repeatable
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Literal, Op, Program, Scope
from perfdojo.compiler.linear import expression, iteration
from perfdojo.compiler.transforms._kept import copied_private
from perfdojo.compiler.transforms._marks import SEQUENTIAL
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    made,
    no_free_name,
    no_scope,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import copy_named, guarded, rebuild, shift, taken_names
from perfdojo.compiler.walk import const_int

FACTORS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Menu of block sizes: what register tiles, vectors and caches ask for."""


@dataclass(frozen=True, slots=True)
class TileScope(Transform):
    """Split a scope into blocks of `factor` iterations.

        tile_scope i f
        i:N { B({i}) }   ->   i_o:N/f { i_i:f { B({i_o}*f+{i_i}) } }

        tile_scope i f remainder peel
        i:N { B({i}) }   ->   i_o:N//f { i_i:f { B({i_o}*f+{i_i}) } }
                              i_t:N%f { B_t({i_t}+N//f*f) }

        tile_scope i f remainder mask
        i:N { B({i}) }   ->   i_o:ceil(N/f) { i_i:f { B({i_o}*f+{i_i}) if {i_o}*f+{i_i} < N } }

        tile_scope i f remainder again
        i:N { B({i}) }   ->   i_o:N//f { i_i:f { B({i_o}*f+{i_i}) } }
                              i_t:f { B_t({i_t}+N-f) }

        try tile_scope k f over n
        the same where k has more than n iterations, so that one schedule serves all sizes

    Where f divides N all four are the first. With `again` the tail is as wide as a block, as it runs
    iterations of the last block once more. The mark of i stays on i_o (and on the tail).

    0. i is a scope, and the new names are free.
    1. 1 <= f <= N.
    2. f divides N, or a remainder is asked for.
    3. With a mask: i_o is not marked, as a guard could leave an iteration out.
    4. With a tail: nothing is private to i or to a scope in it that runs concurrently or in lanes.
    5. (D) With `again`: an iteration may run twice, as it writes every element before it uses it.
    6. i has more than `over` iterations, if that is given.
    """

    aliases = ("split", "divide_loop", "strip_mine")

    scope: str = arg("scope")
    factor: int = arg("int", lowest=1)
    remainder: OneOf["exact", "peel", "mask", "again"] = arg(
        "word", "remainder", default="exact", choices=("exact", "peel", "mask", "again")
    )
    over: int = arg("int", "over", default=0)
    names: tuple[str, ...] = new(3)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[TileScope]:
        for name, place in program.scopes.items():
            extent = const_int(place.node.extent)
            peelable = any(extent % f and f < extent for f in FACTORS) and not copied_private(program, name)
            for factor in FACTORS:
                if factor > extent:
                    break
                if extent % factor == 0:
                    yield cls(name, factor)
                elif factor < extent:
                    if peelable:
                        yield cls(name, factor, "peel")
                    if not place.node.mark:
                        yield cls(name, factor, "mask")

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.scope)
        yield from no_free_name(program, self.names)
        extent = extent_of(program, self.scope)
        if not 1 <= self.factor <= extent:
            reason = f"a block of {self.factor} does not fit the extent {extent} of scope {self.scope}"
            hint = f"factors are 1 to {extent}; for schedules that carry over, 'try' leaves a step out"
            yield Violation(1, reason, hint)
        if extent % self.factor and self.remainder == "exact":
            reason = f"{self.factor} does not divide the extent {extent} of scope {self.scope}"
            yield Violation(2, reason, "add 'remainder peel' or 'remainder mask'")
        if extent % self.factor and self.remainder == "mask" and program.scopes[self.scope].node.mark:
            yield Violation(3, f"scope {self.scope} is marked @{program.scopes[self.scope].node.mark}")
        if extent % self.factor and self.remainder in ("peel", "again"):
            private = copied_private(program, self.scope)
            if private is not None:
                marked, reason = private
                yield Violation(4, reason, SEQUENTIAL.format(marked))
        twice = extent % self.factor > 0 and self.remainder == "again"
        if twice and not repeatable(program.scopes[self.scope].node):
            reason = f"an iteration of scope {self.scope} cannot run twice: it uses what it writes later"
            yield Violation(5, reason, "take 'remainder peel'")
        if extent <= self.over:
            yield Violation(6, f"scope {self.scope} has {extent} iterations, not over {self.over}")

    def rewrite(self, program: Program) -> Program:
        extent, f = extent_of(program, self.scope), self.factor
        taken = taken_names(program)
        taken.update(self.names)
        outer, inner = (made(self.names, n, f"{self.scope}_{end}", taken) for n, end in enumerate("oi"))
        index = iteration(outer, f).plus(iteration(inner))
        full = extent // f
        masked = self.remainder == "mask" and extent % f > 0

        def blocks(s: Scope) -> Iterator[Scope]:
            body = shift(s.body, {s.name: index})
            if masked:
                inside = Op("lt", (expression(index), Literal(extent, I64)))
                body = guarded(body, inside)
            block = Scope(inner, Literal(f, I64), body)
            yield replace(s, name=outer, extent=Literal(full + masked, I64), body=(block,))
            if self.remainder in ("peel", "again") and extent % f:
                yield self._tail(s, full * f if self.remainder == "peel" else extent - f, taken)

        return rebuild(program, self.scope, blocks)

    def _tail(self, s: Scope, start: int, taken: set[str]) -> Scope:
        tail = made(self.names, 2, f"{s.name}_t", taken)
        body = copy_named(shift(s.body, {s.name: iteration(tail, 1, start)}), "_t", taken)
        return replace(s, name=tail, extent=Literal(const_int(s.extent) - start, I64), body=body)


TRANSFORM = TileScope
