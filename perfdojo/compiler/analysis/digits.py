"""An index as a number with digits: which are numbers of blocks and threads, and what is left.

{b}*64 + {i}*32 + {t}     b of a grid is the highest digit, thread t the lowest: i is left
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.affine import Affine, Atom, atom_scopes
from perfdojo.compiler.ir import Scope
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True, slots=True)
class Split:
    """What is left of an index: without some digits, those above them moved down.

    Attributes:
        scopes: whose numbers are these digits (those of threads by the dimension of the block).
        extent: the numbers that are left are below it.
        above, below: weight of the digits above, and what all digits below come to at most, plus 1; weights
            that `above` divides are divided by above / below. 0: none are above.
        first: a split that is done before.
    """

    scopes: frozenset[str]
    extent: int
    above: int = 0
    below: int = 1
    first: Split | None = None

    def local(self, form: Affine) -> Affine:
        """Return what is left; `form` names threads by the dimension of the block."""
        form = form if self.first is None else self.first.local(form)
        kept = {t: c for t, c in form.terms.items() if t not in self.scopes}
        if not self.above:
            return Affine(form.const, kept)
        terms = {t: c if c % self.above else c // self.above * self.below for t, c in kept.items()}
        high, low = divmod(form.const, self.above)
        return Affine(high * self.below + low, terms)

    def then(self, other: Split) -> Split:
        """Return the split that does this one, and then another."""
        return replace(other, scopes=self.scopes | other.scopes, first=self)


def split_high(known: Model, forms: Sequence[Affine], scopes: Mapping[str, Scope]) -> Split | None:
    """Return the split whose digits are the highest ones of all forms, the numbers of some scopes."""
    digits = _digits(forms, scopes)
    if not digits:
        return None
    ordered = sorted((c, const_int(scopes[s].extent)) for s, c in digits.items())
    if not _apart(ordered):
        return None
    split = Split(frozenset(digits), 0)
    low, high = _range(known, [split.local(f) for f in forms])
    return Split(split.scopes, high + 1) if low >= 0 and high < ordered[0][0] else None


def split_low(known: Model, forms: Sequence[Affine], threads: Mapping[str, int]) -> Split | None:
    """Return the split whose digits are low ones of all forms, the numbers of threads."""
    digits = _digits(forms, threads)
    if not digits:
        return None
    ordered = sorted((c, threads[axis]) for axis, c in digits.items())
    below, span = ordered[0][0], sum(c * (n - 1) for c, n in ordered)
    left = [Split(frozenset(digits), 0).local(f) for f in forms]
    above = gcd(*(c for f in left for c in f.terms.values() if c >= below))
    rests = [Affine(f.const % above if above else f.const, _without(f, above)) for f in left]
    low, high = _range(known, rests)
    if not _apart(ordered) or low < 0 or high >= below or (above and (above <= span or above % below)):
        return None
    split = Split(frozenset(digits), 0, above, below)
    low, high = _range(known, [split.local(f) for f in forms])
    return Split(split.scopes, high + 1, above, below) if low >= 0 else None


def _without(form: Affine, above: int) -> dict[Atom, int]:
    return {t: c for t, c in form.terms.items() if not above or c % above}


def _digits(forms: Sequence[Affine], numbers: Mapping[str, object]) -> dict[str, int]:
    """Return the positive coefficients of some numbers, the same in all forms; {} where there are none."""
    found: dict[str, int] | None = None
    for form in forms:
        here = {t: c for t, c in form.terms.items() if isinstance(t, str) and t in numbers}
        if (
            (found is not None and here != found)
            or not form.quasi_affine
            or min(here.values(), default=0) <= 0
        ):
            return {}
        if any(s in numbers for t in form.terms if not isinstance(t, str) for s in atom_scopes(t)):
            return {}
        found = here
    return found or {}


def _apart(digits: Sequence[tuple[int, int]]) -> bool:
    """Tell whether different digits, (weight, count) from the lowest on, make different numbers."""
    reach = 0
    for weight, count in digits:
        if weight <= reach:
            return False
        reach += weight * (count - 1)
    return True


def _range(known: Model, forms: Sequence[Affine]) -> tuple[int, int]:
    ranges = [known.forms.range(f) for f in forms]
    return min(low for low, _ in ranges), max(high for _, high in ranges)
