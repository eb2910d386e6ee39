"""The end of a search: the best points and those to beat are measured again, in turn; one of them wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdojo.toolchains.statistics import median
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import Runner
from perfdojo.tuning.space import Point

BEST = 5
"""That are measured again, in turn."""
LIKELY = 12
"""From which they are chosen, by two more rounds: among hundreds the first ones are those that were lucky."""
BETTER = 0.98
"""Of the cost of the code as it is planned, or of the shipped schedule, from which on a winner is named."""
WON = 0.8
"""Part of the rounds in which a winner is faster."""


@dataclass(frozen=True)
class Ended:
    """What was measured at the end.

    Attributes:
        finals: points with their samples, the cheapest first.
        winner: of these.
        baselines: costs of what there was, by name.
    """

    finals: tuple[tuple[Point, tuple[float, ...]], ...]
    winner: Point
    baselines: dict[str, float]


def end(problem: Problem, runner: Runner, right: Sequence[Point], to_beat: Mapping[str, Point]) -> Ended:
    """Measure in turn, and name the winner: what there was, unless another one is faster beyond noise.

    Args:
        right: all points that were right, the cheapest first.
        to_beat: what there was, by name; one that is not among these was wrong.
    """
    alive = {p.text for p in right}
    others = [p for p in to_beat.values() if p.text in alive]
    points = list({p.text: p for p in (*_chosen(problem, runner, right[:LIKELY]), *others)}.values())
    samples = dict(zip([p.text for p in points], runner.compare(points), strict=True))
    ranked = sorted((p for p in points if samples[p.text]), key=lambda p: median(samples[p.text]))
    finals = tuple((p, samples[p.text]) for p in ranked)
    baselines = {n: median(samples[p.text]) for n, p in to_beat.items() if samples.get(p.text)}
    winner = ranked[0] if ranked else to_beat["planned"]
    if baselines:
        least = to_beat[min(baselines, key=lambda n: baselines[n])]
        if not is_faster(samples[winner.text], samples[least.text]):
            winner = least
    return Ended(finals, winner, baselines)


def _chosen(problem: Problem, runner: Runner, likely: Sequence[Point]) -> list[Point]:
    """Return the best of the best, after another look where costs are noisy."""
    if problem.unit != "s" or len(likely) <= BEST:
        return list(likely[:BEST])
    costs = [min(samples, default=float("inf")) for samples in runner.compare(likely, 2)]
    ranked = sorted(range(len(likely)), key=lambda n: costs[n])
    return [likely[n] for n in ranked[:BEST]]


def is_faster(one: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether costs are lower than others that were taken in turn with them, beyond noise.

    The median is, by 2 %, and so are the costs of four rounds of five.
    """
    rounds = min(len(one), len(other))
    won = sum(a < b for a, b in zip(one, other, strict=False))
    return median(one) <= BETTER * median(other) and won >= WON * rounds
