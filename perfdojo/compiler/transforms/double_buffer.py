"""Double buffer: iterations use two halves of a temporary by turns; one is filled while the other is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.touches import touches, written
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import (
    CONCURRENT_MARKS,
    LANE_MARKS,
    Buffer,
    Expr,
    Literal,
    Load,
    Node,
    Op,
    Program,
    Scope,
)
from perfdojo.compiler.linear import Linear, expression, iteration
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    bytes_of,
    common_of,
    map_accesses,
    with_buffers,
)
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    extent_of,
    legal,
    no_buffer,
    no_scope,
)
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import Body, copy_named, guarded, nodes, rebuild, shift, taken_names
from perfdojo.compiler.verify import MAX_BYTES

HALVES = 2


@dataclass(frozen=True, slots=True)
class DoubleBuffer(Transform):
    """Give a temporary two halves that the iterations of a scope use by turns.

        double_buffer t by i
        tmp t: f64[M]
        i:N { F(t); y[{i}] = t[..] }   ->   tmp t: f64[2, M]
                                            i:N { F(t[{i}%2]); y[{i}] = t[{i}%2,..] }

        double_buffer t by i ahead
        i:N { t[..] = x({i}); U(t) }   ->   t[0,..] = x(0)
                                            i:N { t[({i}+1)%2,..] = x({i}+1) if {i}+1 < N; U(t[{i}%2]) }

    So what an iteration writes need not wait until the one before it has been used. With `ahead` a half is
    filled while the iteration before computes with the other one; the first is filled in front of the scope.

    0. t is a buffer and i a scope.
    1. t is a tmp that is accessed only inside i.
    2. i has no mark, and at least two iterations.
    3. (D) Each iteration of i writes the elements of t before it reads them.
    4. With `ahead`: one node of i's body fills t, before the others read it; it writes nothing else,
       reads nothing that i writes, and t is not private to a scope in it that runs concurrently or in lanes.
    5. t then takes at most 2^47 bytes.
    """

    aliases = ("ping_pong",)

    buffer: str = arg("buffer")
    scope: str = arg("scope", "by")
    ahead: bool = arg("flag", "ahead", default=False)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if "dma" not in setting.target.marks:
            return
        known = model(program)
        for b in program.buffers:
            if b.role == "tmp":
                moves = [cls(b.name, s.name, a) for s in common_of(known, b.name) for a in (False, True)]
                yield from legal(moves, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        yield from no_scope(program, self.scope)
        known, buffer, scope = model(program), program.buffer(self.buffer), program.scopes[self.scope].node
        if buffer.role != "tmp":
            yield Violation(1, f"{self.buffer} is an '{buffer.role}' buffer, whose shape the caller knows")
        if self.scope not in (s.name for s in common_of(known, self.buffer)):
            yield Violation(1, f"{self.buffer} is accessed outside scope {self.scope}")
        if scope.mark:
            yield Violation(2, f"scope {self.scope} is marked @{scope.mark}")
        if extent_of(program, self.scope) < HALVES:
            yield Violation(2, f"scope {self.scope} has one iteration")
        try:
            if not is_private(known, self.scope, self.buffer):
                reason = f"an iteration of {self.scope} can read what an earlier one wrote to {self.buffer}"
                yield Violation(3, reason)
        except Undecided:
            yield Violation(3, f"whether values of {self.buffer} cross iterations is open: {UNDECIDED}")
        if self.ahead:
            yield from self._filling(known.scopes[self.scope])
        if (size := bytes_of(self._halves(program))) > MAX_BYTES:
            yield Violation(5, f"{self.buffer} would take {size} bytes; the limit is 2^47")

    def _filling(self, scope: Scope) -> Iterator[Violation]:
        name = self.buffer
        users = [n for n in scope.body if _touches(n, name)]
        fill = users[0]
        if name not in written((fill,)) or any(name in written((n,)) for n in users[1:]):
            yield Violation(4, f"{name} is not filled by one node in the body of {self.scope}")
        if len(written((fill,))) > 1:
            others = sorted(written((fill,)) - {name})
            yield Violation(4, f"{fill.name}, which fills {name}, writes {others[0]} too")
        read = {load.buffer for load, writes in touches((fill,)) if not writes}
        if changed := sorted(read & written(scope.body)):
            yield Violation(
                4, f"{fill.name}, which fills {name}, reads {changed[0]}, which {self.scope} writes"
            )

        marked = (
            n for n in nodes((fill,)) if isinstance(n, Scope) and n.mark in CONCURRENT_MARKS | LANE_MARKS
        )
        if len(users) == 1 and (inner := next(marked, None)):
            yield Violation(
                4, f"{name} can be private to the iterations of {inner.name}, which is @{inner.mark}"
            )

    def _halves(self, program: Program) -> Buffer:
        b = program.buffer(self.buffer)
        return replace(
            b,
            shape=(Literal(HALVES, I64), *b.shape),
            order=(0, *(d + 1 for d in b.order)) if b.order else (),
            pad=(0, *b.pad) if b.pad else (),
            reuse=tuple(d + 1 for d in b.reuse),
        )

    def rewrite(self, program: Program) -> Program:
        extent = extent_of(program, self.scope)
        taken = taken_names(program)

        def parts(s: Scope) -> Iterator[Node]:
            body = list(s.body)
            fill = next(k for k, n in enumerate(body) if _touches(n, self.buffer))
            later = body[fill]
            body = list(self._by_turns(s.body, iteration(s.name)))
            if self.ahead:
                first = copy_named(shift((later,), {s.name: Linear()}), "_f", taken)
                yield from self._by_turns(first, Linear())
                following = iteration(s.name, 1, 1)
                condition = Op("lt", (expression(following), Literal(extent, I64)))
                moved = guarded(shift((later,), {s.name: following}), condition)
                (body[fill],) = self._by_turns(moved, following)
            yield replace(s, body=tuple(body))

        return with_buffers(rebuild(program, self.scope, parts), (self._halves(program),))

    def _by_turns(self, body: Body, turn: Linear) -> Body:
        """Return the body with accesses to the half of an iteration."""
        half = _half(turn)

        def wider(load: Load) -> Load:
            return replace(load, indices=(half, *load.indices))

        return map_accesses(body, self.buffer, wider)


def _touches(node: Node, buffer: str) -> bool:
    return any(load.buffer == buffer for load, _ in touches((node,)))


def _half(turn: Linear) -> Expr:
    if not turn.terms:
        return Literal(turn.const % HALVES, I64)
    return Op("mod", (expression(turn), Literal(HALVES, I64)))


TRANSFORM = DoubleBuffer
