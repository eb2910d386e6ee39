"""Faults to plant: each changes one place of the compiler's source into something wrong."""

from __future__ import annotations

from dataclasses import dataclass

_TRANSFORMS = "perfdojo.compiler.transforms."


@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which occurs once in the source of `module`, becomes `new`."""

    title: str
    module: str
    old: str
    new: str

    def planted(self, source: str) -> str:
        """Return the faulty source.

        Raises:
            ValueError: the source has changed and the fault has to be written anew.
        """
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.title}: {self.old!r} occurs {source.count(self.old)} times in {self.module}"
            )
        return source.replace(self.old, self.new)


def _in(transform: str, title: str, old: str, new: str) -> Fault:
    return Fault(f"{transform}: {title}", _TRANSFORMS + transform, old, new)


FAULTS: tuple[Fault, ...] = (
    _in(
        "tile_scope",
        "the tail is one short",
        "Literal(const_int(s.extent) - start, I64)",
        "Literal(max(1, const_int(s.extent) - start - 1), I64)",
    ),
    _in(
        "tile_scope",
        "the tail starts one early",
        "iteration(tail, 1, start)",
        "iteration(tail, 1, start - 1)",
    ),
    _in("tile_scope", "no mask", "    body = _guarded(body, inside)", "    pass"),
    _in(
        "tile_scope",
        "the mask is one short",
        'Op("lt", (expression(index), Literal(extent, I64)))',
        'Op("lt", (expression(index), Literal(extent - 1, I64)))',
    ),
    _in(
        "tile_scope", "the step of blocks", "iteration(outer, f).plus", "iteration(outer, max(1, f - 1)).plus"
    ),
    _in(
        "tile_scope",
        "a remainder is forgotten",
        'extent % self.factor and self.remainder == "exact"',
        "False",
    ),
)
