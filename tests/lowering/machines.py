"""Machines with eight lanes of f32: one without masks, one that can do everything; and one without lanes."""

from __future__ import annotations

from perfdojo.compiler.bind import bind
from perfdojo.compiler.lowering.lir import Function
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.text.parse import parse

EIGHT = Target("eight", "eight lanes", 256, 16, False, lambda op, dtype, lanes: "masked" not in op)
MASKED = Target("masked", "eight lanes and masks", 256, 32, True, lambda op, dtype, lanes: True)
SCALAR = Target("scalar", "no vectors", 0, 16, False, lambda op, dtype, lanes: lanes == 1)


def lowered(text: str, target: Target = EIGHT, fp: FpLevel = "reassoc", threads: int = 1) -> Function:
    """Return the target IR of a kernel without a planner in between."""
    return lower(bind(parse(text, "k.ir")), target, fp, threads)
