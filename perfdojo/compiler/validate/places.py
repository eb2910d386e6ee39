"""Where an access lies in the storage of its buffer, its indices checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perfdojo.compiler.ir import Buffer
from perfdojo.compiler.validate.expressions import Value
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.forms import Known, Open, combine, sum_of
from perfdojo.compiler.validate.forms import Terms as LinearTerms
from perfdojo.compiler.validate.terms import strides
from perfdojo.compiler.walk import const_int

Number = Callable[[], int]


@dataclass(slots=True)
class Place:
    """An access.

    Attributes:
        offset: computes the position in the storage.
        name: the element as written.
        linear: the offset as a linear form, where it is one.
    """

    offset: Number
    name: Callable[[], str]
    linear: tuple[int, LinearTerms] | None = None


Layout = tuple[tuple[int, int], ...]
"""Step in the storage, and extent, of each dimension."""


def layout(buffer: Buffer) -> Layout:
    """Return steps and extents of a buffer."""
    return tuple((step, const_int(e)) for step, e in zip(strides(buffer), buffer.shape, strict=True))


def place(
    buffer: Buffer,
    dimensions: Layout,
    indices: Sequence[Value],
    index_of: Callable[[Open], Number],
    where: Callable[[], str],
    now: list[int],
) -> Place:
    """Return the place of an access.

    Indices that are within their extents at all iterations, and linear, become one linear form; the others
    are computed one by one, and checked where they may leave the buffer.
    """
    numbers = [i.value if isinstance(i, Known) else index_of(i) for i in indices]

    def name() -> str:
        return f"{buffer.name}[{','.join(str(n()) for n in numbers)}]"

    parts: list[tuple[int, tuple[int, LinearTerms]]] = []
    others: list[tuple[Number, int, int]] = []
    for index, number, (step, extent) in zip(indices, numbers, dimensions, strict=True):
        inside = isinstance(index, Known) and index.low >= 0 and index.high < extent
        if inside and step == 0:
            continue
        if inside and isinstance(index, Known) and index.linear is not None:
            parts.append((step, index.linear))
        else:
            others.append((number, step, extent))
    form = combine(parts)
    linear = sum_of(now, *form)
    if not others:
        return Place(linear, name, form)

    def leaves(extent: int) -> Fault:
        return Fault(f"names {name()}, outside of the extent {extent}, {where()}")

    if len(others) == 1:
        ((only, step, extent),) = others

        def single() -> int:
            at = only()
            if not 0 <= at < extent:
                raise leaves(extent)
            return linear() + at * step

        return Place(single, name)

    def run() -> int:
        offset = linear()
        for number, step, extent in others:
            at = number()
            if not 0 <= at < extent:
                raise leaves(extent)
            offset += at * step
        return offset

    return Place(run, name)


def element_at(storage: list[int], found: Place, now: list[int]) -> Number:
    """Return what reads the element at a place; forms that occur often save a call."""
    offset = found.offset
    if found.linear is None or len(found.linear[1]) > 2:
        return lambda: storage[offset()]
    const, terms = found.linear
    if not terms:
        return lambda: storage[const]
    if len(terms) == 1:
        ((i, a),) = terms
        return (lambda: storage[now[i]]) if (a, const) == (1, 0) else (lambda: storage[a * now[i] + const])
    (i, a), (j, b) = terms
    return lambda: storage[a * now[i] + b * now[j] + const]
