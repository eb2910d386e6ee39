"""How much a program executes, and smaller sizes at which that is little."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from perfdojo.compiler.bind import bind, size_values
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Literal, Program
from perfdojo.compiler.validate.terms import stored_elements
from perfdojo.compiler.walk import const_int, statements

LIMIT = 300_000
"""Statement executions, and stored elements, up to which a program is validated: seconds, and some 100 MB."""

QUICK = 20_000
"""Executions and elements together that take about a fifth of a second."""

_TILES = (48, 16, 8, 4, 2, 1)
"""Sizes shrink by multiples of one of these, so that tiles up to it leave the tail that they left before."""


def executions(program: Program) -> int:
    """Return how many statements a bound program executes, guards aside."""
    return sum(prod(const_int(s.extent) for s in scopes) for scopes, _ in statements(program))


def elements(program: Program) -> int:
    """Return how many elements the buffers of a bound program store."""
    return sum(stored_elements(b) for b in program.buffers)


def check_limit(program: Program, limit: int) -> None:
    """Refuse a bound program that is too large.

    Raises:
        PerfDojoError: it executes more than `limit` statements, or stores more than `limit` elements.
    """
    for count, what in (
        (executions(program), "execute {} statements"),
        (elements(program), "hold {} elements"),
    ):
        if count > limit:
            sizes = [(s.name, s.value.value) for s in program.sizes if isinstance(s.value, Literal)]
            named = " ".join(f"-D {n}={max(1, int(v) // 4)}" for n, v in sizes if v >= 4)
            raise PerfDojoError(
                f"to validate {program.name} would {what.format(count)}; the limit is {limit}",
                program.source,
                None,
                f"make the sizes smaller, for instance {named}" if named else "make the extents smaller",
            )


def shrunk_sizes(program: Program, limit: int = QUICK) -> dict[str, int]:
    """Return values for sizes of an unbound program, at which it executes and stores about `limit` at most.

    The largest size is halved, by a multiple of 48 if it can be, else of 16, 8, 4, 2 or 1, until the program
    is small enough or nothing helps. Sizes that follow from others, and `fixed` ones, stay. A schedule for
    the given sizes need not be legal for these; the caller tries.

    Raises:
        PerfDojoError: the program cannot be bound as it is.
    """
    values = size_values(program, {})
    free = {s.name: values[s.name] for s in program.sizes if isinstance(s.value, Literal) and not s.fixed}
    chosen: dict[str, int] = {}
    cost = _cost(program, chosen)
    assert cost is not None
    while cost > limit and free:
        name = max(free, key=lambda n: free[n])
        for value in _smaller(free[name]):
            found = _cost(program, {**chosen, name: value}, quiet=True)
            if found is not None and found < cost:
                chosen[name] = free[name] = value
                cost = found
                break
        else:
            del free[name]
    return chosen


def _smaller(value: int) -> list[int]:
    """Return values of about half, those that keep the residue of the widest tile first."""
    found = []
    for tile in _TILES:
        smaller = value - tile * max(1, value // 2 // tile)
        if smaller >= max(1, tile // 2):
            found.append(smaller)
    return found


def _cost(program: Program, sizes: Mapping[str, int], quiet: bool = False) -> int | None:
    """Return executions and elements at these sizes; None where they are not legal, if `quiet`."""
    try:
        bound = bind(program, sizes)
    except PerfDojoError:
        if quiet:
            return None
        raise
    return executions(bound) + elements(bound)
