"""Join scopes: two that stand one behind the other become one (fuse)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.order import least_shift, reversed_by_join
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Expr, Iter, Literal, Node, Op, Program, Scope
from perfdojo.compiler.linear import iteration
from perfdojo.compiler.transforms._kept import untrue_mark
from perfdojo.compiler.transforms._marks import SEQUENTIAL
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    legal,
    no_free_name,
    no_scope,
    siblings,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import Body, edit_body, guarded, shift

FARTHEST = 8
"""Menu: the largest shift, and the largest difference of extents."""


@dataclass(frozen=True, slots=True)
class JoinScopes(Transform):
    """Let two scopes that stand one behind the other run in one; a shift delays the second.

        join_scopes i j
        i:N { A({i}) }  j:N { B({j}) }   ->   i:N { A({i}) B({i}) }

        join_scopes i j shift s
        i:N { A({i}) }  j:M { B({j}) }   ->   i:max(N,M+s) { A({i}) if {i} < N
                                                             B({i}-s) if {i} >= s and {i} < M+s }

    Conditions stand only where an iteration would leave the range; `peel_scope` and `simplify_conditions`
    cut them off. The result keeps the name of i, or gets a new one.

    0. i and j are scopes, and the new name is free.
    1. j stands directly behind i.
    2. s < N: the two share an iteration.
    3. (D) No two accesses to one element, one of them writing, change places: what iteration t of j needs, or
       destroys, was made, or used, by iteration t + s of i or an earlier one. Reductions with one sign may:
       those of integers always, those of floats at reassoc.
    4. Both have the same mark, and it stays true.
    """

    aliases = ("fuse", "merge_loops", "join")

    first: str = arg("scope")
    second: str = arg("scope")
    shift: int = arg("int", "shift", default=0)
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        for name, place in program.scopes.items():
            body, behind = siblings(program, name), place.position + 1
            second = body[behind] if behind < len(body) else None
            if not isinstance(second, Scope) or second.mark != place.node.mark:
                continue
            n, m = extent_of(program, name), extent_of(program, second.name)
            if abs(n - m) > FARTHEST:
                continue
            least = least_shift(program, name, second.name, setting.allows("reassoc"))
            if least <= min(FARTHEST, (n - 1) // 2):
                move = cls(name, second.name, least)
                yield from legal((move,), program, setting) if second.mark else (move,)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_scope(program, self.first, self.second)
        yield from no_free_name(program, self.names)
        first, second = program.scopes[self.first], program.scopes[self.second]
        if first.around != second.around or first.position + 1 != second.position:
            reason = f"scope {self.second} does not stand directly behind scope {self.first}"
            yield Violation(1, reason, "swap_siblings and fission_scope bring nodes together")
        extent = extent_of(program, self.first)
        if self.shift >= extent:
            reason = f"shifted by {self.shift}, scope {self.second} shares none of the {extent} iterations"
            yield Violation(2, f"{reason} of scope {self.first}")
        reorders = setting.allows("reassoc")
        clash = reversed_by_join(program, self.first, self.second, self.shift, reorders)
        if clash is not None:
            least = least_shift(program, self.first, self.second, reorders)
            yield Violation(3, str(clash), f"the least shift is {least}: add 'shift {least}'")
        yield from self._marks(program)

    def _marks(self, program: Program) -> Iterator[Violation]:
        one, two = (program.scopes[n].node.mark for n in (self.first, self.second))
        if one != two:
            marked = self.first if one else self.second
            marks = " and ".join(f"@{m}" if m else "unmarked" for m in (one, two))
            reason = f"scopes {self.first} and {self.second} run in different ways, {marks}"
            yield Violation(4, reason, SEQUENTIAL.format(marked))
        reason = untrue_mark(self.rewrite(program), *(self.names or (self.first,))) if one else ""
        if reason:
            yield Violation(4, reason, SEQUENTIAL.format(self.first))

    def rewrite(self, program: Program) -> Program:
        first = program.scopes[self.first]
        parent = first.around[-1].name if first.around else None
        n, m, s = extent_of(program, self.first), extent_of(program, self.second), self.shift
        name = self.names[0] if self.names else self.first
        whole = max(n, m + s)

        def part(scope: Scope, start: int, stop: int) -> Body:
            renamed = {scope.name: iteration(name, 1, -start)}
            body = scope.body if scope.name == name and start == 0 else shift(scope.body, renamed)
            inside = _inside(name, start, stop, whole)
            return body if inside is None else guarded(body, inside)

        def joined(body: Body) -> Iterator[Node]:
            at = first.position
            one, two = body[at], body[at + 1]
            assert isinstance(one, Scope)
            assert isinstance(two, Scope)
            yield from body[:at]
            mark = one.mark if one.mark == two.mark else ""
            both = (*part(one, 0, n), *part(two, s, m + s))
            yield replace(one, name=name, extent=Literal(whole, I64), mark=mark, body=both)
            yield from body[at + 2 :]

        return edit_body(program, parent, joined)


def _inside(scope: str, start: int, stop: int, extent: int) -> Expr | None:
    """Return the condition start <= iteration < stop, as far as the extent leaves it open."""
    lower = Op("ge", (Iter(scope), Literal(start, I64))) if start > 0 else None
    upper = Op("lt", (Iter(scope), Literal(stop, I64))) if stop < extent else None
    return Op("and", (lower, upper)) if lower and upper else lower or upper


TRANSFORM = JoinScopes
