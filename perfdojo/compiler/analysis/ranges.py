"""Interval arithmetic on integer expressions: the smallest and largest value that a form allows.

Wraps like the language does: an operation whose exact result can leave its type yields the whole type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from perfdojo.compiler.dtypes import BOOL, DTYPES, I64, DType
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Op
from perfdojo.compiler.walk import const_int

Range = tuple[int, int]
"""Smallest and largest value, both included."""

TRUTH: Range = (0, 1)
_DTYPE_RANGES = {n: (int(d.smallest), int(d.largest)) for n, d in DTYPES.items() if not d.is_float}
_NUMBERS = frozenset(("add", "sub", "mul", "neg", "abs", "min", "max", "floordiv", "mod"))
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


def interval(expr: Expr, extents: Mapping[str, int], buffers: Mapping[str, Buffer]) -> Range:
    """Return the range of an integer or bool expression of a bound program.

    Args:
        extents: iterations of each enclosing scope, by name.
        buffers: the buffers of the program, by name; declared `values` are trusted.
    Raises:
        ValueError: the expression is a float.
    """
    found, dtype = _evaluate(expr, extents, buffers)
    if found is None:
        raise ValueError(f"an expression of type {dtype} has no integer range")
    return found


def dtype_range(dtype: DType) -> Range:
    """Return the values of an integer type or bool."""
    return _DTYPE_RANGES[dtype.name]


def load_range(buffer: Buffer) -> Range:
    """Return the range of the elements of an integer or bool buffer: its declared values, else its type."""
    lowest, largest = dtype_range(buffer.dtype)
    if buffer.values is None or buffer.role != "in":
        return lowest, largest
    low, high = buffer.values
    return max(const_int(low), lowest), min(const_int(high) - 1, largest)


def wrap(found: Range, dtype: DType) -> Range:
    """Return `found` when it lies in the type, else the whole type."""
    whole = dtype_range(dtype)
    return found if whole[0] <= found[0] and found[1] <= whole[1] else whole


def _evaluate(
    expr: Expr, extents: Mapping[str, int], buffers: Mapping[str, Buffer]
) -> tuple[Range | None, DType]:
    """Return the range (None for floats) and the type of `expr`."""
    match expr:
        case Literal(value=value, dtype=dtype):
            return (None if dtype.is_float else (int(value), int(value))), dtype
        case Iter(scope=scope):
            return (0, extents[scope] - 1), I64
        case Load(buffer=name):
            buffer = buffers[name]
            return (None if buffer.dtype.is_float else load_range(buffer)), buffer.dtype
        case Cast(dtype=dtype, arg=arg):
            if dtype.is_float:
                return None, dtype
            inner, _ = _evaluate(arg, extents, buffers)
            return cast_range(inner, dtype), dtype
        case Op(op=op, args=args):
            parts = [_evaluate(a, extents, buffers) for a in args]
            dtype = BOOL if op in _COMPARISONS else parts[-1][1]
            return operation_range(op, [r for r, _ in parts], dtype), dtype
        case _:
            raise ValueError(f"{type(expr).__name__} in a bound program")


def cast_range(inner: Range | None, dtype: DType) -> Range:
    """Return the range of a conversion to the integer type or bool `dtype`; `inner` is None for a float."""
    if inner is None:
        return dtype_range(dtype)
    if dtype.kind != "bool":
        return wrap(inner, dtype)
    if inner == (0, 0):
        return 0, 0
    return (1, 1) if inner[0] > 0 or inner[1] < 0 else TRUTH


def operation_range(op: str, args: list[Range | None], dtype: DType) -> Range | None:
    """Return the range of `op`, None for a float result; `dtype` is the type of the result.

    Args:
        args: ranges of the operands, None for a float operand.
    """
    if dtype.kind == "float":
        return None
    found = exact_range(op, args)
    if found is None:
        return TRUTH if dtype.kind == "bool" else dtype_range(dtype)
    return wrap(found, dtype) if op in _NUMBERS else found


def exact_range(op: str, args: list[Range | None]) -> Range | None:
    """Return the range of `op` on unbounded integers; None when an operand is a float."""
    return None if None in args else _RULES[op](*args)


def _mul(a: Range, b: Range) -> Range:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(corners), max(corners)


def _abs(a: Range) -> Range:
    if a[0] >= 0:
        return a
    return (-a[1], -a[0]) if a[1] <= 0 else (0, max(-a[0], a[1]))


def _floordiv(a: Range, b: Range) -> Range:
    """Quotient rounded down; 0 when the divisor is 0. Extremes lie at the corners of each sign of b."""
    divisors = {d for d in (b[0], b[1], -1, 1) if b[0] <= d <= b[1] and d != 0}
    results = [x // d for x in a for d in divisors] + ([0] if b[0] <= 0 <= b[1] else [])
    return min(results), max(results)


def _mod(a: Range, b: Range) -> Range:
    """Remainder with the sign of b; 0 when the divisor is 0."""
    if b[0] == b[1] and b[0] != 0 and a[0] // b[0] == a[1] // b[0]:
        ends = (a[0] % b[0], a[1] % b[0])
        return min(ends), max(ends)
    low, high = min(0, b[0] + 1), max(0, b[1] - 1)
    if a[0] >= 0 and b[0] >= 0:
        high = min(high, a[1])
    return low, high


def _compare(surely: Callable[[Range, Range], bool], never: Callable[[Range, Range], bool]) -> _Rule:
    def rule(a: Range, b: Range) -> Range:
        return (1, 1) if surely(a, b) else (0, 0) if never(a, b) else TRUTH

    return rule


def _select(c: Range, a: Range, b: Range) -> Range:
    if c == (1, 1):
        return a
    return b if c == (0, 0) else (min(a[0], b[0]), max(a[1], b[1]))


_Rule = Callable[..., Range]


def _below(a: Range, b: Range) -> bool:
    return a[1] < b[0]


def _not_above(a: Range, b: Range) -> bool:
    return a[1] <= b[0]


def _same(a: Range, b: Range) -> bool:
    return a == b and a[0] == a[1]


def _apart(a: Range, b: Range) -> bool:
    return a[1] < b[0] or b[1] < a[0]


_RULES: dict[str, _Rule] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _mul,
    "neg": lambda a: (-a[1], -a[0]),
    "abs": _abs,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "floordiv": _floordiv,
    "mod": _mod,
    "lt": _compare(_below, lambda a, b: _not_above(b, a)),
    "le": _compare(_not_above, lambda a, b: _below(b, a)),
    "gt": _compare(lambda a, b: _below(b, a), _not_above),
    "ge": _compare(lambda a, b: _not_above(b, a), _below),
    "eq": _compare(_same, _apart),
    "ne": _compare(_apart, _same),
    "and": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "or": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "not": lambda a: (1 - a[1], 1 - a[0]),
    "select": _select,
}
