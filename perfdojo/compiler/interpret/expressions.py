"""Expressions become functions of a mask: the lanes whose value matters, None for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.interpret.access import Access, Evaluate
from perfdojo.compiler.interpret.algebra import Algebra, Array, Mask, Value
from perfdojo.compiler.interpret.frame import Frame
from perfdojo.compiler.interpret.rounding import int_to_float, narrow_f64
from perfdojo.compiler.interpret.storage import Storage
from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Load, Op, Program
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.walk import dtype_of


class Expressions:
    """Compiles the expressions of one step for its frame.

    All lanes are computed, those that do not matter too: no operation can fail, and a load outside of
    its buffer reads another element instead. So a branch that is not taken costs time, never meaning.
    """

    def __init__(
        self, program: Program, algebra: Algebra, storages: Mapping[str, Storage], frame: Frame
    ) -> None:
        self.program, self.algebra, self.storages, self.frame = program, algebra, storages, frame

    def access(self, load: Load, lenient: bool = False) -> Access:
        """Return the access of a load or target; a lenient one may leave its buffer."""
        indices = [self.compile(i) for i in load.indices]
        storage = self.storages[load.buffer]
        return Access(self.program, self.algebra, storage, self.frame, load, indices, lenient)

    def compile(self, expr: Expr) -> Evaluate:
        """Return the function that evaluates `expr` at the iterations of the frame."""
        if isinstance(expr, Literal):
            constant = self.algebra.constant(literal(expr), expr.dtype)
            return lambda mask: constant
        if isinstance(expr, Iter):
            frame, scope, algebra = self.frame, expr.scope, self.algebra
            return lambda mask: algebra.constant(frame.numbers(scope), I64)
        if isinstance(expr, Load):
            return self.access(expr).take
        if isinstance(expr, Cast):
            convert = self.algebra.conversion(dtype_of(expr.arg, self.program), expr.dtype)
            argument = self.compile(expr.arg)
            return lambda mask: convert(argument(mask))
        assert isinstance(expr, Op), expr
        return self._operation(expr)

    def _operation(self, expr: Op) -> Evaluate:
        operation = self.algebra.operation(expr.op, self._operand_type(expr))
        args = [self.compile(a) for a in expr.args]
        if expr.op == "select":
            return self._select(operation, *args)
        if expr.op in ("and", "or"):
            decides = self.algebra.may if expr.op == "and" else self.algebra.may_not
            return _lazy(operation, decides, *args)
        if len(args) == 1:
            (only,) = args
            return lambda mask: operation(only(mask))
        if len(args) == 2:
            first, second = args
            return lambda mask: operation(first(mask), second(mask))
        return lambda mask: operation(*(a(mask) for a in args))

    def _operand_type(self, expr: Op) -> DType:
        if expr.op in ("and", "or", "not"):
            return BOOL
        return dtype_of(expr.args[-1], self.program)

    def _select(
        self, operation: Callable[..., Value], condition: Evaluate, first: Evaluate, second: Evaluate
    ) -> Evaluate:
        algebra = self.algebra

        def run(mask: Mask | None) -> Value:
            chosen = condition(mask)
            may, may_not = _both(algebra.may(chosen), mask), _both(algebra.may_not(chosen), mask)
            if not may_not.any():
                return first(may)
            if not may.any():
                return second(may_not)
            return operation(chosen, first(may), second(may_not))

        return run


def _lazy(
    operation: Callable[..., Value], decides: Callable[[Value], Mask], first: Evaluate, second: Evaluate
) -> Evaluate:
    """Evaluate the right operand of `and`, `or` only where the left one leaves the result open."""

    def run(mask: Mask | None) -> Value:
        left = first(mask)
        open_ = _both(decides(left), mask)
        return operation(left, second(open_)) if open_.any() else left

    return run


def _both(lanes: Mask, mask: Mask | None) -> Mask:
    return lanes if mask is None else np.logical_and(lanes, mask)


def literal(expr: Literal) -> Array:
    """Return a literal as a NumPy array of rank 0, rounded once to its type."""
    dtype, value = NUMPY[expr.dtype.name], expr.value
    if not expr.dtype.is_float:
        return np.asarray(value, dtype)
    with np.errstate(all="ignore"):
        if isinstance(value, int) and abs(value) < 2**63:
            return int_to_float(np.asarray(value, np.int64), dtype)
        return narrow_f64(np.asarray(float(value), np.float64), dtype)
