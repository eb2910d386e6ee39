"""A schedule as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfdojo.compiler.ir import Source, Span
from perfdojo.compiler.transforms.base import Transform


@dataclass(frozen=True, slots=True)
class Step:
    """One move; `optional` ones (`try ...`) are left out where they are not legal."""

    move: Transform
    optional: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"try {self.move}" if self.optional else str(self.move)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Moves for one kernel.

    Attributes:
        kernel: name of the kernel.
        target, fp: what it was made for; "" says nothing.
    """

    kernel: str
    steps: tuple[Step, ...] = ()
    target: str = ""
    fp: str = ""
    source: Source | None = field(default=None, compare=False, repr=False)
