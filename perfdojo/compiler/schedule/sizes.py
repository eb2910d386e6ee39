"""Smaller sizes of a kernel at which something is still legal, and sizes with odd remainders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from perfdojo.compiler.bind import size_values
from perfdojo.compiler.ir import Literal, Program

_TILES = (48, 16, 8)
"""Sizes that keep their remainder by one of these leave the tail that they left before."""

_ODD = (3, 5, 7, 1, -1, -3)
"""What is added to sizes to leave odd remainders, in the order of trial."""


def descended(kernel: Program, legal: Callable[[Mapping[str, int]], bool]) -> Iterator[Mapping[str, int]]:
    """Yield sizes that were made smaller one after the other as far as they are legal, larger ones first.

    The last ones are the smallest that were found; before them come those of twice as many blocks each, so
    that loops over blocks run more than once.
    """
    values = size_values(kernel, {})
    free = {s.name: values[s.name] for s in kernel.sizes if isinstance(s.value, Literal) and not s.fixed}
    least: dict[str, int] = {}
    for name in sorted(free, key=lambda n: -free[n]):
        found = next((v for v in menu(free[name]) if legal({**least, name: v})), None)
        if found is not None:
            least[name] = found
    more = {n: v + v for n, v in least.items() if v + v < free[n]}
    yield {**least, **more}
    for name, value in more.items():
        yield {**least, name: value}
    yield least


def menu(value: int) -> list[int]:
    """Return smaller values, ascending: halves of it, and what keeps its remainder by a tile."""
    found = {value >> k for k in range(1, value.bit_length()) if not value % (1 << k)}
    for tile in _TILES:
        blocks = 1
        while (value % tile) + blocks * tile < value:
            found.add(value % tile + blocks * tile)
            blocks *= 2
        if value % tile and value > tile:
            found.add(value % tile)
    return sorted(found)


def odd(values: Mapping[str, int], chosen: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """Yield sizes near the chosen ones with other remainders: all changed, then each alone.

    Args:
        values: of all sizes, with the chosen ones.
        chosen: the sizes that may be changed.
    """
    names = [n for n in chosen if values[n] > 1]
    for first in range(2):
        steps = {n: _ODD[(first + k) % len(_ODD)] for k, n in enumerate(names)}
        yield {**chosen, **{n: values[n] + step for n, step in steps.items()}}
    for n in names:
        yield {**chosen, n: values[n] + _ODD[0]}
