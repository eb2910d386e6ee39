"""Small problems for searches, and what a search without hardware is made of."""

from __future__ import annotations

import random

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.space import Space

ROWS = """kernel rows
in  x: f32[8, 40]
out y: f32[8, 40]
tmp s: f32[8]

i:8 j:40 s[{0}] += x[{0},{1}]
| k:40 y[{0},{1}] = x[{0},{1}] * s[{0}]
"""


def problem(text: str = ROWS, target: str = "c", fp: FpLevel = "reassoc", unit: str = "s") -> Problem:
    """Return a problem on a machine that is only a name."""
    bound = bind(parse(text, "rows.ir"))
    verify(bound)
    return Problem(bound, Setting(get_target(target), fp), 1, (("cpu", "a name"),), unit)


def space(seed: int = 0, target: str = "c") -> Space:
    """Return the schedules of the small problem."""
    return Space(problem(target=target), random.Random(seed))
