"""The trials of a search as places on a page: what the report's template draws without any library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from perfdojo.toolchains.quantities import cost_text
from perfdojo.tuning.searched import Curve

LEFT, RIGHT, TOP, PLOT, ROW = 110, 16, 16, 260, 18
WIDTH = 860
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Places in units of the picture, from its upper left corner.

    Attributes:
        bottom: where the costs end.
        dots, cut: trials.
        path: of the best so far, for a polyline.
        lines: height of what there was, height of its text, and that.
        rows: height, text and places of failures, a row for each kind.
        across, up: ticks: place and text.
    """

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    dots: tuple[Place, ...]
    cut: tuple[Place, ...]
    path: str
    lines: tuple[tuple[float, float, str], ...]
    rows: tuple[tuple[float, str, tuple[float, ...]], ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    wide: bool

    def height(self, cost: float) -> float:
        low, high, cost = (
            map(log10, (self.low, self.high, cost)) if self.wide else (self.low, self.high, cost)
        )
        return round(TOP + PLOT * (1 - (cost - low) / (high - low)), 1)

    def ticks(self) -> Iterator[float]:
        if self.wide:
            powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            yield from (t for p in powers for f in (1, 2, 5) if self.low <= (t := f * 10.0**p) <= self.high)
            return
        step = _step((self.high - self.low) / 5)
        yield from (n * step for n in range(ceil(self.low / step), floor(self.high / step) + 1))


def _step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, ... that is no smaller."""
    power = 10.0 ** floor(log10(least))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= least * 0.999)


def _scale(c: Curve) -> _Scale:
    shown = [v for _, v in (*c.costs, *c.cut)] + list(c.lines.values())
    low, high = min(shown, default=1.0), max(shown, default=2.0)
    if c.is_wide:
        return _Scale(low / 1.15, high * 1.15, True)
    room = (high - low) * 0.08 or high * 0.1 or 1.0
    return _Scale(low - room, high + room, False)


def _lines(c: Curve, scale: _Scale) -> Iterator[tuple[float, float, str]]:
    """Yield what there was, the dearest first: its text is above the line, the others' below."""
    for n, (name, cost) in enumerate(sorted(c.lines.items(), key=lambda line: -line[1])):
        height = scale.height(cost)
        yield height, round(height + (-5 if n == 0 else 13), 1), f"{name} {cost_text(cost, c.unit)}"


def drawing(c: Curve) -> Drawing:
    """Return where everything is."""
    scale, inner = _scale(c), WIDTH - LEFT - RIGHT

    def x(number: float) -> float:
        return round(LEFT + inner * number / (c.count + 1), 1)

    def places(points: tuple[tuple[int, float], ...]) -> tuple[Place, ...]:
        return tuple((x(n), scale.height(cost)) for n, cost in points)

    bottom = TOP + PLOT
    path: list[Place] = []
    for place, height in places(c.best):
        path += [(place, path[-1][1])] if path else []
        path.append((place, height))
    rows = tuple(
        (bottom + ROW * (n + 0.8), f"{kind} ({len(numbers)})", tuple(map(x, numbers)))
        for n, (kind, numbers) in enumerate(c.failures.items())
    )
    every = max(1, round(_step(max(c.count, 1) / 8)))
    has_costs = bool(c.costs or c.cut or c.lines)
    return Drawing(
        width=WIDTH,
        height=bottom + ROW * len(rows) + 44,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=bottom,
        dots=places(c.costs),
        cut=places(c.cut),
        path=" ".join(f"{px},{py}" for px, py in path),
        lines=tuple(_lines(c, scale)),
        rows=rows,
        across=tuple((x(n), str(n)) for n in range(0, c.count + 1, every)),
        up=tuple((scale.height(v), cost_text(v, c.unit)) for v in scale.ticks()) if has_costs else (),
    )
