"""What the tests of vector targets run over: all that is written with the records of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends import avx2, avx512, neon, rvv
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import BOOL, DTYPES, F32, F64, I8, I16, I64, DType
from perfdojo.compiler.interpret.exact import conversion, operation
from perfdojo.compiler.lowering.lir import Call, Const, Value, VType
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.ops import OPS, OpInfo, Rule

Array = NDArray[Any]

MODULES = {"avx2": avx2, "avx512": avx512, "neon": neon, "rvv": rvv}
TARGETS: dict[str, Target] = {name: module.TARGET for name, module in MODULES.items()}
TABLES: dict[str, Any] = {name: module.table for name, module in MODULES.items()}
DIVISORS = (1, 2, 3, 7, 10, 64, 641, 32767)


@cache
def table(target: str) -> Table:
    found: Table = TABLES[target]()
    return found


@dataclass(frozen=True, slots=True)
class Case:
    """An operation on vectors.

    Attributes:
        operands: their element types.
        result: element type that is stored.
        build: makes the value of the loaded operands and the type of the result.
        check: the same on arrays, by the functions of the interpreter.
    """

    name: str
    operands: tuple[DType, ...]
    result: DType
    lanes: int
    build: Callable[[tuple[Value, ...], VType], Value]
    check: Callable[..., Array]

    @property
    def scalar(self) -> str:
        """Name of the operation on one lane."""
        return self.name.rsplit("x", 1)[0]


def cases(target: str, lanes: Iterable[int]) -> list[Case]:
    """Return every operation that the target supports, for every type."""
    return [c for n in lanes for c in _cases(TARGETS[target], n)]


def _cases(target: Target, n: int) -> Iterator[Case]:
    for dtype in DTYPES.values():
        for op, info in OPS.items():
            if target.supports(op, dtype, n) and _typed(info.rule, dtype, op):
                yield _plain(op, info, dtype, n)
        if target.supports("load", dtype, n):
            yield Case(f"copy_{dtype}x{n}", (dtype,), dtype, n, lambda args, t: args[0], lambda a: a)
        if target.supports("add", dtype, n):
            yield from _with_constants(dtype, n)
            yield from _other_masks(target, dtype, n)
        for source in DTYPES.values():
            if target.supports(f"cast:{source}", dtype, n):
                yield _cast(source, dtype, n)


def _typed(rule: Rule, dtype: DType, op: str) -> bool:
    """Whether the language has the operation for this type."""
    match rule:
        case "number":
            return dtype != BOOL
        case "float":
            return dtype.is_float
        case "integer":
            return dtype.is_integer
        case "compare":
            return dtype != BOOL or op in ("eq", "ne")
        case "logic":
            return dtype == BOOL
    return True


def _plain(op: str, info: OpInfo, dtype: DType, n: int) -> Case:
    operands = (BOOL, dtype, dtype) if info.rule == "select" else (dtype,) * info.arity
    result = BOOL if info.rule in ("compare", "logic") else dtype
    name = f"{op}_{dtype}x{n}"
    return Case(name, operands, result, n, lambda args, t: Call(op, args, t), operation(op, dtype))


def _cast(source: DType, dtype: DType, n: int) -> Case:
    return Case(
        f"{dtype}_of_{source}x{n}",
        (source,),
        dtype,
        n,
        lambda args, t: Call("cast", args, t),
        conversion(source, dtype),
    )


def _with_constants(dtype: DType, n: int) -> Iterator[Case]:
    """Operations that are printed otherwise when an operand is a constant or a negation."""
    numpy = NUMPY[dtype.name]
    if dtype.is_integer:
        for op in ("floordiv", "mod"):
            for divisor in (d for d in DIVISORS if d <= dtype.largest):
                yield _one_constant(op, dtype, n, divisor, second=True)
    else:
        for op in ("min", "max"):
            for value in (0.0, -0.0, 1.0, float("nan")):
                for second in (False, True):
                    yield _one_constant(op, dtype, n, value, second)
    if dtype in (F32, F64):
        for op, first, last in (("fms", False, True), ("fnma", True, False), ("fnms", True, True)):
            yield _signed_fma(op, dtype, n, first, last)
    value = numpy.type(3)
    yield Case(
        f"constant_{dtype}x{n}",
        (dtype,),
        dtype,
        n,
        lambda args, t: Call("add", (*args, Const(3, args[0].type)), t),
        lambda a: operation("add", dtype)(a, np.full(a.shape, value)),
    )


def _one_constant(op: str, dtype: DType, n: int, value: float, second: bool) -> Case:
    numpy = NUMPY[dtype.name]

    def build(args: tuple[Value, ...], t: VType) -> Value:
        pair = (args[0], Const(value, args[0].type))
        return Call(op, pair if second else pair[::-1], t)

    def check(a: Array) -> Array:
        pair = (a, np.full(a.shape, value, numpy))
        return operation(op, dtype)(*(pair if second else pair[::-1]))

    text = str(value).replace("-", "minus_").replace(".", "_")
    return Case(
        f"{op}_{text}_{'second' if second else 'first'}_{dtype}x{n}", (dtype,), dtype, n, build, check
    )


def _signed_fma(op: str, dtype: DType, n: int, first: bool, last: bool) -> Case:
    def build(args: tuple[Value, ...], t: VType) -> Value:
        a, b, c = args
        return Call(
            "fma", (Call("neg", (a,), a.type) if first else a, b, Call("neg", (c,), t) if last else c), t
        )

    def check(a: Array, b: Array, c: Array) -> Array:
        return operation("fma", dtype)(-a if first else a, b, -c if last else c)

    return Case(f"{op}_{dtype}x{n}", (dtype,) * 3, dtype, n, build, check)


def _other_masks(target: Target, dtype: DType, n: int) -> Iterator[Case]:
    """A comparison of one type chooses between values of another."""
    for other in (I8, I16, F32, F64, I64):
        if other != dtype and target.supports("lt", other, n):

            def build(args: tuple[Value, ...], t: VType) -> Value:
                mask = Call("lt", args[:2], VType(BOOL, t.lanes))
                return Call("select", (mask, args[2], Const(3, t)), t)

            def check(a: Array, b: Array, c: Array) -> Array:
                return np.where(a < b, c, NUMPY[dtype.name].type(3))

            yield Case(f"where_{other}_{dtype}x{n}", (other, other, dtype), dtype, n, build, check)
