"""Whether an access stays inside its buffer: by intervals, by its conditions, and at last by integer sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Condition, Model
from perfdojo.compiler.analysis.affine import Affine, Atom, Forms
from perfdojo.compiler.analysis.ranges import TRUTH, Range
from perfdojo.compiler.ir import Expr, Op, Scope
from perfdojo.compiler.walk import subexpressions


@dataclass(frozen=True, slots=True)
class Outside:
    """An index that can leave its buffer.

    Attributes:
        dimension: which index.
        index: its value in the first iteration that shows it.
        iteration: that iteration, of each scope around the access.
        unknown: what else the index depends on, with its range; empty when `index` is certain.
    """

    dimension: int
    index: int
    iteration: Mapping[str, int]
    unknown: tuple[tuple[Expr, Range], ...]


def outside(model: Model, access: Access) -> Outside | None:
    """Return the first index of an access that can leave its buffer, None when there is none.

    Raises:
        Undecided: the conditions are too complicated.
    """
    shape = model.shape(access.load.buffer)
    known: Mapping[Atom, Range] | None = None
    held: list[Affine] = []
    for dimension, (form, extent) in enumerate(zip(access.indices, shape, strict=True)):
        low, high = model.forms.range(form)
        if low >= 0 and high < extent:
            continue
        if access.conditions:
            if known is None:
                held = [f for c in access.conditions for f in implied(model.forms, c)]
                known = tighter(model.forms, held)
            low, high = bounded(model.forms, form, held, known)
            if low >= 0 and high < extent:
                continue
        found = _exact(model, access, dimension)
        if found is not None:
            return found
    return None


def implied(forms: Forms, condition: Condition) -> Iterable[Affine]:
    """Yield linear forms that are >= 0 wherever the condition holds; there may be more to it."""
    expr, value = condition
    match expr:
        case Op(op="not", args=(a,)):
            yield from implied(forms, (a, not value))
        case Op(op="and" | "or" as op, args=(a, b)) if (op == "and") == value:
            yield from implied(forms, (a, value))
            yield from implied(forms, (b, value))
        case Op(op="lt" | "le" | "gt" | "ge" | "eq" | "ne" as op, args=(a, b)):
            left, right = forms.form(a), forms.form(b)
            if left is None or right is None:
                return
            difference = left.plus(right, -1)
            sign = op if value else _OPPOSITE[op]
            if sign in ("ge", "eq"):
                yield difference
            if sign in ("le", "eq"):
                yield difference.times(-1)
            if sign == "gt":
                yield Affine(difference.const - 1, difference.terms)
            if sign == "lt":
                below = difference.times(-1)
                yield Affine(below.const - 1, below.terms)


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def tighter(forms: Forms, held: Iterable[Affine]) -> dict[Atom, Range]:
    """Return ranges of single atoms that follow from forms being >= 0."""
    known: dict[Atom, Range] = {}
    for form in held:
        if len(form.terms) != 1:
            continue
        ((atom, coefficient),) = form.terms.items()
        low, high = known.get(atom) or forms.atom_range(atom)
        if coefficient > 0:
            low = max(low, -(form.const // coefficient))
        else:
            high = min(high, form.const // -coefficient)
        known[atom] = (low, high)
    return known


def bounded(forms: Forms, form: Affine, held: Iterable[Affine], known: Mapping[Atom, Range]) -> Range:
    """Return the range of a form where other forms are >= 0; those that differ by a constant count."""
    low, high = forms.range(form, known)
    for other in held:
        if other.terms == form.terms:
            low = max(low, form.const - other.const)
        elif len(other.terms) == len(form.terms) and not form.plus(other).terms:
            high = min(high, form.const + other.const)
    return low, high


def _exact(model: Model, access: Access, dimension: int) -> Outside | None:
    with model.sets.decided():
        found = model.sets.outside(access, dimension)
    if found is None:
        return None
    at, value, hangs_on = found
    parts = set(subexpressions(access.load.indices[dimension]))
    unknown = tuple((e, model.forms.value(e).range or TRUTH) for e in hangs_on if e in parts)
    return Outside(dimension, value, iteration(access.scopes, at), unknown)


def iteration(scopes: Sequence[Scope], at: Sequence[int]) -> Mapping[str, int]:
    """Return the iteration number of each scope at a point."""
    return {s.name: n for s, n in zip(scopes, at, strict=False)}
