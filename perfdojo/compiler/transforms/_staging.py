"""What a copy of a part of a buffer holds, and what becomes of the accesses to that part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.coverage import only_inside
from perfdojo.compiler.analysis.footprint import Box, Extent, hull
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import (
    LANE_MARKS,
    Expr,
    Iter,
    Literal,
    Load,
    Op,
)
from perfdojo.compiler.transforms._forms import over, spelled_form
from perfdojo.compiler.transforms._proved import (
    Region,
    accesses_in,
    is_injective,
    is_plain,
    is_private_inside,
    is_proved,
    is_read_before,
)
from perfdojo.compiler.transforms.base import Violation
from perfdojo.compiler.walk import iterators, loads

ZERO = Literal(0, I64)


@dataclass(frozen=True, slots=True)
class Staging:
    """A copy of a part of a buffer. A slot is an iterator that stands for the index into one dimension of it.

    Attributes:
        dims: of the copy: slot ("" where the only index is 0), extent.
        element: indices of the buffer that belong to the slots.
        value: what is copied in.
        tests: hold where the element lies in the buffer; () when it always does.
        replaced: accesses, or selects around them -> indices into the copy.
        proved: `verify` surely accepts the program with the copy.
        copied_in, copied_out: the copy is filled before, is written back behind.
    """

    dims: tuple[tuple[str, int], ...]
    element: tuple[Expr, ...]
    value: Expr
    tests: tuple[Expr, ...]
    replaced: Mapping[Expr, tuple[Expr, ...]]
    proved: bool
    copied_in: bool = True
    copied_out: bool = False

    @property
    def size(self) -> int:
        """Elements of the copy."""
        return prod(extent for _, extent in self.dims)


def scopes_of(place: Region, access: Access, exprs: Sequence[Expr]) -> list[str]:
    """Return the scopes in `place`, itself included, that occur in expressions, outermost first."""
    used = set[str]().union(*map(iterators, exprs))
    return [s.name for s in access.scopes[len(place.around) :] if s.name in used]


# ---------------------------------------------------------------- boxes


def box_around(known: Model, place: Region, accesses: Sequence[Access], writes: bool) -> Box | None:
    """Return the box around what is accessed, in the materialised dimensions."""
    stored = known.stored(accesses[0].load.buffer)
    return hull(known, accesses, len(place.around), stored, clip=not writes)


def boxed(
    known: Model, place: Region, accesses: Sequence[Access], writes: bool, box: Box | None
) -> Staging | Violation:
    """Return the copy of the box around what is accessed: a dimension for each materialised one."""
    name = accesses[0].load.buffer
    depth, stored = len(place.around), known.stored(name)
    if box is None:
        reason = f"the accesses to {name} in {place.node.name} move differently with the scopes around it"
        return Violation(6, reason)
    if any(e.count < 1 for e in box.extents):
        return Violation(6, f"{place.node.name} accesses nothing of {name} inside its bounds")
    dims = list(zip(stored, box.extents, strict=True))
    wrong = by_data(known, accesses, box)
    if wrong is not None:
        return wrong
    filler = _filler(known, accesses, depth, stored, box, writes)
    if writes and filler is None:
        return not_all_written(name, place)
    tests = tuple(t for d, extent in dims for t in inside(known, name, d, extent))
    element = box_element(known, name, box)
    staging = Staging(
        box_dims(stored, box), element, Load(name, element), tests, box_indices(accesses, stored, box), False
    )
    if filler is not None and writes:
        return _written(known, place, accesses, filler, staging)
    fits = all(_fits(known, a.indices[d], extent) for a in accesses for d, extent in dims)
    return replace(staging, proved=fits and is_proved(known, place, accesses, tests, filler is not None))


def by_data(known: Model, accesses: Sequence[Access], box: Box) -> Violation | None:
    """Return that an index that data decide would have to be spelled anew, or means two things."""
    name, data = accesses[0].load.buffer, False
    for d, extent in zip(known.stored(name), box.extents, strict=True):
        if all(a.indices[d].quasi_affine for a in accesses):
            continue
        data = True
        if not is_whole(extent):
            return Violation(6, f"data decide index {d} of {name}", "give the copy a 'layout'")
    if data and len({a.load for a in accesses}) < len({repr(a.load) for a in accesses}):
        return Violation(6, f"accesses to {name} differ in the sign of a zero only")
    return None


def is_whole(extent: Extent) -> bool:
    """True when an index into the box is the index into the buffer."""
    return extent.stride == 1 and extent.base == Affine(0, {})


def box_dims(stored: Sequence[int], box: Box) -> tuple[tuple[str, int], ...]:
    """Return slots, numbers of dimensions, and extents of the copy of a box."""
    dims = zip(stored, box.extents, strict=True)
    return tuple((str(d) if e.count > 1 else "", e.count) for d, e in dims)


def box_element(known: Model, name: str, box: Box) -> tuple[Expr, ...]:
    """Return the indices of the buffer that belong to the slots of a box; 0 along shared dimensions."""
    forms = dict(zip(known.stored(name), box.extents, strict=True))
    rank = len(known.shape(name))
    return tuple(spelled_form(_moving(d, forms[d])) if d in forms else ZERO for d in range(rank))


def _moving(d: int, extent: Extent) -> Affine:
    return extent.base if extent.count == 1 else extent.base.plus(Affine(0, {str(d): extent.stride}))


def box_indices(accesses: Sequence[Access], stored: Sequence[int], box: Box) -> dict[Expr, tuple[Expr, ...]]:
    """Return the indices into the copy of a box that each access becomes."""
    found: dict[Expr, tuple[Expr, ...]] = {}
    for a in accesses:
        if a.load in found:
            continue
        found[a.load] = tuple(
            a.load.indices[d] if is_whole(e) else spelled_form(over(a.indices[d].plus(e.base, -1), e.stride))
            for d, e in zip(stored, box.extents, strict=True)
        )
    return found


def inside(known: Model, name: str, d: int, extent: Extent, index: Expr | None = None) -> Iterator[Op]:
    """Yield the comparisons that keep the indices of an extent in dimension `d` of a buffer."""
    size = known.shape(name)[d]
    low, high = known.forms.range(extent.base)
    high += extent.stride * (extent.count - 1)
    if low >= 0 and high < size:
        return
    index = spelled_form(_moving(d, extent)) if index is None else index
    if low < 0:
        yield Op("ge", (index, ZERO))
    if high >= size:
        yield Op("lt", (index, Literal(size, I64)))


def _fits(known: Model, index: Affine, extent: Extent) -> bool:
    low, high = known.forms.range(index.plus(extent.base, -1))
    return low >= 0 and high <= extent.stride * (extent.count - 1)


def _filler(
    known: Model, accesses: Sequence[Access], depth: int, stored: Sequence[int], box: Box, writes: bool
) -> Access | None:
    """Return an access that in each iteration of the scopes around touches the box, as far as it is inside.

    One that writes when `writes`; only for one without other conditions than its bounds this is sure.
    """
    if box.exact:
        return next(a for a in accesses if a.writes or not writes)
    for a in accesses:
        if (writes and not a.writes) or (a.conditions and not (writes and only_inside(known, a))):
            continue
        own = hull(known, (replace(a, conditions=()),), depth, stored, clip=not writes)
        if own is not None and own.exact and own.extents == box.extents:
            return a
    return None


# ---------------------------------------------------------------- lists of scopes


def listed(
    known: Model, place: Region, accesses: Sequence[Access], layout: Sequence[str], writes: bool
) -> Staging | Violation:
    """Return the copy whose dimensions are the scopes `layout`, along which one expression is accessed."""
    first = accesses[0]
    load, name, stored = first.load, first.load.buffer, known.stored(first.load.buffer)
    if any(not _is_same(a, first) for a in accesses):
        reason = f"{place.node.name} accesses {name} by more than one expression"
        return Violation(5, reason, "leave out 'layout', which copies a box")
    exprs = [load.indices[d] for d in stored]
    wrong = not_along(place, first, exprs, layout) or _by_changing_data(known, place, accesses, exprs)
    if wrong is not None:
        return wrong
    filler = next((a for a in accesses if a.writes and only_inside(known, a)), None) if writes else None
    if writes and (filler is None or not is_injective(known, filler, layout)):
        return not_all_written(name, place)
    always = not filler.conditions if filler else any(not a.conditions for a in accesses)
    tests: tuple[Expr, ...] = ()
    if not always:
        extents = [(d, Extent(first.indices[d], 1, 1)) for d in stored]
        tests = tuple(t for d, e in extents for t in inside(known, name, d, e, load.indices[d]))
    element = tuple(e if d in stored else ZERO for d, e in enumerate(load.indices))
    slots = tuple((s, known.forms.extents[s]) for s in layout)
    staging = Staging(slots, element, Load(name, element), tests, {load: tuple(map(Iter, layout))}, False)
    if filler is not None:
        return _written(known, place, accesses, filler, staging)
    return replace(staging, proved=is_proved(known, place, accesses, tests, always))


def _is_same(a: Access, b: Access) -> bool:
    """True when two accesses name the same element in the same iteration; 0.0 and -0.0 compare equal."""
    if a.load != b.load:
        return False
    return all(f.quasi_affine for f in a.indices) or repr(a.load) == repr(b.load)


def not_along(
    place: Region, access: Access, exprs: Sequence[Expr], layout: Sequence[str]
) -> Violation | None:
    """Return that `layout` does not list the scopes in `place` on which the expressions depend, once each."""
    order = scopes_of(place, access, exprs)
    if sorted(layout) == sorted(order):
        return None
    reason = f"{place.node.name} accesses {access.load.buffer} along the scopes [{' '.join(order)}]"
    return Violation(5, f"{reason}, not [{' '.join(layout)}]", "list them once each, the fastest one last")


def _by_changing_data(
    known: Model, place: Region, accesses: Sequence[Access], exprs: Sequence[Expr]
) -> Violation | None:
    """Return that data decide what is accessed, and change or may be out of bounds where it is not."""
    name = accesses[0].load.buffer
    read = {load.buffer for e in exprs for load in loads(e)}
    if not read:
        return None
    changed = {a.load.buffer for a in accesses_in(known, place) if a.writes} & read
    if changed:
        reason = f"{place.node.name} writes {min(changed)}, which decides what of {name} it accesses"
        return Violation(5, reason)
    if all(a.conditions for a in accesses):
        reason = f"elements of {min(read)} decide what of {name} {place.node.name} accesses, if it does"
        return Violation(5, reason)
    return None


# ---------------------------------------------------------------- what is written back


def not_all_written(name: str, place: Region) -> Violation:
    """Return that an element would be copied back that need not have been written."""
    reason = (
        f"no write in {place.node.name} is sure to cover all elements of {name} that would be copied back"
    )
    return Violation(7, reason)


def _written(
    known: Model, place: Region, accesses: Sequence[Access], filler: Access, staging: Staging
) -> Staging:
    """Return the staging of an access that writes, with what it takes to copy in and out."""
    name = filler.load.buffer
    copied_in = next(a for a in accesses if a.writes).kind != "write" or is_read_before(known, place, name)
    clear = is_plain(known, accesses) and not staging.tests and not filler.conditions
    if clear and copied_in:
        # a reduction reads all that it writes, so that had a value before
        clear = known.buffers[name].role == "inout" or all(a.kind == "reduce" for a in accesses)
    # in lanes, iterations may share a reduction, but not an element that is read and then written
    clear = clear and all(s.mark not in LANE_MARKS for s in place.around)
    clear = clear and not is_private_inside(known, place, accesses)
    return replace(staging, proved=clear, copied_in=copied_in, copied_out=True)
