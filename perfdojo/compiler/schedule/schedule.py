"""A schedule as data, and a program that one has made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from perfdojo.compiler.ir import Program, Source, Span
from perfdojo.compiler.lowering.target import FpLevel
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
        span: the name of the kernel in the source.
    """

    kernel: str
    steps: tuple[Step, ...] = ()
    target: str = ""
    fp: FpLevel | Literal[""] = ""
    source: Source | None = field(default=None, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What a schedule has made of a program: it is lowered as it is.

    Attributes:
        text: the schedule.
        option: what `perfdojoc` is given to take this schedule; "" where it does so by itself.
    """

    program: Program
    text: str
    option: str = ""
