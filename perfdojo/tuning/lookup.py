"""What a word of a user means among the records: a trial by its name, or the best one of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.tuning.machines import problem_of
from perfdojo.tuning.problem import Problem, recorded_problem
from perfdojo.tuning.records import Records
from perfdojo.tuning.trial import Trial

SHOWN = 8
"""Names that an error lists."""


@dataclass(frozen=True, slots=True)
class Found:
    """A trial with what it belongs to.

    Attributes:
        name: of the trial among all.
        trial, trials: it, and all of its problem in the order they were made.
        others: problems of the kernel that were not chosen, where a kernel was named.
    """

    name: str
    problem: Problem
    trial: Trial
    trials: Sequence[Trial]
    others: int = 0


def title(row: Mapping[str, Any]) -> str:
    """Return what a problem is on one line."""
    sizes = " ".join((row["kernel"], *(f"{n}={v}" for n, v in row["sizes"].items())))
    facts = ", ".join(str(v) for _, v in row["machine"])
    return f"{sizes} · {row['target']} · {row['fp']} · {row['threads']} thread(s) · {facts}"


def find(records: Records, word: str) -> Found:
    """Return the trial that a word means.

    Args:
        word: a kernel: its best trial on the problem that was tuned last, on this machine if it was; else
            the name of a trial, or the beginning of one.
    Raises:
        PerfDojoError: it means nothing, or several trials; the message tells what there is.
    """
    rows = records.problems()
    if mine := [r for r in rows if r["kernel"] == word]:
        return _of_kernel(records, mine)
    named = [f for row in rows for f in _named(records, row, word.lower())] if word else []
    if len(named) == 1:
        name, row, trials, trial = named[0]
        return Found(name, recorded_problem(row), trial, trials)
    if named:
        shown = "\n".join(f"  {name}  {title(row)}" for name, row, *_ in named[:SHOWN])
        more = f"\n  and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        raise PerfDojoError(f"'{word}' begins the names of {len(named)} trials:\n{shown}{more}")
    kernels = sorted({r["kernel"] for r in rows})
    listed = ", ".join(kernels[:SHOWN]) + (", ..." if len(kernels) > SHOWN else "")
    there = f"tuned here: {listed or 'nothing'}; 'perfdojo records show' prints the names of trials"
    near = nearest(word, kernels)
    raise PerfDojoError(f"no trial and no tuned kernel is called '{word}'", hint=f"{near} {there}".strip())


def _named(
    records: Records, row: Mapping[str, Any], word: str
) -> Iterator[tuple[str, Mapping[str, Any], Sequence[Trial], Trial]]:
    trials = records.of_key(row["key"])
    for t in trials:
        if (name := t.name_in(row["key"])).startswith(word):
            yield name, row, trials, t


def _of_kernel(records: Records, rows: Sequence[Mapping[str, Any]]) -> Found:
    latest = sorted(rows, key=lambda r: r["last"], reverse=True)
    row = next((r for r in latest if _is_here(r)), latest[0])
    trials = records.of_key(row["key"])
    trial = records.best_of(row["key"]) or trials[0]
    return Found(trial.name_in(row["key"]), recorded_problem(row), trial, trials, len(rows) - 1)


def _is_here(row: Mapping[str, Any]) -> bool:
    """Tell whether a problem is one of this machine, with the compiler that it has now."""
    try:
        p = recorded_problem(row)
        here, _ = problem_of(p.bound, p.setting, p.threads, p.threads)
    except PerfDojoError:
        return False
    return bool(here.key == row["key"])
