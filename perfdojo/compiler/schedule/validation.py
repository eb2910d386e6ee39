"""What a schedule or the planner makes is compared with the kernel, on symbolic values, at small sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from perfdojo.compiler.bind import bind, size_values
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Literal, Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.schedule.replay import replay
from perfdojo.compiler.schedule.schedule import Schedule
from perfdojo.compiler.schedule.sizes import descended, odd
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.validate import LIMIT, Validator, Verdict, shrunk_sizes
from perfdojo.compiler.validate.sizes import QUICK, elements, executions
from perfdojo.compiler.verify import verify

LARGEST = 4 * LIMIT
"""Work of a state up to which a schedule is validated that is legal at no smaller sizes: half a minute."""

EVERY = 10 * LIMIT
"""Work, over all states, up to which each state is compared: some ten seconds. Beyond, only the last one."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was made of a bound program.

    Attributes:
        start: the program as moves see it.
        states: the program behind each step, with the text of the step.
        left_out: numbers of the steps that were optional and not legal.
    """

    start: Program
    states: tuple[tuple[str, Program], ...]
    left_out: tuple[int, ...] = ()

    @property
    def work(self) -> int:
        """Statement executions or stored elements of the largest state."""
        programs = (self.start, *(p for _, p in self.states))
        return max(max(executions(p), elements(p)) for p in programs)


Make = Callable[[Program], Made]
"""Makes something of a bound, verified program; PerfDojoError where that is not legal."""


def by_schedule(schedule: Schedule, setting: Setting) -> Make:
    """Return what replays a schedule."""

    def make(bound: Program) -> Made:
        found = replay(bound, schedule, setting)
        left_out = tuple(n for n, s in enumerate(found.states, 1) if s.skipped)
        return Made(found.start, tuple((str(s.step), s.program) for s in found.states), left_out)

    return make


def by_planner(plan: Callable[[Program], Program]) -> Make:
    """Return what plans."""
    return lambda bound: Made(prepare(bound), (("the plan", prepare(plan(bound))),))


@dataclass(frozen=True, slots=True)
class Validation:
    """What validating a schedule has found; its text is one sentence, and where the programs differ how.

    Attributes:
        fp: up to what the programs are the same.
        sizes: at which they were compared, one after the other; they differ at the last ones.
        given: these are the sizes that were asked for.
        steps: number of steps; None for the planner.
        every: each state was compared, not the last one only.
        number, step: the first step whose state differs, from 1, and its text; 0 and "" when none does.
        verdict: how it differs, None when it does not.
        note: in what the compared program is not the one at the given sizes, or "".
    """

    fp: FpLevel
    sizes: tuple[Mapping[str, int], ...]
    given: bool
    steps: int | None
    every: bool = True
    number: int = 0
    step: str = ""
    verdict: Verdict | None = None
    note: str = ""

    @property
    def equal(self) -> bool:
        """Every state that was compared computes what the kernel does."""
        return self.verdict is None

    def __str__(self) -> str:
        if self.verdict is not None:
            where = f"step {self.number}, {self.step}," if self.steps is not None else self.step
            at = f" at {listed(self.sizes[-1])}" if self.sizes[-1] else ""
            return f"{where} changes what is computed{at}: {self.verdict.message}"
        words = [f"identical at {self.fp}"]
        if self.sizes[0]:
            words.append("sizes " + " and ".join(map(listed, self.sizes)))
        words.append(_count(self.steps) if self.steps is not None else "as planned")
        return ", ".join(words) + ("" if self.every else " (the last state only)")


def listed(sizes: Mapping[str, int]) -> str:
    """Return `M=48 N=64`."""
    return " ".join(f"{n}={v}" for n, v in sizes.items())


def _count(steps: int) -> str:
    return f"{steps} step" + ("" if steps == 1 else "s")


def with_sizes(kernel: Program, sizes: Mapping[str, int]) -> Program:
    """Return a kernel whose sizes have other values unless told otherwise; they can still be bound."""
    changed = (
        replace(s, value=Literal(sizes[s.name], I64)) if s.name in sizes and not s.fixed else s
        for s in kernel.sizes
    )
    return replace(kernel, sizes=tuple(changed))


def validate_made(kernel: Program, make: Make, fp: FpLevel, steps: int | None) -> Validation:
    """Compare what `make` makes of a kernel with the kernel.

    The sizes are those of the kernel when it is small enough there (`validate.LIMIT`); else smaller ones at
    which the same steps are legal, and then those again with odd remainders, if they are legal there too. A
    schedule with large blocks is brought down to the smallest sizes that hold one block, and two.

    Args:
        kernel: verified; its sizes are the ones to begin with.
        steps: number of steps of the schedule, None for the planner.
    Raises:
        PerfDojoError: what is made is not legal at the sizes of the kernel, or at none that are small enough.
    """
    wanted = make(_bound(kernel, {}))
    given = wanted.work <= LIMIT
    rounds = (({}, wanted),) if given else _reduced(kernel, make, wanted)
    base = rounds[0][1]
    every = base.work * len(base.states) <= EVERY
    validation = Validation(fp, (), given, steps, every, note=_note(base, wanted))
    for chosen, made in rounds:
        validation = replace(validation, sizes=(*validation.sizes, size_values(kernel, chosen)))
        validator = Validator(made.start, fp, limit=LARGEST)
        differing = _first_difference(validator, made, every and made is base)
        if differing:
            number, verdict = differing
            name = made.states[number - 1][0]
            return replace(validation, number=number, step=name, verdict=verdict)
    return validation


def _bound(kernel: Program, sizes: Mapping[str, int]) -> Program:
    bound = bind(kernel, sizes)
    verify(bound)
    return bound


def _note(made: Made, wanted: Made) -> str:
    """Return which optional steps were made at one of the sizes only, "" for none."""
    changed = sorted(set(made.left_out) ^ set(wanted.left_out))
    if not changed:
        return ""
    names = ", ".join(f"{n}, {made.states[n - 1][0]}" for n in changed)
    return f"made here and left out at the given sizes, or the other way round: step {names}"


# ---------------------------------------------------------------- sizes

Round = tuple[Mapping[str, int], Made]


def _reduced(kernel: Program, make: Make, wanted: Made) -> tuple[Round, ...]:
    """Return sizes that are small enough, with what is made there."""
    tries = _Tries(kernel, make)
    found = _shrunk(kernel, tries, wanted)
    if found is None:
        return _descended(kernel, tries, wanted)
    for base in (shrunk_sizes(kernel), found[0]):
        for chosen in odd(size_values(kernel, base), base):
            made = tries.made(chosen)
            if made is not None and made.work <= LIMIT:
                return found, (chosen, made)
    return (found,)


def _shrunk(kernel: Program, tries: _Tries, wanted: Made) -> Round | None:
    """Return the first sizes at which the same steps are made; else others, else none."""
    other = None
    for limit in (LIMIT // 2 if len(wanted.states) == 1 else QUICK, LIMIT):
        chosen = shrunk_sizes(kernel, limit)
        made = tries.made(chosen)
        if made is not None and made.work <= LIMIT:
            if made.left_out == wanted.left_out:
                return chosen, made
            other = other or (chosen, made)
    return other


def _descended(kernel: Program, tries: _Tries, wanted: Made) -> tuple[Round, ...]:
    """Return sizes to which the schedule can be brought down, those with least work first."""
    found = []
    for chosen in descended(kernel, lambda sizes: tries.made(sizes) is not None):
        made = tries.made(chosen)
        if made is not None and made.work <= LARGEST:
            found.append((chosen, made))
    if not found:
        raise _none(kernel, wanted, tries)
    return tuple(sorted(found, key=lambda r: r[1].work))


@dataclass(slots=True)
class _Tries:
    """What is made at the sizes that were tried.

    Attributes:
        least: the sizes with the least work at which it is legal.
        failed: the first sizes at which it is not, and why.
    """

    kernel: Program
    make: Make
    least: Round | None = None
    failed: tuple[Mapping[str, int], str] | None = None

    def made(self, sizes: Mapping[str, int]) -> Made | None:
        try:
            made = self.make(_bound(self.kernel, sizes))
        except PerfDojoError as error:
            self.failed = self.failed or (sizes, error.message)
            return None
        if self.least is None or made.work < self.least[1].work:
            self.least = sizes, made
        return made


def _none(kernel: Program, wanted: Made, tries: _Tries) -> PerfDojoError:
    """Return the error that no sizes are small enough, with the nearest ones."""
    what = f"validating {kernel.name} takes {wanted.work} executions or elements, over the limit {LARGEST}"
    hint = "-D gives other sizes; smaller blocks and 'remainder peel' make it legal at smaller ones"
    if tries.failed is None:
        return PerfDojoError(what, kernel.source, None, "make the extents smaller")
    if tries.least is not None:
        sizes, made = tries.least
        where = listed(size_values(kernel, sizes))
        what += f", and still {made.work} at {where}, the smallest sizes found at which the schedule is legal"
    else:
        what += f", and at {listed(size_values(kernel, tries.failed[0]))}: {tries.failed[1]}"
    return PerfDojoError(what, kernel.source, None, hint)


# ---------------------------------------------------------------- states


def _first_difference(validator: Validator, made: Made, every: bool) -> tuple[int, Verdict] | None:
    """Return the number of the first state that differs, and how."""
    verdicts: dict[int, Verdict] = {}

    def differs(number: int) -> bool:
        if number not in verdicts:
            verdicts[number] = validator.validate(made.states[number - 1][1])
        return not verdicts[number].equal

    last = len(made.states)
    if last == 0:
        return None
    if every:
        number = next((n for n in range(1, last + 1) if differs(n)), 0)
        return (number, verdicts[number]) if number else None
    if not differs(last):
        return None
    right, wrong = 0, last
    while wrong - right > 1:
        middle = (right + wrong) // 2
        right, wrong = (right, middle) if differs(middle) else (middle, wrong)
    return wrong, verdicts[wrong]
