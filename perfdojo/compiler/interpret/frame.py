"""Where an execution is: the iteration numbers, and which of them are axes of the arrays at hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Frame:
    """The iterations of one step that are executed together.

    Attributes:
        base: iteration number of each loop; of an axis, the first one. Shared by all steps.
        axes: the scopes that are axes of this step's arrays, in the order of the dimensions.
        size: number of iterations along each axis.
    """

    base: dict[str, int]
    axes: tuple[str, ...] = ()
    size: dict[str, int] = field(default_factory=dict)

    def numbers(self, scope: str) -> NDArray[np.int64]:
        """Return the iteration numbers of a scope, along its axis if it is one."""
        first = self.base[scope]
        if scope not in self.size:
            return np.asarray(first, np.int64)
        shape = [1] * len(self.axes)
        shape[self.axes.index(scope)] = -1
        return np.arange(first, first + self.size[scope], dtype=np.int64).reshape(shape)

    def shape(self, folded: int = 0) -> tuple[int, ...]:
        """Return the shape of a full array; the last `folded` axes count as 1."""
        kept = len(self.axes) - folded
        return tuple(self.size[a] for a in self.axes[:kept]) + (1,) * folded
