"""`--tune`: search for a schedule, tell what it found and what each of its steps is worth, and keep it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.options import Options
from perfdojo.cli.report import Screen
from perfdojo.toolchains.quantities import cost_text, counted
from perfdojo.toolchains.statistics import median

if TYPE_CHECKING:
    from perfdojo.tuning.problem import Problem
    from perfdojo.tuning.runners.base import Runner
    from perfdojo.tuning.tune import Progress, Result

ABLATED = 24
"""Steps of a winner that are taken out one at a time, to tell what each is worth."""


def tune(o: Options, screen: Screen, folder: Path) -> dict[str, Any]:
    """Search, report, and write the winner beside the sources of a call; return what `--json` prints.

    Raises:
        PerfDojoError: the kernel is wrong, or nothing can be timed here.
    """
    from perfdojo.backends import get_target
    from perfdojo.cli.job import chosen_target
    from perfdojo.cli.tune_files import check_files, write_files
    from perfdojo.compiler.bind import bind
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.verify import verify
    from perfdojo.finding import fitting_schedule, read_kernel
    from perfdojo.tuning.machines import problem_of, records_path
    from perfdojo.tuning.records import Records
    from perfdojo.tuning.tune import ENDLESS, Tuner

    check_files(o)
    o, target = chosen_target(o)
    bound = bind(read_kernel(o.kernel), o.sizes)
    verify(bound)
    setting = Setting(get_target(target + o.isa), o.fp)
    problem, make_runner = problem_of(bound, setting, o.threads, o.cores)
    runner = make_runner(o.seed)
    shipped = fitting_schedule(o.kernel, bound, problem.setting)
    records = Records(records_path()) if o.records else None
    screen.title(f"{problem.title} · {o.search} search, {o.tune_s:.0f} s")
    if records is not None and (kept := len(records.trials(problem))):
        screen.line("records", f"{kept} trials of this problem are known, none is repeated", "ok")
    try:
        with _live(screen, o.tune_s, problem.unit) as tell:
            tuner = Tuner(problem, runner, o.search, o.seed, shipped, records, tell)
            result = tuner.run(o.tune_s, o.trials or ENDLESS)
    except KeyboardInterrupt:
        if records is not None:
            count = len(records.trials(problem))
            screen.line("records", f"{count} trials are kept; the same command goes on from there", "note")
        raise
    _report(result, problem, screen)
    told = _object(problem, target, result)
    if text := result.winner.text:
        told["steps"] = _ablation(result, runner, screen, problem)
        path = folder / f"{bound.name}.{target}.sched"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        told["file"] = str(path)
        screen.line("schedule", f"{path}; taken by --schedule {path}", "ok")
    return told | write_files(o, screen, tuner, result, told["steps"])


def _object(problem: Problem, target: str, result: Result) -> dict[str, Any]:
    """Return what `--json` prints, but for steps and files."""
    return {
        "kernel": problem.bound.name,
        "target": target,
        "sizes": problem.sizes,
        "fp": problem.setting.fp,
        "unit": problem.unit,
        "trials": len(result.progress.trials),
        "outcomes": dict(result.progress.outcomes),
        "baselines": result.baselines,
        "best": median(result.finals[0][1]) if result.finals else None,
        "schedule": result.winner.text or None,
        "steps": [],
        "error": None,
    }


@contextmanager
def _live(screen: Screen, seconds: float, unit: str) -> Iterator[Any]:
    """Show how it goes on one line of stderr, where a person is watching."""
    if screen.quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:

        def tell(p: Progress) -> None:
            failed = ", ".join(f"{n} {o}" for o, n in p.outcomes.most_common() if o != "ok")
            best = cost_text(p.best, unit) if p.best is not None else "nothing yet"
            left = max(0.0, seconds - p.seconds)
            text = f"  {best} · {len(p.trials)} trials{' · ' + failed if failed else ''} · {left:.0f} s left"
            live.update(Text(text))

        yield tell


def _report(result: Result, problem: Problem, screen: Screen) -> None:
    from perfdojo.tuning.searched import verdict

    p = result.progress
    kinds = ", ".join(f"{n} {o}" for o, n in p.outcomes.most_common())
    known = f", {p.known} of them known" if p.known else ""
    screen.line("trials", f"{len(p.trials)} in {p.seconds:.0f} s{known}: {kinds}", "ok")
    removed = "".join(f", {n} {reason}" for reason, n in p.removed.most_common())
    screen.line("", f"not measured: {p.repeated} whose code was known{removed}")
    for name, cost in result.baselines.items():
        screen.line(name, cost_text(cost, problem.unit))
    for n, (point, samples) in enumerate(result.finals[:5]):
        what = "planned" if point.moves is None else counted(len(point.moves), "move")
        screen.line("best" if n == 0 else "", f"{cost_text(median(samples), problem.unit)}, {what}")
    text, is_right = verdict(result)
    screen.line("winner", text, "ok" if is_right else "bad")


def _ablation(result: Result, runner: Runner, screen: Screen, problem: Problem) -> list[dict[str, Any]]:
    """Return each step of the winner with what taking it out costs; show them."""
    import random

    from perfdojo.tuning.space import Space

    moves, space = result.winner.moves or (), Space(problem, random.Random(0))
    chosen = moves if len(moves) <= ABLATED else ()
    points = [space.made(m for k, m in enumerate(moves) if k != n) for n, _ in enumerate(chosen)]
    size, tried = runner.workers, []
    for k in range(0, len(points), size):
        tried += runner.measure(points[k : k + size], None)
    whole = next(median(s) for p, s in result.finals if p.text == result.winner.text)
    steps = []
    for n, move in enumerate(moves):
        without = median(tried[n].samples) if n < len(tried) and tried[n].outcome == "ok" else None
        worth = without / whole if without is not None else None
        steps.append({"move": str(move), "without": without})
        text = f"{move}" if worth is None else f"{move}   # without it {worth:.2f} times as long"
        screen.line("steps" if n == 0 else "", text)
    return steps
