"""Proof that the iterations of a scope touch different elements of a buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from math import prod

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.interpret.indices import evaluate, interval, linear, occurring
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Op
from perfdojo.compiler.walk import iterators, loads

ENUMERATED = 1 << 18
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
    columns = [[a.indices[d] for a in accesses] for d in dimensions]
    columns += [c for c in map(_joined, permutations(columns, 2)) if c is not None]
    if any(_separates(scope, column, outer, extents) for column in columns):
        return True
    return _enumerate(scope, accesses, dimensions, outer, extents)


def _joined(columns: tuple[list[Expr], list[Expr]]) -> list[Expr] | None:
    """Return e where one column is e // c and the other e % c, c a constant: they tell as much together."""
    joined: list[Expr] = []
    divisors = set()
    for quotient, rest in zip(*columns, strict=True):
        if not isinstance(quotient, Op) or quotient.op != "floordiv" or rest != Op("mod", quotient.args):
            return None
        joined.append(quotient.args[0])
        divisors.add(quotient.args[1])
    constant = len(divisors) == 1 and all(isinstance(d, Literal) and d.value != 0 for d in divisors)
    return joined if constant else None


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
    extents: Mapping[str, int],
) -> bool:
    """Visit every iteration, and note who writes each element; relative to the outer part of the indices."""
    forms = [[_relative(a.indices[d], outer) for a in accesses] for d in dimensions]
    kept = [found for form in forms if (found := _with_common_part(form)) is not None]
    if not kept:
        return False
    placed = [_places(scope, [form[k] for form in kept], extents) for k in range(len(accesses))]
    if any(p is None for p in placed):
        return False
    return _owned(accesses, [p for p in placed if p is not None])


Form = tuple[dict[Expr, int], dict[Expr, int], int]
"""An index as its part over outer scopes, the other atoms with their factors, and the constant."""

Places = tuple[list[NDArray[np.int64]], NDArray[np.int64]]
"""The index in each dimension, and the iteration of the scope, of each time that an access happens."""


def _relative(index: Expr, outer: frozenset[str]) -> Form | None:
    terms, constant = linear(index)
    fixed = {a: k for a, k in terms.items() if _is_outer(a, outer)}
    moving = {a: k for a, k in terms.items() if a not in fixed}
    if any(iterators(a) & outer or next(loads(a), None) is not None for a in moving):
        return None
    return fixed, moving, constant


def _is_outer(atom: Expr, outer: frozenset[str]) -> bool:
    return iterators(atom) <= outer and next(loads(atom), None) is None


def _with_common_part(forms: list[Form | None]) -> list[Form] | None:
    known = [f for f in forms if f is not None]
    same = len(known) == len(forms) and all(f[0] == known[0][0] for f in known)
    return known if same else None


def _places(scope: str, forms: list[Form], extents: Mapping[str, int]) -> Places | None:
    atoms = [atom for _, moving, _ in forms for atom in moving]
    used = sorted(occurring(tuple(atoms)) | {scope})
    lengths = [extents[s] for s in used]
    if prod(lengths) > ENUMERATED:
        return None
    grid = dict(zip(used, np.ogrid[tuple(slice(n) for n in lengths)], strict=True))
    indices = []
    for _, moving, constant in forms:
        total = np.full(lengths, constant, np.int64)
        for atom, factor in moving.items():
            value = evaluate(atom, grid)
            if value is None:
                return None
            total += factor * value
        indices.append(total.ravel())
    return indices, np.broadcast_to(grid[scope], lengths).ravel()


def _owned(accesses: list[Access], placed: list[Places]) -> bool:
    """Tell whether every element that is written is touched in one iteration only."""
    address = [np.zeros(len(iteration), np.int64) for _, iteration in placed]
    elements = 1
    for d in range(len(placed[0][0])):
        low = min(int(indices[d].min()) for indices, _ in placed)
        extent = max(int(indices[d].max()) for indices, _ in placed) - low + 1
        elements *= extent
        if elements > 4 * ENUMERATED:
            return False
        address = [a * extent + indices[d] - low for a, (indices, _) in zip(address, placed, strict=True)]
    owner = np.full(elements, -1, np.int64)
    for access, where, (_, iteration) in zip(accesses, address, placed, strict=True):
        if access.write:
            owner[where] = iteration
    for access, where, (_, iteration) in zip(accesses, address, placed, strict=True):
        fine = owner[where] == iteration
        if not access.write:
            fine |= owner[where] == -1
        if not fine.all():
            return False
    return True
