"""The iterations of two statements in which a move makes them change places, as variables in boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from perfdojo.compiler.analysis.affine import Forms
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.ir import Scope

Variables = tuple[int, ...]
"""Variables whose sum something is."""


class Pair(NamedTuple):
    """Scopes at one depth around x and y, and their variables.

    Attributes:
        ahead: x's iteration number minus y's.
        last: that of x at most.
        is_window: the move bounds `ahead`.
    """

    x_scope: str
    y_scope: str
    ahead: int
    x: int
    y: int
    last: int
    is_window: bool


class Frame:
    """The iterations of two statements in which a move makes them change places.

    Args:
        equal: how many outermost scopes are in the same iteration in both.
        windows: for each of the scopes that follow, the range of x's iteration number minus y's.
    """

    def __init__(
        self, forms: Forms, xs: Sequence[Scope], ys: Sequence[Scope], equal: int, windows: Sequence[Range]
    ) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.x: dict[str, Variables] = {}
        self.y: dict[str, Variables] = {}
        self.pairs: list[Pair] = []
        self.equal = equal
        self.possible = True
        extents = forms.extents
        for d in range(equal, min(len(xs), len(ys))):
            one, two = xs[d].name, ys[d].name
            is_window = d - equal < len(windows)
            if not is_window and one != two:
                break
            last_x, last_y = extents[one] - 1, extents[two] - 1
            low, high = windows[d - equal] if is_window else (-last_y, last_x)
            low, high = max(low, -last_y), min(high, last_x)
            self.possible &= low <= high
            ahead, x, y = self._new(low, high), self._new(0, last_x), self._new(0, last_y)
            self.pairs.append(Pair(one, two, ahead, x, y, last_x, is_window))
            self.x[one], self.y[two] = (x,), (y,)
        for scope in xs[:equal]:
            self.x[scope.name] = self.y[scope.name] = (self._new(0, extents[scope.name] - 1),)
        for scopes, names in ((xs, self.x), (ys, self.y)):
            for scope in scopes[equal + len(self.pairs) :]:
                names[scope.name] = (self._new(0, extents[scope.name] - 1),)
        self.shared = frozenset(s.name for s in xs[:equal])

    def _new(self, low: int, high: int) -> int:
        self.low.append(low)
        self.high.append(high)
        return len(self.low) - 1
