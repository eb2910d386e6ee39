"""`--validate`: what a schedule or the planner makes is compared with the kernel on symbolic values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfdojo.cli.job import Job
from perfdojo.compiler.ir import Program

if TYPE_CHECKING:
    from perfdojo.compiler.schedule.validation import Validation


def validate(job: Job) -> bool:
    """Validate, report, and tell whether the programs are the same.

    Raises:
        PerfDojoError: the schedule is legal at no sizes that are small enough.
    """
    from perfdojo.backends import get_target, planned
    from perfdojo.compiler.schedule.validation import by_planner, by_schedule, validate_made, with_sizes
    from perfdojo.compiler.transforms.base import Setting

    o, schedule = job.options, job.choice.schedule
    target = job.emitted.target + o.isa

    def plan(bound: Program) -> Program:
        return planned(bound, target, fp=o.fp, threads=o.threads)

    make = by_schedule(schedule, Setting(get_target(target), o.fp)) if schedule else by_planner(plan)
    with job.screen.working("validating"):
        steps = len(schedule.steps) if schedule else None
        found = validate_made(with_sizes(job.kernel, o.sizes), make, o.fp, steps)
    job.result.validate = _as_json(found)
    job.screen.line("validate", str(found), "ok" if found.equal else "bad")
    if found.note:
        job.screen.line("", found.note, "note")
    if not found.equal:
        job.result.fail(str(found))
    return found.equal


def _as_json(found: Validation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "passed": found.equal,
        "fp": found.fp,
        "sizes": [dict(s) for s in found.sizes],
        "given_sizes": found.given,
        "steps": found.steps,
        "every_step": found.every,
        "note": found.note or None,
    }
    v = found.verdict
    if v is None:
        return told
    told |= {"differs_at_step": found.number, "step": found.step, "message": v.message}
    return told | {"element": v.element, "original": v.original, "transformed": v.transformed}
