"""`--plot`: a search as a picture: the cost of each trial, the best so far, what there was, failures."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from perfdojo.toolchains.quantities import cost_text
from perfdojo.toolchains.results import MissingExtra
from perfdojo.tuning.searched import Curve

COLOURS = {"planned": "#555555", "shipped": "#1b7837"}
DATES = {".svg": {"Date": None}, ".pdf": {"CreationDate": None, "ModDate": None}}
"""No picture says when it was made: the same search makes the same file."""


def need_matplotlib() -> None:
    """Look for what draws.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot", "--plot draws")


def draw(c: Curve, title: str, path: Path) -> None:
    """Write the picture; its kind is the ending of the path.

    Raises:
        MissingExtra: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    need_matplotlib()
    matplotlib: Any = import_module("matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "perfdojo", "font.size": 9}):
        figure: Any = import_module("matplotlib.figure").Figure(figsize=(8, 4.5 + 0.2 * len(c.failures)))
        heights = [4, 0.1 + 0.2 * len(c.failures)] if c.failures else [1]
        grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
        axes, below = grid[0][0], grid[-1][0]
        _costs(c, axes)
        figure.suptitle(title, fontsize=10)
        below.set_xlabel("trials")
        below.set_xlim(0, c.count + 1)
        if c.failures:
            kinds = list(c.failures)
            below.eventplot([c.failures[k] for k in kinds], colors="#b2182b", linelengths=0.7, linewidths=1)
            below.set_yticks(range(len(kinds)), [f"{k} ({len(c.failures[k])})" for k in kinds])
            below.set_ylim(len(kinds) - 0.5, -0.5)
        figure.tight_layout()
        figure.savefig(path, metadata=DATES.get(path.suffix.lower()))


def _costs(c: Curve, axes: Any) -> None:
    """Draw costs, the best so far, and lines of what there was."""
    for name, points, mark in (("a trial", c.costs, "."), ("cut short: at least", c.cut, "^")):
        if points:
            axes.plot(*zip(*points, strict=True), mark, color="#92c5de", markersize=4, label=name)
    for name, cost in c.lines.items():
        text = f"{name} {cost_text(cost, c.unit)}"
        axes.axhline(cost, color=COLOURS.get(name, "black"), linestyle="--", linewidth=1, label=text)
    if c.best:
        text = f"best so far, {cost_text(c.best[-1][1], c.unit)} at the end"
        axes.step(*zip(*c.best, strict=True), where="post", color="#2166ac", linewidth=1.6, label=text)
    if c.is_wide:
        axes.set_yscale("log")
    ticker: Any = import_module("matplotlib.ticker")
    shown = ticker.FuncFormatter(lambda value, _: cost_text(value, c.unit))
    axes.yaxis.set_major_formatter(shown)
    if c.is_wide:
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_ylabel("time of one call" if c.unit == "s" else f"{c.unit} of one call")
    if axes.get_legend_handles_labels()[0]:
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
        axes.legend(fontsize=8, frameon=False, **place)
    else:
        axes.text(0.5, 0.5, "no trial was right", transform=axes.transAxes, ha="center")
        axes.set_yticks([])
