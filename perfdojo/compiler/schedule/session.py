"""A schedule in the making: moves are tried, undone, edited in the middle and replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FP_LEVELS
from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.schedule.replay import State, StepError, check_head, states
from perfdojo.compiler.schedule.schedule import Schedule, Step
from perfdojo.compiler.schedule.text import parse_move, parse_schedule, parse_step, render_schedule
from perfdojo.compiler.transforms import candidates
from perfdojo.compiler.transforms.base import Setting, Transform, Violation
from perfdojo.compiler.transforms.spelling import misfit


@dataclass(slots=True)
class History:
    """The states of a schedule on one program, and those before each change of it.

    Attributes:
        original: the bound, verified program.
        setting: the machine and the floating-point level.
        start: the program as moves see it.
        states: each step with the program behind it.
    """

    original: Program
    setting: Setting
    start: Program = field(init=False)
    states: tuple[State, ...] = ()
    _done: list[tuple[State, ...]] = field(default_factory=list)
    _undone: list[tuple[State, ...]] = field(default_factory=list)
    _listed: tuple[Program, tuple[Transform, ...]] | None = None

    def __post_init__(self) -> None:
        self.start = prepare(self.original)

    # ------------------------------------------------------------ questions

    @property
    def program(self) -> Program:
        """The program behind the last step."""
        return self.states[-1].program if self.states else self.start

    @property
    def schedule(self) -> Schedule:
        """The steps so far, for this target at this floating-point level."""
        steps = tuple(s.step for s in self.states)
        return Schedule(self.original.name, steps, self.setting.target.name, self.setting.fp)

    def candidates(self) -> tuple[Transform, ...]:
        """Return every legal move of this state, transformation by transformation."""
        now = self.program
        if self._listed is None or self._listed[0] is not now:
            self._listed = now, tuple(candidates(now, self.setting))
        return self._listed[1]

    def why_not(self, move: Transform | str) -> Violation | None:
        """Return why a move is not legal in this state (condition, reason, hint); None when it is.

        Raises:
            PerfDojoError: the text is no move.
        """
        return _move(move).why_not(self.program, self.setting)

    def text(self) -> str:
        """Return the text of the schedule, at the lowest floating-point level that allows it."""
        for level in FP_LEVELS[: FP_LEVELS.index(self.setting.fp)]:
            lower = replace(self.schedule, fp=level)
            try:
                found = tuple(states(self.start, lower, replace(self.setting, fp=level)))
            except StepError:
                continue
            if found == self.states:
                return render_schedule(lower)
        return render_schedule(self.schedule)

    # ------------------------------------------------------------ changes

    def apply(self, move: Transform | str) -> Program:
        """Make a move and return the new program.

        Raises:
            PerfDojoError: it is not legal; nothing has changed.
        """
        return self.insert(len(self.states) + 1, move)

    def attempt(self, move: Transform | str) -> bool:
        """Make a move where it is legal, as a `try` step, which replay leaves out where it is not; tell if.

        Raises:
            PerfDojoError: the text is no move.
        """
        move = _move(move)
        if move.why_not(self.program, self.setting) is not None:
            return False
        made = State(Step(move, optional=True), move.rewrite_for(self.program, self.setting))
        self._become((*self.states, made))
        return True

    def together(self, moves: Callable[[], object]) -> Program:
        """Call what makes several moves, count them as one change, and return the new program.

        Raises:
            PerfDojoError: one of them is not legal; nothing has changed.
        """
        before, done, undone = self.states, len(self._done), self._undone[:]
        try:
            moves()
        except BaseException:
            self.states = before
            self._undone[:] = undone
            del self._done[done:]
            raise
        del self._done[done:]
        if self.states != before:
            self._done.append(before)
        return self.program

    def insert(self, number: int, move: Transform | str) -> Program:
        """Put a move before step `number` (from 1), replay what follows, and return the new program.

        A text may begin with `try`: such a step is left out where it is not legal.

        Raises:
            PerfDojoError: a step is not legal any more, the first one is told; nothing has changed.
        """
        return self._with(number, len(self.states) + 1, lambda s, at: (*s[:at], _step(move), *s[at:]))

    def edit(self, number: int, move: Transform | str) -> Program:
        """Put a move in the place of step `number` (from 1), as `insert` does."""
        return self._with(number, len(self.states), lambda s, at: (*s[:at], _step(move), *s[at + 1 :]))

    def remove(self, number: int) -> Program:
        """Take step `number` (from 1) away, as `insert` adds one."""
        return self._with(number, len(self.states), lambda s, at: (*s[:at], *s[at + 1 :]))

    def replay(self, schedule: Schedule) -> Program:
        """Put a whole schedule in the place of this one, as one change.

        Raises:
            PerfDojoError: it is for another kernel, needs a higher floating-point level, or a step of it
                is not legal; nothing has changed.
        """
        if not isinstance(schedule, Schedule):
            raise PerfDojoError(f"{schedule!r} is no schedule", hint="parse_schedule makes one of a text")
        check_head(self.original, schedule, self.setting)
        self._become(tuple(states(self.start, schedule, self.setting)))
        return self.program

    def undo(self) -> Program:
        """Take the last change back and return the program before it; PerfDojoError when there is none."""
        return self._step_back(self._done, self._undone, "undo")

    def redo(self) -> Program:
        """Make the change again that was undone last; PerfDojoError when there is none."""
        return self._step_back(self._undone, self._done, "redo")

    # ------------------------------------------------------------ inside

    def _with(
        self, number: int, last: int, edited: Callable[[tuple[Step, ...], int], tuple[Step, ...]]
    ) -> Program:
        if not isinstance(number, int) or not 1 <= number <= last:
            known = f"steps are 1 to {len(self.states)}" if self.states else "there are no steps yet"
            raise PerfDojoError(f"there is no step {number}", hint=known)
        kept = number - 1
        made = replace(self.schedule, steps=edited(self.schedule.steps, kept))
        now = self.states[kept - 1].program if kept else self.start
        try:
            new = (*self.states[:kept], *states(now, made, self.setting, kept))
        except StepError as error:
            raise self._told(made, error) from None
        self._become(new)
        return self.program

    def _told(self, made: Schedule, error: StepError) -> StepError:
        """Return the error with its place in the text of the schedule."""
        shown = parse_schedule(render_schedule(made), "<session>")
        return StepError(shown, error.number, error.state, Violation(0, error.reason, error.hint))

    def _become(self, new: tuple[State, ...]) -> None:
        self._done.append(self.states)
        self._undone.clear()
        self.states = new

    def _step_back(
        self, source: list[tuple[State, ...]], other: list[tuple[State, ...]], word: str
    ) -> Program:
        if not source:
            raise PerfDojoError(f"there is nothing to {word}")
        other.append(self.states)
        self.states = source.pop()
        return self.program


def _move(move: Transform | str) -> Transform:
    if isinstance(move, str):
        return parse_move(move)
    wrong = misfit(move)
    if wrong:
        raise PerfDojoError(wrong, hint="a move is a line of text, or one of candidates()")
    return move


def _step(move: Transform | str) -> Step:
    return parse_step(move) if isinstance(move, str) else Step(_move(move))
