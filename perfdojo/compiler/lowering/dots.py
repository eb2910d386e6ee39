"""Sums of products of neighbours, for which targets have one instruction: scopes in lanes become `dot`.

    n@vector { k:4@unroll { s[n] += i32(a[k]) * i32(b[n,k]) } }

                      ->   s[0:16] = dot(s[0:16], a[0 + cycle:4 :64], b[0:64])

The four products of each lane are exact in i32, and sums in i32 wrap: their order does not matter. What
adds products of bf16 takes subnormal factors and sums for 0, which level `fast` allows, and wants bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perfdojo.compiler.dtypes import BF16, BOOL, F32, I16, I32, DType
from perfdojo.compiler.ir import Cast, Load, Op, Program, Scope, Statement
from perfdojo.compiler.lowering.context import Frame, NotVectorisableError
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.linear import Linear, plus, split
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Stmt, Value
from perfdojo.compiler.lowering.statements import add_lane, written
from perfdojo.compiler.lowering.target import FpLevel, Target, at_least
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True, slots=True)
class Dot:
    """What an instruction sums up.

    Attributes:
        op: its name, see `lir.Call`.
        left, right: element types of the factors.
        result: element type of the sum.
        group: products that one lane adds to its sum.
        more: further sums that all with the same right factor share, where factors are made unsigned, see
            `biased`.
        level: floating-point level from which on it may take the place of products and sums.
    """

    op: str
    left: str
    right: str
    result: DType
    group: int
    more: int = 0
    level: FpLevel = "strict"


DOTS = (
    Dot("dot:i8", "i8", "i8", I32, 4, more=1),
    Dot("dot:u8", "u8", "i8", I32, 4),
    Dot("dot:bf16", "bf16", "bf16", F32, 2, level="fast"),
)


def dot_of(s: Statement, dtype: Callable[[Load], DType]) -> tuple[Dot, Load, Load] | None:
    """Return the instruction that a statement is one product of, with its factors in order; else None.

    `dtype` tells the element type of an access.
    """
    value = s.value
    if s.op != "+=" or s.guard is not None or not isinstance(value, Op) or value.op != "mul":
        return None
    factors = [a.arg for a in value.args if isinstance(a, Cast) and isinstance(a.arg, Load)]
    if len(factors) < 2 or any(a.dtype != dtype(s.target) for a in value.args if isinstance(a, Cast)):
        return None
    first, second = (f for f in factors if isinstance(f, Load))
    for d in DOTS:
        for left, right in ((first, second), (second, first)):
            if (dtype(left).name, dtype(right).name, dtype(s.target)) == (d.left, d.right, d.result):
                return d, left, right
    return None


def has_dots(program: Program, target: Target, fp: FpLevel) -> bool:
    """Tell whether a target has an instruction that some statement is one product of."""
    for place in program.statements.values():
        found = dot_of(place.node, lambda e: program.buffer(e.buffer).dtype)
        if found is None or not at_least(fp, found[0].level):
            continue
        lanes = target.vector_bits // found[0].result.bits
        if target.supports(found[0].op, found[0].result, lanes):
            return True
    return False


def dots(scope: Scope, frame: Frame, expressions: Expressions) -> list[Stmt] | None:
    """Return the code of a scope inside of one in lanes as dot products; None where it is none."""
    s = scope.body[0]
    if not frame.parts or len(scope.body) != 1 or not isinstance(s, Statement):
        return None
    context = expressions.context
    found = dot_of(s, lambda e: context.buffers[e.buffer].dtype)
    if found is None:
        return None
    dot, *factors = found
    if const_int(scope.extent) != dot.group or not context.allows(dot.level):
        return None
    if not context.supports(dot.op, dot.result, frame.lanes):
        return None
    out = []
    for part in frame.parts:
        lane = expressions.arena.atom(expressions.arena.lane)
        env = {**frame.env, frame.vector: add_lane(part.base, lane)}
        maker = _Maker(dot, scope, frame.at(env, part), expressions)
        values = maker.factors(s, *factors)
        if values is None:
            return None
        out.append(maker.code(s, *values))
    return out


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the dot products of one vector of sums."""

    dot: Dot
    scope: Scope
    frame: Frame
    expressions: Expressions

    def factors(self, s: Statement, left: Load, right: Load) -> tuple[Value, Value] | None:
        """Return both factors in lanes; None where their elements, or those of the sum, are no neighbours."""
        arena, where = self.expressions.arena, self._neighbours(s.target, 0)
        if where is None:
            return None
        step, rest = split(where, arena.lane_number)
        if step != 1 or arena.in_lanes(rest):
            return None
        # what changes the signs of a factor is better done to the one that fewer vectors share
        values = [self._factor(x) for x in (left, right)]
        if self.dot.left == self.dot.right and _in_turn(values[1]):
            values.reverse()
        if values[0] is None or values[1] is None or (_in_turn(values[0]) and _in_turn(values[1])):
            return None
        return values[0], values[1]

    def code(self, s: Statement, left: Value, right: Value) -> Stmt:
        """Return the store of the sum."""

        def summed(old: Value) -> Value:
            return self.expressions.arena.call(self.dot.op, (old, left, right), old.type)

        return written(s, self._at(0), self.expressions, self.frame.parts[0].mask, summed)

    def _neighbours(self, e: Load, step: int) -> Linear | None:
        """Return the offset of an access in the first iteration, where `step` is that to the next ones."""
        first, *others = (
            self.expressions.address(e, self._at(k), None) for k in range(const_int(self.scope.extent))
        )
        same = all(w == plus(first, Linear(step * k)) for k, w in enumerate(others, 1))
        return first if same else None

    def _at(self, iteration: int) -> Frame:
        return self.frame.at({**self.frame.env, self.scope.name: Linear(iteration)})

    def _factor(self, e: Load) -> Value | None:
        """Return the elements of a factor: those of each lane one after the other, or the same in each."""
        arena, group, where = self.expressions.arena, self.dot.group, self._neighbours(e, 1)
        if where is None:
            return None
        dtype = factor_type(self.expressions.context.buffers[e.buffer].dtype)
        lanes = group * self.frame.lanes
        step, rest = split(where, arena.lane_number)
        if arena.in_lanes(rest) or step not in (0, group):
            return None
        type, at = arena.type(dtype, lanes), arena.offset(rest)
        if not step:
            self.expressions.need(f"cycle:{group}", dtype, lanes)
            return arena.load(e.buffer, at, type, None, self._cycle(group, lanes))
        mask = self._mask(lanes)
        self.expressions.need("load" if mask is None else "masked_load", dtype, lanes)
        # what is no value of the buffer's type must not be taken for one: nothing is known of gathers
        bits = dtype != self.expressions.context.buffers[e.buffer].dtype
        return arena.load(e.buffer, at, type, mask, self._cycle(lanes, lanes) if bits else None)

    def _cycle(self, group: int, lanes: int) -> Value:
        return self.expressions.arena.call(f"cycle:{group}", (), self.expressions.arena.type(I32, lanes))

    def _mask(self, lanes: int) -> Value | None:
        """Return the mask of the elements of the lanes that there are."""
        mask, arena = self.frame.parts[0].mask, self.expressions.arena
        if mask is None:
            return None
        if not (isinstance(mask, Call) and mask.op == "first" and isinstance(mask.args[0], Const)):
            raise NotVectorisableError("neighbours are multiplied under a condition of each lane")
        self.expressions.need("first", BOOL, lanes)
        count = arena.const(int(mask.args[0].value) * self.dot.group, INDEX)
        return arena.call("first", (count,), arena.type(BOOL, lanes))


def factor_type(dtype: DType) -> DType:
    """Return the type in which a factor is loaded."""
    return I16 if dtype == BF16 else dtype


def _in_turn(value: Value | None) -> bool:
    """Tell whether the groups of a factor are all the same."""
    where = getattr(value, "lane_offset", None)
    return isinstance(where, Call) and where.op != f"cycle:{where.type.lanes}"
