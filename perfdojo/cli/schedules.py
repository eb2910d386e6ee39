"""Which schedule a call takes: the one it was given, the one beside the kernel, or none."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from perfdojo.cli.options import Options
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import LevelError, Schedule, Scheduled, State, StepError, prepare
from perfdojo.compiler.schedule.difference import difference
from perfdojo.compiler.schedule.replay import check_head, states
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting
from perfdojo.finding import default_schedule, products_of, read_schedule


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known of the schedule of a call.

    Attributes:
        scheduled: what the schedule made; None when the planner is to do it.
        steps: text of each step that was made.
        name: where the schedule is from, "" without one.
        notes: what the user should know: steps left out, or why a schedule was not taken.
        schedule: the schedule itself.
    """

    scheduled: Scheduled | None = None
    steps: tuple[str, ...] = ()
    name: str = ""
    notes: tuple[str, ...] = ()
    schedule: Schedule | None = None


def choose_schedule(o: Options, bound: Program, setting: Setting) -> Choice:
    """Return what the schedule of a call makes of a bound, verified program.

    A schedule that was asked for has to be legal; where the one beside the kernel is not, at these sizes or
    this floating-point level, the planner takes over.

    Raises:
        PerfDojoError: the schedule is wrong, for another kernel, or a step of it is not legal.
    """
    if o.planner:
        return Choice()
    if o.schedule:
        return _made(read_schedule(o.schedule), o, bound, setting, f"--schedule {Path(o.schedule).name}")
    kept = _recorded(o, bound, setting) if o.records else ""
    if isinstance(kept, Choice):
        return kept
    found, notes = default_schedule(o.kernel, setting.target.name), (kept,) if kept else ()
    if found is None:
        return Choice(notes=notes)
    name = found.source.name if found.source else ""
    if isa := products_of(bound, setting):
        return Choice(notes=(*notes, f"planned, as {name} knows no products of {isa}"))
    try:
        made = _made(found, o, bound, setting, "")
        return replace(made, notes=(*notes, *made.notes))
    except (StepError, LevelError) as error:
        return Choice(notes=(*notes, f"planned, as {name} does not fit here: {error.message}"))


def _recorded(o: Options, bound: Program, setting: Setting) -> Choice | str:
    """Return what the best trial of this problem comes to, or why none is taken; "" where there is none.

    A record that says that the code is fastest as it is planned is followed, too.
    """
    from perfdojo.tuning.machines import is_timed, problem_of, records_path

    path = records_path()
    if not path.exists() or not is_timed(setting):
        return ""
    from perfdojo.compiler.schedule import parse_schedule
    from perfdojo.tuning.records import Records

    try:
        problem, _ = problem_of(bound, setting, o.threads, o.cores)
        records = Records(path)
        best, settled = records.best(problem), records.is_settled(problem)
    except PerfDojoError as error:
        return f"no record is taken: {error.message}"
    if best is None:
        return ""
    name = f"record {best.name_in(problem.key)}"
    name += "" if settled else ", whose search did not end"
    if not best.schedule:
        return Choice(notes=(f"planned, which is fastest by {name}; --no-records looks at no record",))
    try:
        return _made(parse_schedule(best.schedule, name), o, bound, setting, "")
    except PerfDojoError as error:  # also a move that only another version knows
        return f"{name} does not fit any more: {error.message}"


def _made(schedule: Schedule, o: Options, bound: Program, setting: Setting, option: str) -> Choice:
    check_head(bound, schedule, setting)
    now = prepare(bound)
    steps: list[str] = []
    notes: list[str] = []
    for state in states(now, schedule, setting):
        if o.print_between:
            print(_shown(len(steps) + len(notes) + 1, state, now), file=sys.stderr)
        if state.skipped:
            notes.append(f"left out {state.step.move}: {state.skipped}")
        else:
            steps.append(str(state.step.move))
        now = state.program
    if notes and not option:
        # a schedule for all sizes has many steps for other ones
        notes = [f"{len(notes)} of {len(steps) + len(notes)} moves are for other sizes"]
    source = schedule.source
    assert source is not None, "it was read from a file"
    return Choice(Scheduled(now, source.text, option), tuple(steps), source.name, tuple(notes), schedule)


def _shown(number: int, state: State, before: Program) -> str:
    """Return a step and the program behind it, with signs before the lines that it changed."""
    head = f"# step {number}: {state.step}"
    if state.skipped:
        return f"{head}\n# left out: {state.skipped}\n"
    lines = (f"{sign} {text}".rstrip() for sign, text in difference(before, state.program))
    return "\n".join((head, *lines)) + "\n"


def state_of(error: PerfDojoError) -> str:
    """Return the program in which a step failed, with every name; "" when the error is another one."""
    return render(error.state, named=True) if isinstance(error, StepError) else ""
