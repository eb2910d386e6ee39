"""Proof that the iterations of a scope touch different elements of a buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.interpret.indices import evaluate, interval, linear, occurring
from perfdojo.compiler.ir import Buffer, Expr, Iter
from perfdojo.compiler.walk import const_int, iterators, loads

ENUMERATED = 1 << 21
"""Iterations that a proof by enumeration visits at most."""


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write; `axes_only` when every loop between it and the scope in question is an axis."""

    buffer: str
    indices: tuple[Expr, ...]
    write: bool
    axes_only: bool = True


def independent(
    scope: str, accesses: list[Access], outer: frozenset[str], buffer: Buffer, extents: Mapping[str, int]
) -> bool:
    """Tell whether no element of `buffer` is touched in two iterations of `scope`, the outer ones fixed."""
    dimensions = [d for d in range(len(buffer.shape)) if d not in buffer.reuse]
    if any(_separates(scope, [a.indices[d] for a in accesses], outer, extents) for d in dimensions):
        return True
    return _enumerate(scope, accesses, dimensions, outer, buffer, extents)


def _separates(scope: str, indices: list[Expr], outer: frozenset[str], extents: Mapping[str, int]) -> bool:
    """Tell whether all indices are k*{scope} + a common outer part + an inner part in a range under k."""
    common: tuple[int, dict[Expr, int]] | None = None
    lows: list[float] = []
    highs: list[float] = []
    for index in indices:
        terms, constant = linear(index)
        step = terms.pop(Iter(scope), 0)
        fixed: dict[Expr, int] = {}
        low: float = constant
        high: float = constant
        for atom, factor in terms.items():
            used = iterators(atom)
            if scope in used or next(loads(atom), None) is not None:
                return False
            if used <= outer:
                fixed[atom] = factor
                continue
            bounds = interval(atom, extents)
            ends = (factor * bounds[0], factor * bounds[1])
            low, high = low + min(ends), high + max(ends)
        if step == 0 or (common is not None and common != (step, fixed)):
            return False
        common = step, fixed
        lows.append(low)
        highs.append(high)
    return common is not None and max(highs) - min(lows) < abs(common[0])


def _enumerate(
    scope: str,
    accesses: list[Access],
    dimensions: list[int],
    outer: frozenset[str],
    buffer: Buffer,
    extents: Mapping[str, int],
) -> bool:
    """Visit every iteration, and note who owns each element; only for indices free of outer scopes."""
    kept = [d for d in dimensions if all(_enumerable(a.indices[d], outer) for a in accesses)]
    shape = [const_int(buffer.shape[d]) for d in kept]
    if not kept or prod(shape) > 4 * ENUMERATED:
        return False
    owner = np.full(prod(shape), -1, np.int64)
    addresses = []
    for access in accesses:
        found = _addresses(scope, tuple(access.indices[d] for d in kept), shape, extents)
        if found is None:
            return False
        addresses.append((access.write, *found))
        if access.write:
            owner[found[0]] = found[1]
    return all(
        bool(((owner[address] == iteration) | ((owner[address] == -1) & (not write))).all())
        for write, address, iteration in addresses
    )


def _enumerable(index: Expr, outer: frozenset[str]) -> bool:
    return not iterators(index) & outer and next(loads(index), None) is None


def _addresses(
    scope: str, indices: tuple[Expr, ...], shape: list[int], extents: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the element and the iteration of `scope` of each access that lies inside the buffer."""
    used = sorted(occurring(indices) | {scope})
    lengths = [extents[s] for s in used]
    if prod(lengths) > ENUMERATED:
        return None
    grid = dict(zip(used, np.ogrid[tuple(slice(n) for n in lengths)], strict=True))
    address = np.zeros(lengths, np.int64)
    inside = np.ones(lengths, np.bool_)
    for index, extent in zip(indices, shape, strict=True):
        value = evaluate(index, grid)
        if value is None:
            return None
        inside &= (value >= 0) & (value < extent)
        address = address * extent + value
    return address[inside], np.broadcast_to(grid[scope], lengths)[inside]
