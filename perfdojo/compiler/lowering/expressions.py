"""Expressions of the language -> values of the target IR, one lane or several."""

from __future__ import annotations

from perfdojo.compiler.analysis.affine import Affine, Division
from perfdojo.compiler.dtypes import BOOL, I32, I64, DType
from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Load, Op
from perfdojo.compiler.lowering.context import Frame, NotVectorisableError
from perfdojo.compiler.lowering.fuse import fused
from perfdojo.compiler.lowering.lane_values import LaneValues, in_i32
from perfdojo.compiler.lowering.linear import Linear, plus, split
from perfdojo.compiler.lowering.lir import FLAG, INDEX, Const, Value, children
from perfdojo.compiler.lowering.lir import Load as LoadValue
from perfdojo.compiler.ops import OPS


class Expressions(LaneValues):
    """Makes values of expressions inside a frame.

    `mask` arguments are the lanes in which an expression is evaluated (None: all): an access that could
    leave its buffer in the other lanes is masked.
    """

    # ------------------------------------------------------------ values

    def value(self, e: Expr, frame: Frame, mask: Value | None = None) -> Value:
        """Return the value of an expression, with one lane where it is the same in all lanes."""
        if isinstance(e, Literal):
            return self.context.literal(e)
        if isinstance(e, Load):
            return self.load(e, frame, mask)
        if isinstance(e, Iter):
            return self._integer(frame.env[e.scope], frame)
        if isinstance(e, Cast):
            return self.cast(self.value(e.arg, frame, mask), e.dtype)
        assert isinstance(e, Op), f"{type(e).__name__} in a bound program"
        dtype = self.context.dtype(e)
        if dtype.name == "i64":
            form = self.context.affine(e)
            if form is not None and tuple(form.terms) != (e,):
                return self._integer(self.linear(form, frame, mask), frame)
        return self._operation(e, dtype, frame, mask)

    def _operation(self, e: Op, dtype: DType, frame: Frame, mask: Value | None) -> Value:
        if e.op == "select":
            return self._select(e, dtype, frame, mask)
        if e.op in ("and", "or"):
            return self._logic(e, frame, mask)
        args = [self.value(a, frame, mask) for a in e.args]
        if OPS[e.op].rule != "compare":
            return self.operate(e.op, tuple(args), dtype, self._fits(e) if dtype.name == "i64" else False)
        lanes = max(a.type.lanes for a in args)
        if lanes == 1:
            return self.arena.call(e.op, tuple(args), FLAG)
        args = self.unified(args, lanes, False)
        self.need(e.op, args[0].type.dtype, lanes)
        return self.arena.call(e.op, tuple(args), self.arena.type(BOOL, lanes))

    def operate(self, op: str, args: tuple[Value, ...], dtype: DType, narrow: bool = False) -> Value:
        """Return `op` of values of one type; `narrow` tells that an i64 result fits i32 lanes."""
        lanes = max(a.type.lanes for a in args)
        if lanes > 1:
            args = tuple(self.unified(list(args), lanes, dtype.name == "i64" and not narrow))
            dtype = args[-1].type.dtype
        made = fused(op, args, dtype, lanes, self.context)
        if made is not None:
            return made
        if lanes > 1:
            self.need(op, dtype, lanes)
        return self.arena.call(op, args, self.arena.type(dtype, lanes))

    def _fits(self, e: Op) -> bool:
        found = self.context.forms.value(e).range
        return found is not None and in_i32(found)

    def _select(self, e: Op, dtype: DType, frame: Frame, mask: Value | None) -> Value:
        condition = self.value(e.args[0], frame, mask)
        if isinstance(condition, Const):
            return self.value(e.args[1 if condition.value else 2], frame, mask)
        if condition.type.lanes == 1:
            pair = [self.value(a, frame, mask) for a in e.args[1:]]
        else:
            pair = [
                self.value(e.args[1], frame, self.both(mask, condition)),
                self.value(e.args[2], frame, self.both(mask, self.negated(condition))),
            ]
        lanes = max(condition.type.lanes, *(a.type.lanes for a in pair))
        if lanes > 1:
            pair = self.unified(pair, lanes, False)
            dtype = pair[0].type.dtype
            if condition.type.lanes > 1:
                self.need("select", dtype, lanes)
        return self.arena.call("select", (condition, *pair), self.arena.type(dtype, lanes))

    def _logic(self, e: Op, frame: Frame, mask: Value | None) -> Value:
        left = self.value(e.args[0], frame, mask)
        if isinstance(left, Const):
            decided = bool(left.value) == (e.op == "or")
            return left if decided else self.value(e.args[1], frame, mask)
        if left.type.lanes == 1:
            right = self.value(e.args[1], frame, mask)
            if right.type.lanes == 1:
                return self.arena.call(e.op, (left, right), FLAG)
            every = self.arena.const(e.op == "or", right.type)
            pair = (right, every) if e.op == "and" else (every, right)
            return self.arena.call("select", (left, *pair), right.type)
        inner = left if e.op == "and" else self.negated(left)
        right = self.value(e.args[1], frame, self.both(mask, inner))
        if right.type.lanes == 1:
            every = self.arena.const(e.op == "or", left.type)
            pair = (left, every) if e.op == "and" else (every, left)
            return self.arena.call("select", (right, *pair), left.type)
        self.need(e.op, BOOL, left.type.lanes)
        return self.arena.call(e.op, (left, right), left.type)

    # ------------------------------------------------------------ indices

    def linear(self, form: Affine, frame: Frame, mask: Value | None) -> Linear:
        """Return the linear form of the target IR for one of the language; atoms in lanes are gathers."""
        const, terms = form.const, dict[int, int]()
        for atom, coefficient in form.terms.items():
            if isinstance(atom, str):
                part = frame.env[atom]
            elif isinstance(atom, Division):
                inner = self.linear(atom.arg, frame, mask)
                part = self._divided(inner, atom.by, atom.op == "%", frame)
            else:
                part = self._atom(self._opaque(atom, frame, mask), self.context.forms.atom_range(atom))
            const += coefficient * part.const
            for number, c in part.terms:
                terms[number] = terms.get(number, 0) + coefficient * c
        if 0 in terms.values():
            terms = {n: c for n, c in terms.items() if c}
        return Linear(const, tuple(sorted(terms.items())))

    def _opaque(self, atom: Load | Op | Cast, frame: Frame, mask: Value | None) -> Value:
        if isinstance(atom, Op):
            # not through `value`, which would come back here
            return self._operation(atom, self.context.dtype(atom), frame, mask)
        return self.value(atom, frame, mask)

    def _atom(self, value: Value, bounds: tuple[int, int]) -> Linear:
        if value.type.lanes > 1:
            value = value if value.type.dtype in (I32, I64) else self.cast(value, I32)
        elif value.type.dtype != I64:
            value = self.arena.call("cast", (value,), INDEX)
        self.arena.bound(value, bounds)
        return self.arena.linear(value) if value.type.lanes == 1 else self.arena.atom(value)

    def _divided(self, form: Linear, by: int, remainder: bool, frame: Frame) -> Linear:
        """Return `form // by` or `form % by`; in lanes where they all share the quotient, or as a vector."""
        if not self.arena.in_lanes(form):
            return self.arena.divide(form, by, remainder)
        step, rest = split(form, self.arena.lane_number)
        aligned = not self.arena.in_lanes(rest) and all(c % by == 0 for _, c in rest.terms)
        if aligned and step > 0 and rest.const % by + step * (frame.lanes - 1) < by:
            quotient = self.arena.divide(rest, by, False)
            return plus(form, quotient, -by) if remainder else quotient
        value = self._integer(form, frame)
        op = "mod" if remainder else "floordiv"
        self.need(op, value.type.dtype, frame.lanes)
        divisor = self.arena.const(by, value.type)
        return self.arena.atom(self.arena.call(op, (value, divisor), value.type))

    def _integer(self, form: Linear, frame: Frame) -> Value:
        """Return an i64 as a value: a scalar where all lanes agree, else i32 lanes when they hold it."""
        if not self.arena.in_lanes(form):
            return self.arena.offset(form)
        return self.vector(form, I32 if in_i32(self.range(form, frame)) else I64, frame.lanes)

    # ------------------------------------------------------------ memory

    def address(self, e: Load, frame: Frame, mask: Value | None) -> Linear:
        """Return the offset of an access in elements."""
        return self.linear(self.context.address(e), frame, mask)

    def load(self, e: Load, frame: Frame, mask: Value | None) -> Value:
        """Return the element that an access names, in lanes when its address differs between them."""
        where = self.address(e, frame, mask)
        dtype = self.context.buffers[e.buffer].dtype
        safe = mask is None or (self.inside(e.buffer, where, frame) and not self._by_data(where))
        if not self.arena.in_lanes(where):
            if not safe and mask is not self._tail(frame):
                raise NotVectorisableError(f"{e.buffer} is read in all lanes under a condition of each lane")
            return self.arena.load(e.buffer, self.arena.offset(where), self.arena.type(dtype))
        lanes = frame.lanes
        step, rest = split(where, self.arena.lane_number)
        kept = None if safe and mask is not self._tail(frame) else mask
        type = self.arena.type(dtype, lanes)
        if step == 1 and not self.arena.in_lanes(rest):
            self.need("masked_load" if kept is not None else "load", dtype, lanes)
            return self.arena.load(e.buffer, self.arena.offset(rest), type, kept)
        self.need("masked_gather" if kept is not None else "gather", dtype, lanes)
        uniform = Linear(
            rest.const, tuple(t for t in rest.terms if self.arena.atom_value(t[0]).type.lanes == 1)
        )
        lane_form = plus(where, uniform, -1)
        width = I32 if in_i32(self.range(lane_form, frame)) else I64
        return self.arena.load(
            e.buffer, self.arena.offset(uniform), type, kept, self.vector(lane_form, width, lanes)
        )

    def _by_data(self, where: Linear) -> bool:
        """Tell whether memory decides on an offset.

        What is known of its range need not hold in lanes that are not evaluated: those may have read padding,
        or nothing.
        """
        stack = [self.arena.atom_value(number) for number, _ in where.terms]
        while stack:
            top = stack.pop()
            if isinstance(top, LoadValue):
                return True
            stack.extend(children(top))
        return False

    def _tail(self, frame: Frame) -> Value | None:
        return frame.parts[0].mask if len(frame.parts) == 1 else None

    def inside(self, buffer: str, where: Linear, frame: Frame) -> bool:
        """Tell whether an offset lies in the memory of its buffer in all lanes, whatever the conditions."""
        low, high = self.range(where, frame)
        return low >= 0 and high < self.context.layouts[buffer].elems
