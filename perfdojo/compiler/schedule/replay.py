"""Replay: a schedule runs on a program; where a step is illegal it says which, why, and in what state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Program, Span
from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.schedule.schedule import Schedule, Step
from perfdojo.compiler.transforms.base import Setting, Violation
from perfdojo.compiler.transforms.spelling import name_of


class StepError(PerfDojoError):
    """A step that is not legal.

    Attributes:
        number: of the step, from 1.
        reason: why it is not legal.
        state: the program before it.
    """

    def __init__(self, schedule: Schedule, number: int, state: Program, found: Violation) -> None:
        step = schedule.steps[number - 1]
        message = f"step {number}, {step.move}: {found.reason}"
        hint = found.hint or f"'help {name_of(step.move)}' in perfdojoc play tells when it is legal"
        super().__init__(message, schedule.source, _place(schedule, step, found), hint)
        self.number, self.reason, self.state = number, found.reason, state


def _place(schedule: Schedule, step: Step, found: Violation) -> Span | None:
    """Return the word that names nothing, where it stands in the step; else the step."""
    if found.condition or schedule.source is None or step.span is None:
        return step.span
    text = schedule.source.text[step.span.start : step.span.end]
    word = found.reason.rsplit(" ", 1)[-1]
    at = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    if at is None:
        return step.span
    return Span(step.span.start + at.start(), step.span.start + at.end())


class LevelError(PerfDojoError):
    """A schedule that needs a higher floating-point level."""


@dataclass(frozen=True, slots=True)
class State:
    """A step and the program behind it; `skipped` says why an optional step was left out."""

    step: Step
    program: Program
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """The states of a schedule. `start` is the program as moves see it, before the first step."""

    start: Program
    states: tuple[State, ...]

    @property
    def program(self) -> Program:
        """The program behind the last step."""
        return self.states[-1].program if self.states else self.start


def replay(program: Program, schedule: Schedule, setting: Setting) -> Replay:
    """Return the states of `schedule` on a bound, verified program.

    Raises:
        StepError: a step that is not optional is not legal.
        LevelError: the schedule needs another floating-point level.
        PerfDojoError: the schedule is for another kernel.
    """
    check_head(program, schedule, setting)
    start = prepare(program)
    return Replay(start, tuple(states(start, schedule, setting)))


def states(now: Program, schedule: Schedule, setting: Setting, done: int = 0) -> Iterator[State]:
    """Yield the states of a schedule one after the other.

    Args:
        now: the program behind the first `done` steps, in the form that `prepare` gives it.
    Raises:
        StepError: a step that is not optional is not legal.
    """
    for number, step in enumerate(schedule.steps[done:], done + 1):
        found = step.move.why_not(now, setting)
        if found is None:
            now = step.move.rewrite_for(now, setting)
        elif not step.optional:
            raise StepError(schedule, number, now, found)
        yield State(step, now, found.reason if found else "")


def check_head(program: Program, schedule: Schedule, setting: Setting) -> None:
    """Refuse a schedule for another kernel or floating-point level.

    Raises:
        LevelError: the schedule needs another floating-point level.
        PerfDojoError: the schedule is for another kernel.
    """
    if schedule.kernel != program.name:
        hint = nearest(schedule.kernel, (program.name,)) or "take the schedule of this kernel"
        raise PerfDojoError(
            f"the schedule is for kernel {schedule.kernel}, this is {program.name}",
            schedule.source,
            schedule.span,
            hint,
        )
    if schedule.fp and not setting.allows(schedule.fp):
        raise LevelError(
            f"the schedule needs floating-point level {schedule.fp}; this is {setting.fp}",
            schedule.source,
            schedule.span,
            f"compile with --fp {schedule.fp}",
        )
