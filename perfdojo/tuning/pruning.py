"""What is not measured: candidates that the target cannot hold, or that cannot be as fast as the best one."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfdojo.tuning.limits import accumulators, written_out
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import Runner
from perfdojo.tuning.space import Point

MOST_CODE = 4096
"""Operations written out: at 8 bytes an instruction, what a first-level cache of instructions holds."""
PRESSED = 2
"""Times the registers that a reduction's results may take: above it, most of them are in memory anyway."""
BEHIND = 1.1
"""Times the best cost that a limit must reach: both have errors."""


@dataclass
class Pruner:
    """Judges candidates without running them.

    Args:
        runner: knows what a program costs at least.
        trust: what is believed of that. A candidate that was faster than its limit lowers it: limits are
            measured too, and the machine may have been busy then.
    """

    problem: Problem
    runner: Runner
    trust: float = 1.0
    _limits: dict[str, float] = field(default_factory=dict, repr=False)

    def why_not(self, point: Point, best: float | None) -> str:
        """Return why a point need not be measured; "" if it is to be.

        Reasons are `code size`, `registers` and `cost model`.
        """
        target = self.problem.setting.target
        if point.moves is None:
            return ""
        if written_out(point.program, target) > MOST_CODE:
            return "code size"
        if accumulators(point.program, target) > PRESSED * max(1, target.registers):
            return "registers"
        if best is not None and self.trust * self._least(point) > BEHIND * best:
            return "cost model"
        return ""

    def learn(self, point: Point, cost: float) -> None:
        """Be told what a point costs, in the problem's unit."""
        limit = self._least(point)
        if limit > 0:
            self.trust = min(self.trust, cost / limit)

    def _least(self, point: Point) -> float:
        """Return the limit of a point, which most are asked for twice."""
        if point.text not in self._limits:
            self._limits[point.text] = self.runner.least(point.program)
        return self._limits[point.text]
