"""`--emit`: print a stage of the pipeline, or write it to a folder."""

from __future__ import annotations

import json

from perfdojo.cli.job import choose_target
from perfdojo.cli.kernels import read_kernel, write_files
from perfdojo.cli.options import Options
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import MARKER
from perfdojo.compiler.ir import Program


def emit_stage(o: Options) -> int:
    """Print `--emit ir|lowered|source|asm`, or write it with -o; return the exit status.

    Raises:
        PerfDojoError: the kernel is wrong, or the compiler refused it (asm).
    """
    target = choose_target(o.target)
    program = read_kernel(o.kernel)
    files = _stage(program, target, o)
    if o.output is None:
        text = "\n".join(text for _, text in files)
        print(
            json.dumps({"kernel": program.name, "target": target, o.emit: text}) if o.json else text, end=""
        )
        return 0
    paths = [str(p) for p in write_files(o.output, files, o.force)]
    print(
        json.dumps({"kernel": program.name, "target": target, "files": paths}) if o.json else "\n".join(paths)
    )
    return 0


def _stage(program: Program, target: str, o: Options) -> tuple[tuple[str, str], ...]:
    """File names and texts of the stage."""
    from perfdojo.backends import emit, lowered, planned
    from perfdojo.compiler.bind import bind
    from perfdojo.compiler.text.render import render
    from perfdojo.compiler.verify import verify

    bound = bind(program, o.sizes)
    verify(bound)
    if o.emit == "ir":
        shown = planned(bound, target, fp=o.fp, threads=o.threads)
        return ((f"{program.name}.ir", f"# {MARKER}\n{render(shown)}"),)
    if o.emit == "lowered":
        text = lowered(bound, target, fp=o.fp, threads=o.threads)
        return ((f"{program.name}.lowered", f"# {MARKER}\n{text}"),)
    emitted = emit(bound, target, fp=o.fp, threads=o.threads)
    if o.emit == "source":
        return emitted.files if o.output else emitted.files[:1]
    from perfdojo.toolchains.host import assembly, find_host
    from perfdojo.toolchains.results import Failure

    made = assembly(emitted, find_host())
    if isinstance(made, Failure):
        raise PerfDojoError(made.text, hint=f"source and the compiler's message are in {made.folder}")
    return ((f"{program.name}.s", f"# {MARKER}\n{made}"),)
