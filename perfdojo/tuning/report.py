"""`--report`: a search as one page of HTML that needs nothing else: what was tuned, tried, found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jinja2

from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.render import render
from perfdojo.toolchains.quantities import cost_text, counted
from perfdojo.toolchains.statistics import median
from perfdojo.tuning.drawing import drawing
from perfdojo.tuning.searched import Searched, curve, verdict
from perfdojo.tuning.space import Point
from perfdojo.tuning.trial import name_of

NAMES = 3
"""Trials that are named for each failure."""


def report(s: Searched) -> str:
    """Return the page; the same search makes the same page."""
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("perfdojo", "templates/report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    p, result = s.problem, s.result
    text, is_right = verdict(result)
    pages.filters["cost"] = lambda value: "" if value is None else cost_text(value, p.unit)
    return pages.get_template("report.html.j2").render(
        title=p.title,
        verdict=text,
        is_right=is_right,
        facts=list(_facts(s)),
        outcomes=result.progress.outcomes.most_common(),
        drawing=drawing(curve(result.progress.trials, result.baselines, p.unit)),
        finals=list(_finals(s)),
        schedule=result.winner.text,
        steps=list(_steps(s)),
        before=_body(s.start),
        after=_body(result.winner.program),
        files=s.emitted.files if s.emitted else (),
        failures=list(_failures(s)),
        diagnosis=s.diagnosis,
        trials=[
            {"name": t.name_in(p.key), "cost": t.cost, "moves": _moves(t.schedule), "trial": t}
            for t in result.progress.trials
        ],
    )


def _body(program: Program) -> str:
    """Return buffers and loops, with every name."""
    return render(program, named=True).rstrip()


def _facts(s: Searched) -> Iterator[tuple[str, str]]:
    p, progress = s.problem, s.result.progress
    yield "kernel", p.bound.name
    yield "sizes", p.sizes_text or "none"
    yield "target", p.target
    yield "floating-point level", p.setting.fp
    yield ("cores" if p.setting.target.name == "snitch" else "threads"), str(p.threads or "all")
    yield from ((("cores of the machine" if n == "cores" else n), v) for n, v in p.machine)
    if s.command:
        yield "command", s.command
    yield "search", f"{s.search}, seed {s.seed}"
    told = f"{len(progress.trials)} in {progress.seconds:.0f} s"
    yield "trials", f"{told}; {progress.repeated} proposals were known"
    if progress.removed:
        removed = ", ".join(f"{count} for {why}" for why, count in progress.removed.most_common())
        yield "not worth measuring", removed


def _finals(s: Searched) -> Iterator[dict[str, Any]]:
    """Yield what was measured at the end, in turn, the cheapest first."""
    least = min(s.result.baselines.values(), default=None)
    for point, samples in s.result.finals:
        cost = median(samples)
        yield {
            "what": _what(s, point),
            "name": name_of(s.problem.key, point.text),
            "cost": cost,
            "range": (min(samples), max(samples)),
            "gain": least / cost if least and cost else None,
            "winner": point.text == s.result.winner.text,
            "schedule": point.text,
        }


def _what(s: Searched, point: Point) -> str:
    count = "planned" if point.moves is None else counted(len(point.moves), "move")
    # other moves may make the code of the shipped ones
    return f"shipped, {count}" if point.program == s.shipped else count


def _steps(s: Searched) -> Iterator[dict[str, Any]]:
    """Yield the steps of the winner with how many times as long it takes without each."""
    whole = next((median(x) for p, x in s.result.finals if p.text == s.result.winner.text), None)
    for step in s.steps:
        without = step["without"]
        yield {
            "move": step["move"],
            "without": without,
            "worth": without / whole if without and whole else None,
        }


def _failures(s: Searched) -> Iterator[dict[str, Any]]:
    """Yield what went wrong, alike ones together, the most frequent first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for t in s.result.progress.trials:
        if t.outcome != "ok":
            alike.setdefault((t.outcome, t.detail), []).append(t.name_in(s.problem.key))
    for (outcome, detail), names in sorted(alike.items(), key=lambda a: -len(a[1])):
        more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
        yield {
            "outcome": outcome,
            "detail": detail,
            "count": len(names),
            "names": ", ".join(names[:NAMES]) + more,
        }


def _moves(schedule: str) -> str:
    """Return how many moves a schedule has: its lines but the first and the last one."""
    return str(len(schedule.strip().splitlines()) - 2) if schedule else "planned"
