"""Integers that depend on iteration numbers alone: known while a program runs, no terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perfdojo.compiler.dtypes import I64, DType
from perfdojo.compiler.validate.integers import interval, operation, wrap

Terms = tuple[tuple[int, int], ...]
"""Pairs (position of the iteration number, coefficient)."""


@dataclass(slots=True)
class Known:
    """A value that follows from the iteration numbers.

    Attributes:
        low, high: bounds of the value.
        value: computes it from the current iteration numbers.
        linear: constant and terms, where it is a sum of iteration numbers times constants.
    """

    dtype: DType
    low: int
    high: int
    value: Callable[[], int]
    linear: tuple[int, Terms] | None = None


@dataclass(slots=True)
class Open:
    """A value that is a term; `value` returns its number."""

    dtype: DType
    value: Callable[[], int]


def constant(dtype: DType, value: int) -> Known:
    """Return a constant integer or bool."""
    return Known(dtype, value, value, lambda: value, (value, ()))


def sum_of(now: list[int], const: int, terms: Terms) -> Callable[[], int]:
    """Return what computes `const` plus the terms from the iteration numbers `now`."""
    if not terms:
        return lambda: const
    if len(terms) == 1:
        ((i, a),) = terms
        if const == 0:
            return (lambda: now[i]) if a == 1 else (lambda: a * now[i])
        return lambda: a * now[i] + const
    if len(terms) == 2:
        (i, a), (j, b) = terms
        return lambda: a * now[i] + b * now[j] + const
    if len(terms) == 3:
        (i, a), (j, b), (k, c) = terms
        return lambda: a * now[i] + b * now[j] + c * now[k] + const
    return lambda: sum([c * now[i] for i, c in terms], const)


def combine(parts: list[tuple[int, tuple[int, Terms]]]) -> tuple[int, Terms]:
    """Return the sum of linear forms, each times a factor."""
    const = 0
    total: dict[int, int] = {}
    for factor, (c, terms) in parts:
        const += factor * c
        for position, coefficient in terms:
            total[position] = total.get(position, 0) + factor * coefficient
    return const, tuple((p, c) for p, c in sorted(total.items()) if c)


def linear_form(name: str, args: list[Known]) -> tuple[int, Terms] | None:
    """Return the linear form of an operation without wrapping, None when it has none."""
    if any(a.linear is None for a in args):
        return None
    forms = [a.linear for a in args if a.linear is not None]
    if name == "add":
        return combine([(1, forms[0]), (1, forms[1])])
    if name == "sub":
        return combine([(1, forms[0]), (-1, forms[1])])
    if name == "neg":
        return combine([(-1, forms[0])])
    if name != "mul":
        return None
    if not forms[0][1]:
        return combine([(forms[0][0], forms[1])])
    return combine([(forms[1][0], forms[0])]) if not forms[1][1] else None


def apply(now: list[int], name: str, dtype: DType, args: list[Known]) -> Known | None:
    """Return the result of an arithmetic operation on known integers, None when it has no integer form."""
    low, high = interval(name, tuple((a.low, a.high) for a in args), dtype)
    fits = dtype.smallest <= low and high <= dtype.largest
    found = operation(name, dtype, fits)
    if found is None:
        return None
    if not fits:
        low, high = int(dtype.smallest), int(dtype.largest)
    linear = linear_form(name, args) if fits and dtype == I64 else None
    if linear is not None:
        return Known(dtype, low, high, sum_of(now, *linear), linear)
    return Known(dtype, low, high, _call(found, [a.value for a in args]))


def convert(arg: Known, dtype: DType) -> Known:
    """Return the conversion of a known value to an integer type or bool."""
    if dtype.kind != "bool" and dtype.smallest <= arg.low and arg.high <= dtype.largest:
        return Known(dtype, arg.low, arg.high, arg.value, arg.linear)
    value = arg.value
    return Known(dtype, int(dtype.smallest), int(dtype.largest), lambda: wrap(value(), dtype))


def _call(operation: Callable[..., int], args: list[Callable[[], int]]) -> Callable[[], int]:
    if len(args) == 1:
        (only,) = args
        return lambda: operation(only())
    left, right = args
    return lambda: operation(left(), right())
