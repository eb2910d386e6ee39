"""Values in lanes: masks, splats, conversions, index arithmetic; what the target lacks is refused."""

from __future__ import annotations

from perfdojo.compiler.dtypes import BOOL, I32, I64, DType
from perfdojo.compiler.lowering.context import Context, Frame, NotVectorisableError
from perfdojo.compiler.lowering.linear import Linear, split
from perfdojo.compiler.lowering.lir import Call, Const, Value, VType


class LaneValues:
    """Makes values in lanes; raises NotVectorisableError for what the target has no operation for."""

    def __init__(self, context: Context) -> None:
        self.context, self.arena, self.target = context, context.arena, context.target

    # ------------------------------------------------------------ masks and lanes

    def need(self, op: str, dtype: DType, lanes: int) -> None:
        """Raise when the target has no such vector operation."""
        if not self.context.supports(op, dtype, lanes):
            raise NotVectorisableError(f"{self.target.name} has no {op} for {lanes} x {dtype}")

    def both(self, a: Value | None, b: Value | None) -> Value | None:
        """Return the mask `a and b`, None being all lanes."""
        if a is None or b is None or a is b:
            return a or b
        self.need("and", BOOL, a.type.lanes)
        return self.arena.call("and", (a, b), a.type)

    def negated(self, mask: Value) -> Value:
        """Return the mask of the other lanes."""
        if isinstance(mask, Call) and mask.op == "not":
            return mask.args[0]
        self.need("not", BOOL, mask.type.lanes)
        return self.arena.call("not", (mask,), mask.type)

    def spread(self, value: Value, lanes: int) -> Value:
        """Return `value` in `lanes` lanes."""
        if value.type.lanes == lanes:
            return value
        type = self.arena.type(value.type.dtype, lanes)
        if isinstance(value, Const):
            return self.arena.const(value.value, type)
        if value.type.dtype == BOOL:
            pair = (self.arena.const(True, type), self.arena.const(False, type))
            return self.arena.call("select", (value, *pair), type)
        self.need("splat", value.type.dtype, lanes)
        return self.arena.call("splat", (value,), type)

    def cast(self, value: Value, dtype: DType) -> Value:
        """Return the value converted by the rules of the language."""
        source = value.type.dtype
        if source == dtype:
            return value
        if isinstance(value, Const) and source.is_integer and dtype.is_integer:
            half = 1 << (dtype.bits - 1) if dtype.kind == "int" else 0
            wrapped = (int(value.value) + half) % (1 << dtype.bits) - half
            return self.arena.const(wrapped, self.arena.type(dtype, value.type.lanes))
        if value.type.lanes > 1:
            self.need(f"cast:{source}", dtype, value.type.lanes)
        return self.arena.call("cast", (value,), self.arena.type(dtype, value.type.lanes))

    def unified(self, args: list[Value], lanes: int, wide: bool) -> list[Value]:
        """Give the operands one element type (i64 lanes may be narrow) and all their lanes."""
        narrow = any(a.type.lanes > 1 and a.type.dtype == I32 for a in args)
        mixed = narrow and any(a.type.dtype == I64 for a in args)
        if mixed or (wide and narrow):
            scalars_fit = all(
                a.type.lanes > 1 or in_i32(self.arena.range(self.arena.linear(a))) for a in args
            )
            small = not wide and scalars_fit and all(a.type.lanes == 1 or a.type.dtype == I32 for a in args)
            args = [self.cast(a, I32 if small else I64) for a in args]
        return [self.spread(a, lanes) for a in args]

    # ------------------------------------------------------------ index arithmetic

    def range(self, form: Linear, frame: Frame) -> tuple[int, int]:
        """Return bounds of a linear form over all lanes."""
        step, rest = split(form, self.arena.lane_number)
        low, high = self.arena.range(rest)
        reach = step * (frame.lanes - 1)
        return low + min(reach, 0), high + max(reach, 0)

    def vector(self, form: Linear, dtype: DType, lanes: int) -> Value:
        """Return a linear form in lanes of type i32 or i64; sums wrap, so only the result has to fit."""
        step, rest = split(form, self.arena.lane_number)
        type = self.arena.type(dtype, lanes)
        varying = [(n, c) for n, c in rest.terms if self.arena.atom_value(n).type.lanes > 1]
        uniform = Linear(rest.const, tuple(t for t in rest.terms if t not in varying))
        parts: list[Value] = []
        if step:
            self.need("iota", dtype, lanes)
            parts.append(self._scaled(self.arena.call("iota", (), type), step, type))
        for number, coefficient in varying:
            parts.append(self._scaled(self.cast(self.arena.atom_value(number), dtype), coefficient, type))
        if uniform != Linear(0) or not parts:
            parts.append(self.spread(self._uniform(uniform, dtype), lanes))
        total = parts[0]
        for part in parts[1:]:
            self.need("add", dtype, lanes)
            total = self.arena.call("add", (total, part), type)
        return total

    def _uniform(self, form: Linear, dtype: DType) -> Value:
        if not form.terms:
            half = 1 << (dtype.bits - 1)
            return self.arena.const((form.const + half) % (2 * half) - half, self.arena.type(dtype))
        return self.cast(self.arena.offset(form), dtype)

    def _scaled(self, value: Value, factor: int, type: VType) -> Value:
        if factor == 1:
            return value
        self.need("mul", type.dtype, type.lanes)
        return self.arena.call("mul", (value, self.arena.const(factor, type)), type)


def in_i32(found: tuple[int, int]) -> bool:
    """Tell whether a range fits an i32."""
    return found[0] >= I32.smallest and found[1] <= I32.largest
