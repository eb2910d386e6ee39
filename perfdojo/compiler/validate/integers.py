"""Integers and bools as numbers: the operations of the language, wrapped to their types."""

from __future__ import annotations

from collections.abc import Callable

from perfdojo.compiler.dtypes import DType

_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
}
COMPARE: dict[str, Callable[..., bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
"""Comparisons of numbers of any type."""

_EXACT = frozenset(("min", "max", "mod"))
"""Operations whose result needs no wrapping."""


def wrap(value: int, dtype: DType) -> int:
    """Return `value` modulo 2^bits in the range of an integer type; for bool whether it is not 0."""
    if dtype.kind == "bool":
        return int(value != 0)
    mask = (1 << dtype.bits) - 1
    if dtype.kind == "uint":
        return value & mask
    half = 1 << (dtype.bits - 1)
    return ((value + half) & mask) - half


def operation(name: str, dtype: DType, fits: bool = False) -> Callable[..., int] | None:
    """Return what `name` does on operands of an integer type or bool; None when it has no such form.

    Args:
        fits: the result is known to be in the range of the type.
    """
    if dtype.is_float:
        return None
    if name in COMPARE:
        return COMPARE[name]
    found = _INTEGER.get(name)
    if found is None or fits or name in _EXACT:
        return found
    exact = found
    return lambda *args: wrap(exact(*args), dtype)


def interval(name: str, args: tuple[tuple[int, int], ...], dtype: DType) -> tuple[int, int]:
    """Return bounds of an operation without wrapping, from those of its operands; wide ones where unsure."""
    (a, b), (c, d) = args[0], args[-1]
    if name == "add":
        return a + c, b + d
    if name == "sub":
        return a - d, b - c
    if name == "neg":
        return -b, -a
    if name == "abs":
        return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
    if name == "mul":
        products = (a * c, a * d, b * c, b * d)
        return min(products), max(products)
    if name in ("min", "max"):
        pick = min if name == "min" else max
        return pick(a, c), pick(b, d)
    if name == "floordiv" and c > 0:
        return min(a // c, a // d), max(b // c, b // d)
    if name == "mod" and c > 0:
        return 0, d - 1
    # The smallest integer divided by -1 is one more than the largest.
    return int(dtype.smallest), int(dtype.largest) + 1
