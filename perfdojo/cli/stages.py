"""`--emit`: print a stage of the pipeline, or write it to a folder."""

from __future__ import annotations

import json
import sys

from perfdojo.cli.job import chosen_target
from perfdojo.cli.kernels import write_files
from perfdojo.cli.options import Options
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import MARKER
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Scheduled
from perfdojo.finding import read_kernel


def emit_stage(o: Options) -> int:
    """Print `--emit ir|lowered|source|asm`, or write it with -o; return the exit status.

    Raises:
        PerfDojoError: the kernel or its schedule is wrong, or the compiler refused it (asm).
    """
    from perfdojo.backends import get_target
    from perfdojo.cli.schedules import choose_schedule
    from perfdojo.compiler.bind import bind
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.compiler.verify import verify

    o, target = chosen_target(o)
    bound = bind(read_kernel(o.kernel), o.sizes)
    verify(bound)
    choice = choose_schedule(o, bound, Setting(get_target(target + o.isa), o.fp))
    files, told = _stage(bound, choice.scheduled, target, o)
    notes = (*choice.notes, *told)
    about = {"kernel": bound.name, "target": target, "schedule": choice.steps, "notes": notes}
    for note in () if o.quiet else notes:
        print(f"note: {note}", file=sys.stderr)
    if o.output is None:
        text = "\n".join(text for _, text in files)
        print(json.dumps({**about, o.emit: text}) if o.json else text, end="")
        return 0
    paths = [str(p) for p in write_files(o.output, files, o.force)]
    print(json.dumps({**about, "files": paths}) if o.json else "\n".join(paths))
    return 0


def _stage(
    bound: Program, scheduled: Scheduled | None, target: str, o: Options
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """File names and texts of the stage, and notes that are not in them."""
    from perfdojo.backends import emit, lowered, planned
    from perfdojo.compiler.text.render import render

    if o.emit == "ir":
        shown = planned(bound, target + o.isa, fp=o.fp, threads=o.threads, scheduled=scheduled)
        return ((f"{bound.name}.ir", f"# {MARKER}\n{render(shown)}"),), ()
    if o.emit == "lowered":
        machine = target + o.isa
        text = lowered(bound, machine, fp=o.fp, threads=o.threads, scheduled=scheduled, cores=o.cores)
        return ((f"{bound.name}.lowered", f"# {MARKER}\n{text}"),), ()
    emitted = emit(bound, target + o.isa, fp=o.fp, threads=o.threads, scheduled=scheduled, cores=o.cores)
    if o.emit == "source":
        return (emitted.files if o.output else emitted.files[:1]), emitted.notes
    from perfdojo.cli.machine import choose_machine
    from perfdojo.toolchains.results import Failure

    made = choose_machine(o, target).assembly(emitted)
    if isinstance(made, Failure):
        raise PerfDojoError(made.text, hint=f"source and the compiler's message are in {made.folder}")
    return ((f"{bound.name}.s", f"# {MARKER}\n{made}"),), emitted.notes
