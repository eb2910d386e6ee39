"""Index expressions of the interpreter: linear forms, intervals, and values over arrays of iterators."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Op
from perfdojo.compiler.walk import iterators

Linear = tuple[dict[Expr, int], int]
"""Coefficient of each atom, and the constant. An atom is an Iter or an expression that is not linear."""


def linear(expr: Expr) -> Linear:
    """Split an i64 expression into a sum of atoms times constants."""
    if isinstance(expr, Literal):
        return {}, int(expr.value)
    if not isinstance(expr, Op) or expr.op not in ("add", "sub", "mul", "neg"):
        return {expr: 1}, 0
    first, constant = linear(expr.args[0])
    if expr.op == "neg":
        return {a: -k for a, k in first.items()}, -constant
    second, other = linear(expr.args[1])
    if expr.op == "mul":
        if first and second:
            return {expr: 1}, 0
        terms, factor = (first, other) if first else (second, constant)
        return _clean({a: k * factor for a, k in terms.items()}), constant * other
    sign = 1 if expr.op == "add" else -1
    merged = dict(first)
    for atom, factor in second.items():
        merged[atom] = merged.get(atom, 0) + sign * factor
    return _clean(merged), constant + sign * other


def _clean(terms: dict[Expr, int]) -> dict[Expr, int]:
    return {a: k for a, k in terms.items() if k}


def affine(expr: Expr) -> tuple[dict[str, int], int] | None:
    """Return the coefficient of each scope and the constant; None when `expr` is not affine in iterators."""
    terms, constant = linear(expr)
    coefficients: dict[str, int] = {}
    for atom, factor in terms.items():
        if not isinstance(atom, Iter):
            return None
        coefficients[atom.scope] = factor
    return coefficients, constant


def interval(expr: Expr, extents: Mapping[str, int]) -> tuple[float, float]:
    """Return bounds, both included, of an index over all iterations; infinite where its form does not say."""
    terms, constant = linear(expr)
    low: float = constant
    high: float = constant
    for atom, factor in terms.items():
        bounds = _atom_interval(atom, extents)
        if terms == {expr: 1} and not constant:
            return bounds
        if isinf(bounds[0]) or isinf(bounds[1]):
            return -inf, inf  # arithmetic on what is not known may wrap
        ends = (factor * bounds[0], factor * bounds[1])
        low, high = low + min(ends), high + max(ends)
    return low, high


def _atom_interval(atom: Expr, extents: Mapping[str, int]) -> tuple[float, float]:
    if isinstance(atom, Iter):
        return 0, extents[atom.scope] - 1
    if isinstance(atom, Cast) and atom.dtype.is_integer:
        low, high = float(atom.dtype.smallest), float(atom.dtype.largest)
        bounds = interval(atom.arg, extents)
        return bounds if low <= bounds[0] and bounds[1] <= high else (low, high)
    if not isinstance(atom, Op) or atom.op not in ("floordiv", "mod", "min", "max"):
        return -inf, inf
    first, second = (interval(a, extents) for a in atom.args)
    if atom.op in ("min", "max"):
        pick = min if atom.op == "min" else max
        return pick(first[0], second[0]), pick(first[1], second[1])
    if second[0] != second[1] or second[0] < 1:
        return -inf, inf
    divisor = second[0]
    if isinf(first[0]) or isinf(first[1]):
        return (-inf, inf) if atom.op == "floordiv" else (0, divisor - 1)
    low, high = first[0] // divisor, first[1] // divisor
    if atom.op == "floordiv":
        return low, high
    return (first[0] % divisor, first[1] % divisor) if low == high else (0, divisor - 1)


def evaluate(expr: Expr, values: Mapping[str, NDArray[np.int64]]) -> NDArray[Any] | None:
    """Return an index for arrays of iteration numbers; None for what is not made of + - * // % min max."""
    if isinstance(expr, Literal):
        return np.asarray(expr.value, np.int64)
    if isinstance(expr, Iter):
        return values[expr.scope]
    if not isinstance(expr, Op) or expr.op not in _EVALUATED:
        return None
    args = [evaluate(a, values) for a in expr.args]
    if any(a is None for a in args):
        return None
    return np.asarray(_EVALUATED[expr.op](*args))


def occurring(indices: tuple[Expr, ...]) -> set[str]:
    """Return the scopes whose iteration number occurs in the indices."""
    return set().union(*(iterators(i) for i in indices))


_EVALUATED: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "min": np.minimum,
    "max": np.maximum,
}
