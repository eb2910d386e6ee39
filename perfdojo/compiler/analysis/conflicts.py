"""Whether two accesses can meet: different iterations of a scope that name the same element.

Quick where one dimension keeps them apart, else by integer sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model, common_scopes
from perfdojo.compiler.analysis.affine import Affine, Atom, Forms, at_zero, atom_scopes
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.ir import Statement


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two iterations of a scope that touch one element, the first two that do.

    Attributes:
        first, second: the accesses, that of the earlier iteration first.
        iterations: the two iteration numbers of the scope.
        around: the iteration of the scopes around it.
        element: the element, as `name[0,3]`.
        certain: it happens whatever the data are.
    """

    first: Access
    second: Access
    iterations: tuple[int, int]
    around: Mapping[str, int]
    element: str
    certain: bool

    def __str__(self) -> str:
        can = "" if self.certain else "can "
        a, b = self.iterations
        where = ", ".join(f"{n} = {i}" for n, i in self.around.items())
        where = f" (at {where})" if where else ""
        if self.first.writes and self.second.writes:
            return f"iterations {a} and {b} {can}both write {self.element}{where}"
        s = "s" if self.certain else ""
        first, second = (f"write{s}", f"read{s}") if self.first.writes else (f"read{s}", f"write{s}")
        return f"iteration {a} {can}{first} {self.element} and iteration {b} {second} it{where}"


@dataclass(frozen=True, slots=True)
class RepeatedStart:
    """An element that a reduction would start twice: in two iterations of the scopes around its start."""

    element: str
    first: Mapping[str, int]
    second: Mapping[str, int]


def depth_of(known: Model, scope: str) -> int:
    """Return how many scopes are around a scope."""
    around = known.statements[known.extent_in_text[scope][0]][0]
    return next(d for d, s in enumerate(around) if s.name == scope)


def _split(forms: Forms, form: Affine, access: Access, depth: int) -> tuple[int, Affine, Range] | None:
    """Cut an index into coefficient of the scope at `depth`, part of the scopes around it, range of the rest.

    None when the scope's iteration occurs otherwise than by itself.
    """
    scope = access.scopes[depth].name
    outer = {s.name for s in access.scopes[:depth]}
    around: dict[Atom, int] = {}
    inner: dict[Atom, int] = {}
    for atom, coefficient in form.terms.items():
        if atom == scope:
            continue
        names = {atom} if isinstance(atom, str) else set(atom_scopes(atom))
        if scope in names:
            return None
        is_fixed = names <= outer and Affine(0, {atom: 1}).quasi_affine
        (around if is_fixed else inner)[atom] = coefficient
    return form.terms.get(scope, 0), Affine(0, around), forms.range(Affine(form.const, inner))


def all_apart(known: Model, accesses: Sequence[Access], depth: int) -> bool:
    """True when one dimension keeps all accesses of different iterations apart; linear in their number."""
    if known.forms.extents[accesses[0].scopes[depth].name] == 1:
        return True
    for d in known.stored(accesses[0].load.buffer):
        seen: tuple[int, Affine] | None = None
        low = high = 0
        for access in accesses:
            parts = _split(known.forms, access.indices[d], access, depth)
            if parts is None or parts[0] == 0 or (seen is not None and seen != parts[:2]):
                break
            low, high = (min(low, parts[2][0]), max(high, parts[2][1])) if seen else parts[2]
            seen = parts[:2]
            if high - low >= abs(parts[0]):
                break
        else:
            return True
    return False


def apart(
    known: Model, a: Access, b: Access, depth: int, whole: bool = False, dims: Sequence[int] | None = None
) -> bool:
    """True when one dimension shows that different iterations at `depth` never meet in a and b.

    Args:
        whole: compare in all dimensions, not only in those that are materialised.
        dims: compare in these dimensions.
    """
    forms = known.forms
    last = forms.extents[a.scopes[depth].name] - 1
    if last == 0:
        return True
    if dims is None:
        dims = range(len(a.indices)) if whole else known.stored(a.load.buffer)
    for d in dims:
        x, y = _split(forms, a.indices[d], a, depth), _split(forms, b.indices[d], b, depth)
        if x is None or y is None:
            continue
        low, high = forms.range(x[1].plus(y[1], -1))
        low, high = low + x[2][0] - y[2][1], high + x[2][1] - y[2][0]
        if x[0] == y[0] and -abs(x[0]) < low and high < abs(x[0]):
            return True
        corners = [x[0] * i - y[0] * j for i in (0, last) for j in (0, last)]
        if low + min(corners) > 0 or high + max(corners) < 0:
            return True
    return False


def surely_repeated(known: Model, access: Access, depth: int) -> bool:
    """True when a write without conditions touches the same elements in each iteration at `depth`."""
    scope = access.scopes[depth].name
    if not access.writes or access.conditions or known.forms.extents[scope] == 1:
        return False
    forms = [access.indices[d] for d in known.stored(access.load.buffer)]
    return all(f.quasi_affine and scope not in f.scopes() for f in forms)


def meet(known: Model, a: Access, b: Access, depth: int) -> Conflict | None:
    """Return the first different iterations of the scope at `depth` that meet in a and b; None when none do.

    Raises:
        Undecided: the sets are too complicated.
    """
    if a is b and surely_repeated(known, a, depth):
        around = dict.fromkeys((s.name for s in a.scopes[:depth]), 0)
        element = [at_zero(a.indices[d]) for d in known.stored(a.load.buffer)]
        return Conflict(a, a, (0, 1), around, known.element(a.load.buffer, element), True)
    sets = known.sets
    with sets.decided():
        for x, y in ((a, b), (b, a)):
            found = sets.meeting(x, y, depth)
            if found is not None:
                i, j, element = found
                around = {s.name: n for s, n in zip(x.scopes[:depth], i, strict=False)}
                name = known.element(x.load.buffer, element)
                certain = sets.is_certain(x) and sets.is_certain(y)
                return Conflict(x, y, (i[depth], j[depth]), around, name, certain)
            if a is b:
                break
    return None


def repeated_start(known: Model, reduction: Statement) -> RepeatedStart | None:
    """Return an element that the implicit start of a reduction names twice, and so wipes; None when none is.

    A start covers its elements once each time the scope that it precedes begins; starts in different
    iterations of the scopes around that must cover different elements.

    Raises:
        Undecided: the sets are too complicated.
    """
    name = reduction.target.buffer
    start = next(a for a in known.by_buffer[name] if a.writes)
    target = next(a for a in known.by_buffer[name] if a.statement.name == reduction.name and a.writes)
    around = common_scopes(start, target)
    for depth in range(around):
        if apart(known, start, start, depth, whole=True):
            continue
        sets = known.sets
        with sets.decided():
            found = sets.meeting(start, start, depth, whole=True)
        if found is not None:
            i, j, at = found
            names = [s.name for s in start.scopes[:around]]
            element = f"{name}[{','.join(map(str, at))}]"
            return RepeatedStart(
                element, dict(zip(names, i, strict=False)), dict(zip(names, j, strict=False))
            )
    return None
