"""Numbers of the planner that a schedule may choose: `plan rows 4 vectors 2`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knobs:
    """What is 0 is chosen by the planner.

    Attributes:
        rows, vectors: most rows and vectors of the register tile of a contraction.
        passes: vectors in one pass of a loop in lanes without reductions.
        sums: rows that a column sum adds in one pass, and dot products that share an operand.
    """

    rows: int = 0
    vectors: int = 0
    passes: int = 0
    sums: int = 0


CHOSEN = Knobs()
"""All by the planner."""
