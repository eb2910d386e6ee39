"""What a statement does to its element: always, or under a guard that is a term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import Buffer
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.integers import operation
from perfdojo.compiler.validate.terms import UNWRITTEN, Terms

Number = Callable[[], int]


@dataclass(slots=True)
class Update:
    """The two forms of a statement; `under` takes the term of the guard."""

    always: Callable[[], None]
    under: Callable[[int], None]


def assignment(terms: Terms, buffer: Buffer, storage: list[int], offset: Number, value: Number) -> Update:
    """Return `element = value`; what nothing wrote has a term of its own where the guard does not hold."""
    dtype = buffer.dtype
    key = f"select.{dtype.name}"

    def always() -> None:
        term = value()
        storage[offset()] = term

    def under(guard: int) -> None:
        term = value()
        at = offset()
        old = storage[at]
        if old == UNWRITTEN:
            old = terms.unwritten(buffer, at)
        if old != term:
            storage[at] = terms[(key, guard, term, old)]

    return Update(always, under)


def reduction(
    terms: Terms,
    sign: str,
    dtype: DType,
    storage: list[int],
    offset: Number,
    value: Number,
    unwritten: Callable[[], Fault],
) -> Update:
    """Return `element sign value`, a term of its own kind (radd, rmul, rmax, rmin): its order may be free."""
    key = f"r{REDUCTIONS[sign]}.{dtype.name}"
    fold, values = operation(REDUCTIONS[sign], dtype), terms.ints

    def always() -> None:
        term = value()
        at = offset()
        old = storage[at]
        if old < 0:
            raise unwritten()
        if fold is not None and old in values and term in values:
            storage[at] = terms.constant(dtype, fold(values[old], values[term]))
            return
        storage[at] = terms[(key, old, term)]

    def under(guard: int) -> None:
        term = value()
        at = offset()
        old = storage[at]
        if old < 0:
            raise unwritten()
        storage[at] = terms[(key, old, term, guard)]

    return Update(always, under)
