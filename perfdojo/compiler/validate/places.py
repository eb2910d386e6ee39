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
    """An access: `offset` computes the position in the storage, `name` the element as written."""

    offset: Number
    name: Callable[[], str]


def place(
    buffer: Buffer,
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
    for index, number, step, e in zip(indices, numbers, strides(buffer), buffer.shape, strict=True):
        extent = const_int(e)
        inside = isinstance(index, Known) and index.low >= 0 and index.high < extent
        if inside and step == 0:
            continue
        if inside and isinstance(index, Known) and index.linear is not None:
            parts.append((step, index.linear))
        else:
            others.append((number, step, extent))
    linear = sum_of(now, *combine(parts))
    if not others:
        return Place(linear, name)

    def leaves(extent: int) -> Fault:
        return Fault(f"names {name()}, outside of the extent {extent}, {where()}")

    if len(others) == 1 and not parts:
        ((only, step, extent),) = others

        def single() -> int:
            at = only()
            if not 0 <= at < extent:
                raise leaves(extent)
            return at * step

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
