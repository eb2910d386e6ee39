"""What is said of a kernel that cannot be timed here: instructions that it executes, and static estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.toolchains.host import Built
    from perfdojo.toolchains.mca import Estimate


def tell_estimates(job: Job, built: Built, figures: dict[str, Any]) -> None:
    """Add counts and estimates to the figures of `time`, and show them; what is missing is said in a line."""
    from perfdojo.compiler.interpret import random_inputs
    from perfdojo.toolchains.counting import count_instructions

    screen = job.screen
    with screen.working("counting instructions"):
        inputs = random_inputs(job.bound, job.options.seed, "normal")
        count = count_instructions(built.host, built.native, built.emitted, inputs)
    if isinstance(count, str):
        screen.line("executes", count, "note")
    else:
        figures["instructions"] = count
        screen.line("executes", f"{count} instructions a call")
    for line in _loop_lines(built, figures):
        screen.line("estimate", line, "note")


def _loop_lines(built: Built, figures: dict[str, Any]) -> list[str]:
    from perfdojo.toolchains.cross import cross_of
    from perfdojo.toolchains.host import assembly
    from perfdojo.toolchains.loops import main_loop
    from perfdojo.toolchains.mca import Estimate, estimate, find_mca
    from perfdojo.toolchains.results import MissingTool

    cross = cross_of(built.emitted.target)
    if cross is None or not cross.models:
        return []
    try:
        _, version = find_mca()
    except MissingTool as missing:
        return [f"none: {missing.message} (Debian package {missing.package})"]
    text = assembly(built.emitted, built.host)
    loop = main_loop(text) if isinstance(text, str) else None
    if loop is None:
        return []
    found = [estimate(loop, m) for m in cross.models]
    good = [e for e in found if isinstance(e, Estimate)]
    figures["estimates"] = [
        {
            "cpu": e.model.name,
            "loop": loop.label,
            "cycles": e.cycles,
            "pipes": e.share,
            "busiest": e.busiest,
            "busy": e.busy,
        }
        for e in good
    ]
    if not good:
        return [e for e in found if isinstance(e, str)][:1]
    what = f"{loop.arithmetic} FP operations"
    if not loop.arithmetic:
        what = f"{len(loop.lines)} instructions, no FP operations"
    head = f"innermost loop of {what}, by the models of llvm-mca {version}, no time"
    return [head, *(f"{e.model.name}: {e.cycles:.1f} cycles, {_limit(e)}" for e in good)]


def _limit(e: Estimate) -> str:
    """How busy the FP pipes are; for a loop that leaves them empty what is busiest in its place."""
    if e.loop.arithmetic:
        return f"{e.share:.0%} of its {e.model.pipes} pipes"
    return f"{e.busy:.0%} of its {'dispatch' if e.busiest == 'dispatch' else f'units {e.busiest}'}"
