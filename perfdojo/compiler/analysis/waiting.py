"""Where those who run a program together wait for each other: barriers, each as late as it can be.

A program is cut into parts that one, some or all of them run, and loops that all of them run. Which two
parts must not run at the same time is asked of the kind of machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from perfdojo.compiler.ir import Scope


class Waits(Protocol):
    """A part of a program.

    Attributes:
        around: the scopes around its nodes, outermost first.
        barrier: all arrive at one before it.
        wait: copies that were begun have to be done before it.
    """

    around: tuple[Scope, ...]
    barrier: bool
    wait: bool


P = TypeVar("P", bound=Waits)


@dataclass(eq=False, slots=True)
class Turns(Generic[P]):
    """A loop that all run; `depth`: scopes around it."""

    scope: Scope
    items: list[P | Turns[P]]
    depth: int
    barrier: bool = False


class Open(NamedTuple, Generic[P]):
    """A part that ran since the last barrier.

    Attributes:
        carrier: depth of the loop in an earlier iteration of which it did; None: in the same one of all.
        last: that was the iteration before.
    """

    part: P
    carrier: int | None = None
    last: bool = False


class Waiting(Generic[P]):
    """Sets the barriers of a program, and the waits for copies.

    Args:
        asked: what has to stand between two parts: "barrier", "wait" for copies, or "".
    """

    def __init__(self, asked: Callable[[Open[P], P], str]) -> None:
        self._asked = asked
        self._answers: dict[tuple[Open[P], P], str] = {}

    def settle(self, items: Sequence[P | Turns[P]], before: list[Open[P]]) -> list[Open[P]]:
        """Set the barriers of sibling items and return what is open behind them."""
        opened = before
        for item in items:
            if item.barrier:
                opened = []
            if isinstance(item, Turns):
                opened = self._loop(item, opened)
                continue
            found = {self._between(o, item) for o in opened}
            if "barrier" in found:
                item.barrier, opened = True, []
            item.wait = item.wait or "wait" in found
            opened = [*opened, Open(item)]
        return opened

    def _loop(self, loop: Turns[P], before: list[Open[P]]) -> list[Open[P]]:
        # what iterations ask of each other, then what they ask of what was before
        last = self.settle(loop.items, [])
        each = _waits(loop.items)
        last = self.settle(loop.items, [Open(part, loop.depth, each) for part in _unique(last)])
        clash, stopped = self._enters(loop.items, before)
        if clash:
            loop.barrier = True
        after = [Open(part) for part in _unique(last)]
        return after if loop.barrier or stopped else [*before, *after]

    def _enters(self, items: Sequence[P | Turns[P]], before: list[Open[P]]) -> tuple[bool, bool]:
        """Tell whether items clash with what was before, up to their first barrier; whether there is one."""
        for item in items:
            if item.barrier:
                return False, True
            if isinstance(item, Turns):
                clash, stopped = self._enters(item.items, before)
                if clash or stopped:
                    return clash, stopped
                continue
            found = {self._between(o, item) for o in before}
            if "barrier" in found:
                return True, False
            item.wait = item.wait or "wait" in found
        return False, False

    def _between(self, opened: Open[P], second: P) -> str:
        key = opened, second
        if key not in self._answers:
            self._answers[key] = self._asked(opened, second)
        return self._answers[key]


def in_turn(opened: Open[P], second: P) -> tuple[int, list[str]]:
    """Return the scopes that an open part and a later one have in common, and the order of iterations.

    These are conditions on the iterations a0, a1, ... of the scopes around the first, b0, b1, ... around the
    second: that they are the same is left to the caller, so far as the first number says.
    """
    common = 0
    for x, y in zip(opened.part.around, second.around, strict=False):
        if x.name != y.name:
            break
        common += 1
    level = opened.carrier
    if level is None:
        return common, []
    return level, [f"b{level} = a{level} + 1" if opened.last else f"a{level} < b{level}"]


def _unique(opened: list[Open[P]]) -> list[P]:
    return list(dict.fromkeys(o.part for o in opened))


def _waits(items: Sequence[P | Turns[P]]) -> bool:
    """Tell whether there is a barrier in a loop, which each of its iterations then comes to."""
    return any(item.barrier or (isinstance(item, Turns) and _waits(item.items)) for item in items)
