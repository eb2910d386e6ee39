"""Numbers of the planner that a schedule may choose: `plan rows 4 vectors 2`."""

from __future__ import annotations

from dataclasses import dataclass, fields

from perfdojo.compiler.lowering.target import Target


@dataclass(frozen=True, slots=True)
class Knobs:
    """What is 0 is chosen by the planner.

    Attributes:
        rows, vectors: most rows and vectors of the register tile of a contraction; for data movers, `rows`
            are the results that are computed side by side.
        passes: vectors in one pass of a loop in lanes without reductions.
        sums: rows that a column sum adds in one pass, and dot products that share an operand; for data
            movers, accumulators of a reduction to few elements.
    """

    rows: int = 0
    vectors: int = 0
    passes: int = 0
    sums: int = 0


CHOSEN = Knobs()
"""All by the planner."""
NAMES = tuple(f.name for f in fields(Knobs))


def known_knobs(target: Target) -> tuple[str, ...]:
    """Return the numbers that the planner of a target has a use for."""
    if "grid_x" in target.marks:
        return ()
    return tuple(n for n in NAMES if n != "vectors" or "stream" not in target.marks)
