"""Why a search came to what it did: which moves there were, which were tried, what kept the others away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import parse_schedule
from perfdojo.compiler.transforms import candidates, transforms
from perfdojo.compiler.transforms.spelling import name_of
from perfdojo.toolchains.quantities import cost_text, counted
from perfdojo.tuning.near import why_none
from perfdojo.tuning.space import Space
from perfdojo.tuning.trial import Trial
from perfdojo.tuning.tune import Result


@dataclass(frozen=True, slots=True)
class Kind:
    """What a search had of one kind of move.

    Attributes:
        name: of the kind.
        start: instances that are offered on the kernel without any move.
        behind: those offered behind the schedule that is looked at; None where none is.
        trials: that had one.
        best: the least cost of these; None where none was right.
        reasons: where none was tried: why, one sentence each.
    """

    name: str
    start: int
    behind: int | None
    trials: int
    best: float | None
    reasons: tuple[str, ...] = ()


def diagnose(space: Space, trials: Sequence[Trial], behind: Program | None = None) -> list[Kind]:
    """Return what there was of each kind of move, those tried most often first.

    Args:
        behind: the program that a schedule made, whose moves are counted, too.
    """
    setting, start = space.problem.setting, space.start.program
    offered = Counter(map(name_of, candidates(start, setting)))
    later = None if behind is None else Counter(map(name_of, candidates(behind, setting)))
    tried: Counter[str] = Counter()
    best: dict[str, float] = {}
    for t in trials:
        for name in _kinds(t):
            tried[name] += 1
            if t.cost is not None and not t.cut:
                best[name] = min(best.get(name, t.cost), t.cost)
    found = []
    for name, cls in transforms().items():
        more = None if later is None else later[name]
        why: tuple[str, ...] = ()
        if not tried[name]:
            why = _untried(offered[name], more or 0) or why_none(cls, start, setting)
        found.append(Kind(name, offered[name], more, tried[name], best.get(name), why))
    return sorted(found, key=lambda k: (-k.trials, not k.start, not k.behind))


def _kinds(trial: Trial) -> set[str]:
    if not trial.schedule:
        return set()
    try:
        return {name_of(s.move) for s in parse_schedule(trial.schedule, "trial").steps}
    except PerfDojoError:
        return set()  # another version made it, which knew other moves


def _untried(start: int, behind: int) -> tuple[str, ...]:
    """Return why a kind was not tried that has legal instances; () where it has none."""
    if start:
        return ("it is legal, but no trial had it",)
    return ("it is legal behind this schedule, and no trial had it",) if behind else ()


def sentences(kinds: Sequence[Kind], unit: str) -> Iterator[tuple[str, str]]:
    """Yield a heading and a sentence for each kind of move: tried, open (not tried), none (is offered)."""
    for k in kinds:
        there = f"{counted(k.start, 'instance')} at the start"
        if k.behind is not None:
            there += f", {k.behind} behind this schedule"
        if k.trials:
            best = f"at best {cost_text(k.best, unit)}" if k.best is not None else "never right"
            yield "tried", f"{k.name}: in {counted(k.trials, 'trial')}, {best}; {there}"
        elif k.start or k.behind:
            yield "open", f"{k.name}: {'; '.join(k.reasons)}; {there}"
        else:
            yield "none", f"{k.name}: {'; '.join(k.reasons)}"


def diagnosis(result: Result, space: Space) -> list[str]:
    """Return why nothing was gained: which moves there were, which were tried, what came of it."""
    p, unit = result.progress, space.problem.unit
    outcomes = ", ".join(f"{n} {o}" for o, n in p.outcomes.most_common())
    there = ", ".join(f"{n} {cost_text(c, unit)}" for n, c in result.baselines.items())
    heads = {"tried": "", "open": "not tried: ", "none": "not offered: "}
    told = (heads[head] + text for head, text in sentences(diagnose(space, p.trials), unit))
    return [f"{len(p.trials)} trials: {outcomes}", f"what there was: {there or 'nothing right'}", *told]
