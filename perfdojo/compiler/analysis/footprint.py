"""Which elements of a buffer a scope touches, in one iteration of the scopes around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.affine import Affine, Atom, Division, atom_scopes
from perfdojo.compiler.analysis.boxes import fill
from perfdojo.compiler.analysis.conflicts import depth_of
from perfdojo.compiler.ir import Program

if TYPE_CHECKING:
    import islpy as isl

Kind = OneOf["any", "read", "write"]


@dataclass(frozen=True, slots=True)
class Extent:
    """`count` elements along one dimension: base, base + stride, ...; the scopes around decide `base`."""

    base: Affine
    stride: int
    count: int


@dataclass(frozen=True, slots=True)
class Box:
    """A hull of what a scope touches.

    Attributes:
        extents: one for each dimension of the buffer.
        exact: every element of it is touched, in each iteration of the scopes around.
    """

    extents: tuple[Extent, ...]
    exact: bool

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(e.count for e in self.extents)


def footprint_box(program: Program | Model, scope: str, buffer: str, kind: Kind = "any") -> Box | None:
    """Return the smallest strided box around the elements of a buffer that a scope touches.

    None when it touches none, or its accesses move differently with the scopes around it.
    """
    known = model(program)
    accesses = _accesses(known, scope, buffer, kind)
    return hull(known, accesses, depth_of(known, scope)) if accesses else None


def hull(
    known: Model,
    accesses: Sequence[Access],
    depth: int,
    dims: Sequence[int] | None = None,
    clip: bool = True,
) -> Box | None:
    """Return the smallest strided box around what accesses to one buffer touch.

    None when their indices move differently with the `depth` outermost scopes.

    Args:
        dims: the dimensions of the buffer to look at; None for all.
        clip: cut off what lies outside of the buffer where no scope around moves the box.
    """
    outer = {s.name for s in accesses[0].scopes[:depth]}
    shape = known.shape(accesses[0].load.buffer)
    dims = range(len(shape)) if dims is None else dims
    extents, is_exact = [], all(not a.conditions for a in accesses) and _is_product(accesses, outer)
    for d in dims:
        parts = [split(a.indices[d], outer) for a in accesses]
        if any(base != parts[0][0] for base, _ in parts):
            return None
        found = _extent(known, parts[0][0], [inner for _, inner in parts], shape[d] if clip else None)
        extents.append(found)
        is_exact = is_exact and all(_fills(known, inner, found) for _, inner in parts)
    return Box(tuple(extents), is_exact)


def footprint_set(program: Program | Model, scope: str, buffer: str, kind: Kind = "any") -> isl.Map:
    """Return iteration of the scopes around `scope` -> elements (all dimensions) that it may touch.

    Raises:
        Undecided: the sets are too complicated.
        ValueError: it touches none in the text.
    """
    known = model(program)
    accesses = _accesses(known, scope, buffer, kind)
    if not accesses:
        raise ValueError(f"no access to {buffer} inside {scope}")
    depth, sets = depth_of(known, scope), known.sets
    with sets.decided():
        found = sets.touched(accesses[0], depth)
        for access in accesses[1:]:
            found = found.union(sets.touched(access, depth))
        return found.coalesce()


def _accesses(known: Model, scope: str, buffer: str, kind: Kind) -> list[Access]:
    def is_wanted(a: Access) -> bool:
        return kind == "any" or (a.reads if kind == "read" else a.writes)

    return [a for a in known.within(scope) if a.load.buffer == buffer and is_wanted(a)]


def split(form: Affine, outer: set[str]) -> tuple[Affine, Affine]:
    """Cut a form into the part that the scopes around decide and the rest, which holds the constant."""
    fixed: dict[Atom, int] = {}
    inner: dict[Atom, int] = {}
    for atom, coefficient in form.terms.items():
        is_fixed = isinstance(atom, str | Division) and set(atom_scopes(atom)) <= outer
        (fixed if is_fixed and Affine(0, {atom: 1}).quasi_affine else inner)[atom] = coefficient
    return Affine(0, fixed), Affine(form.const, inner)


def _extent(known: Model, base: Affine, inner: Sequence[Affine], size: int | None) -> Extent:
    ranges = [known.forms.range(i) for i in inner]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    clipped = size is not None and not base.terms
    if clipped and size is not None:
        low, high = max(low, 0), min(high, size - 1)
    steps = [c for i in inner for c in i.terms.values()]
    starts = [r[0] for r in ranges]
    stride = gcd(*steps, *(s - starts[0] for s in starts)) or 1
    if clipped and (low - starts[0]) % stride:
        low += stride - (low - starts[0]) % stride
    return Extent(Affine(low, base.terms), stride, (high - low) // stride + 1)


def _fills(known: Model, inner: Affine, extent: Extent) -> bool:
    """True when one access alone touches all of the extent."""
    if not all(isinstance(a, str) for a in inner.terms):
        return False
    steps = tuple((c // extent.stride, known.forms.extents[str(a)]) for a, c in inner.terms.items())
    start = (inner.const - extent.base.const) // extent.stride
    reach, left = fill((start, start), steps)
    return not left and reach == (0, extent.count - 1)


def _is_product(accesses: Sequence[Access], outer: set[str]) -> bool:
    """True when no inner scope moves two dimensions of an access at once."""
    for access in accesses:
        moved = [s for form in access.indices for s in form.scopes() if s not in outer]
        if len(moved) != len(set(moved)):
            return False
    return True
