"""Settings of data movers, as few writes as there can be: what all of them share is written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfdojo.compiler.lowering.nests.nest import Mover

ALL = 31
"""The number that addresses all movers."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One write: a word of the movers in `movers`, whose number in the instruction is `target`."""

    word: str
    value: int
    target: int
    movers: frozenset[int]


def settings(movers: Sequence[Mover]) -> list[Setting]:
    """Return the writes that set all movers, but for the pointers that launch them."""
    wanted: dict[str, dict[int, int]] = {}
    for m in movers:
        for level, (count, step) in enumerate(zip(m.bounds, strides(m), strict=True)):
            wanted.setdefault(f"BOUND{level}", {})[m.number] = count - 1
            wanted.setdefault(f"STRIDE{level}", {})[m.number] = step
        if not m.write:
            wanted.setdefault("REPEAT", {})[m.number] = m.repeat - 1
    out: list[Setting] = []
    for word, values in wanted.items():
        if len(values) > 1 and len(set(values.values())) == 1:
            out.append(Setting(word, next(iter(values.values())), ALL, frozenset(values)))
        else:
            out += [Setting(word, v, number, frozenset((number,))) for number, v in values.items()]
    return out


def strides(m: Mover) -> list[int]:
    """Return what the hardware adds when a loop advances: its step, less what the loops inside have moved."""
    found: list[int] = []
    moved = 0
    for count, step in zip(m.bounds, m.strides, strict=True):
        found.append(step - moved)
        moved += (count - 1) * step
    return found
