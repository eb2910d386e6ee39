"""`perfdojo explain`: what a trial is, what its steps do, what it costs, and what else there was."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from perfdojo.cli import FINE
from perfdojo.cli.report import Screen
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import parse_schedule
from perfdojo.compiler.schedule.difference import effect
from perfdojo.compiler.text.render import render
from perfdojo.finding import default_schedule, library, read_kernel
from perfdojo.toolchains.quantities import cost_text
from perfdojo.tuning.diagnosis import Kind, diagnose, sentences
from perfdojo.tuning.lookup import Found, find
from perfdojo.tuning.records import Records
from perfdojo.tuning.space import Space
from perfdojo.tuning.trial import Trial


@dataclass(frozen=True, slots=True)
class Made:
    """A step of a schedule: what it does, or why it is not legal any more."""

    move: str
    effect: str
    refused: str = ""


def explain_record(o: argparse.Namespace, records: Records) -> int:
    """Print all that is known of a trial.

    Raises:
        PerfDojoError: no such trial, or this version cannot read it any more.
    """
    from random import Random

    found = find(records, o.record)
    space = Space(found.problem, Random(0))
    steps, program = _steps(found.trial, space)
    kinds = diagnose(space, found.trials, program if found.trial.schedule else None)
    before = dict(_baselines(space, found.trials))
    if o.json:
        print(json.dumps(_object(found, before, steps, kinds)))
        return FINE
    screen = Screen()
    screen.title(found.problem.title)
    _tell_trial(screen, found, before)
    for n, made in enumerate(steps):
        name = "steps" if n == 0 else ""
        if made.refused:
            screen.line(name, f"{made.move}   left out, it is not legal any more: {made.refused}", "bad")
        else:
            screen.line(name, f"{made.move}   {made.effect}".rstrip())
    if not steps:
        what = "the kernel as it is written" if found.trial.schedule else "the code as it is planned"
        screen.line("steps", f"none: {what}")
    last = ""
    for head, text in sentences(kinds, found.problem.unit):
        screen.line(head if head != last else "", text)
        last = head
    return FINE


def _steps(trial: Trial, space: Space) -> tuple[list[Made], Program]:
    """Return the steps of a trial's schedule, and the program behind the last one."""
    made, program = [], space.start.program
    if not trial.schedule:
        return [], space.planned.program
    for step in parse_schedule(trial.schedule, "record").steps:
        why = step.move.why_not(program, space.problem.setting)
        if why is not None:
            made.append(Made(str(step.move), "", why.reason))
            continue
        after = step.move.rewrite_for(program, space.problem.setting)
        made.append(Made(str(step.move), effect(program, after)))
        program = after
    return made, program


def _baselines(space: Space, trials: Sequence[Trial]) -> Iterator[tuple[str, Trial]]:
    """Yield the trials that a search has to beat: no schedule, and that shipped with a library kernel."""
    yield from (("planned", t) for t in trials if not t.schedule)
    p = space.problem
    if p.bound.name not in dict(library()):
        return
    try:
        known = render(bind(read_kernel(p.bound.name), p.sizes)) == p.text
        shipped = default_schedule(p.bound.name, p.setting.target.name) if known else None
    except PerfDojoError:
        return  # another kernel of that name
    if shipped is None:
        return
    point = space.of_schedule(shipped)
    # other moves may have made the same code, which is tried once
    same = [t for t in trials if t.schedule == point.text]
    same = same or [t for t in trials if t.search == "start" and _makes(t, point.program, space)]
    if same:
        yield "shipped", same[0]


def _makes(trial: Trial, program: Program, space: Space) -> bool:
    try:
        return _steps(trial, space)[1] == program
    except PerfDojoError:
        return False  # another version made it, which knew other moves


def _tell_trial(screen: Screen, found: Found, before: dict[str, Trial]) -> None:
    t, unit = found.trial, found.problem.unit
    number = next(n for n, other in enumerate(found.trials, 1) if other.schedule == t.schedule)
    origin = "tried at the start" if t.search == "start" else f"proposed by the search {t.search}"
    told = f"{found.name}: trial {number} of {len(found.trials)}, {origin}, seed {t.seed}, after {t.at:.1f} s"
    screen.line("record", told)
    screen.line("machine", ", ".join(v for _, v in found.problem.machine))
    if found.others:
        screen.line(
            "", f"other problems of this kernel: {found.others}; perfdojo records list shows them", "note"
        )
    if t.cost is None:
        screen.line("outcome", f"{t.outcome}: {t.detail}", "bad")
    else:
        text = cost_text(t.cost, unit)
        screen.line("cost", f"over {text}, cut short: far behind the best" if t.cut else text, "ok")
    for name, other in before.items():
        if other.cost is None:
            screen.line(name, f"{other.outcome}: {other.detail}", "bad")
            continue
        ratio = f"; this is {other.cost / t.cost:.2f} times as fast" if t.cost and not t.cut else ""
        text = "this is it" if other is t else cost_text(other.cost, unit) + ratio
        screen.line(name, text)


def _object(found: Found, before: dict[str, Trial], steps: list[Made], kinds: list[Kind]) -> dict[str, Any]:
    """Return what `--json` prints."""
    p, t = found.problem, found.trial
    return {
        "record": found.name,
        "kernel": p.bound.name,
        "target": p.target,
        "sizes": p.sizes,
        "fp": p.setting.fp,
        "threads": p.threads,
        "machine": dict(p.machine),
        "unit": p.unit,
        "outcome": t.outcome,
        "detail": t.detail,
        "cost": t.cost,
        "cut": t.cut,
        "search": t.search,
        "seed": t.seed,
        "at": t.at,
        "trials": len(found.trials),
        "baselines": {name: other.cost for name, other in before.items()},
        "schedule": t.schedule or None,
        "steps": [asdict(s) for s in steps],
        "moves": [asdict(k) for k in kinds],
        "error": None,
    }
