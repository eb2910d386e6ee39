"""Dispatch one call of `perfdojoc`: information, a stage of the pipeline, or the main job."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from perfdojo.cli.options import Options, options, parser
from perfdojo.cli.report import Screen

if TYPE_CHECKING:
    from perfdojo.cli.job import Job

FINE, WRONG, MISSING = 0, 1, 3
DEFAULT_FOLDER = Path("perfdojo-out")
"""Where the main job leaves its files, in a folder for each target."""


def run(argv: Sequence[str]) -> int:
    """Run one call; errors become messages and an exit status, never a traceback."""
    p = parser()
    raw, o = options(p, argv)
    try:
        return _dispatch(p, raw, o)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except KeyboardInterrupt:
        print("perfdojoc: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        return _failed(error, o)


def _failed(error: Exception, o: Options) -> int:
    """Report an error in the form that was asked for."""
    from perfdojo.compiler.diagnostics import PerfDojoError
    from perfdojo.toolchains.results import MissingTool

    if not isinstance(error, PerfDojoError):
        return _internal(error, o)
    if o.json:
        line, column = error.position or (None, None)
        name = error.source.name if error.source else None
        print(
            json.dumps(
                {
                    "error": {
                        "message": error.message,
                        "file": name,
                        "line": line,
                        "column": column,
                        "hint": error.hint or None,
                    }
                }
            )
        )
    else:
        print(error, file=sys.stderr)
    return MISSING if isinstance(error, MissingTool) else WRONG


def _internal(error: Exception, o: Options) -> int:
    """A bug of ours: say so, and keep the traceback in a file for the report."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="perfdojoc-", suffix=".log", delete=False) as file:
        file.write(f"perfdojoc {' '.join(sys.argv[1:])}\n\n")
        traceback.print_exception(error, file=file)
    message = f"internal error, a bug of perfdojo: {type(error).__name__}: {error}"
    hint = f"please report it with the kernel and {file.name}"
    if o.json:
        print(
            json.dumps(
                {"error": {"message": message, "file": None, "line": None, "column": None, "hint": hint}}
            )
        )
    else:
        print(f"perfdojoc: {message}\nhint: {hint}", file=sys.stderr)
    return WRONG


def _dispatch(p: ArgumentParser, raw: Namespace, o: Options) -> int:
    if raw.completion:
        import shtab

        print(shtab.complete(p, shell=raw.completion))
        return FINE
    if raw.list_kernels or raw.list_targets or raw.doctor:
        from perfdojo.cli import information

        if raw.list_kernels:
            return information.list_kernels(o)
        if raw.list_targets:
            return information.list_targets(o)
        return information.doctor(o, raw.remeasure)
    if o.emit in ("ir", "lowered", "source", "asm"):
        from perfdojo.cli.stages import emit_stage

        return emit_stage(o)
    return _job(o)


def _job(o: Options) -> int:
    """The main job, or the part of it that was asked for."""
    from perfdojo.cli.job import Job

    screen = Screen(o.quiet, silent=o.json)
    with screen.working("emitting"):
        job = Job.start(o, screen)
    fine = _steps(job, o)
    if o.json:
        result = {
            k: v for k, v in asdict(job.result).items() if v is not None or k in ("check", "time", "limit")
        }
        print(json.dumps(result))
    return FINE if fine and job.result.error is None else WRONG


def _steps(job: Job, o: Options) -> bool:
    shared = o.emit == "shared"
    main_job = o.check and o.time and not o.output and not shared
    if o.output or main_job:
        job.write(o.output or DEFAULT_FOLDER / job.emitted.target)
    if not (shared or o.check or o.time):
        return True
    from perfdojo.toolchains.host import find_host

    host = find_host()
    if shared:
        job.shared(o.output or Path(), host)
    if not (o.check or o.time):
        return job.result.error is None
    built = job.build(host)
    if built is None or (o.check and not job.check(built)):
        return False
    return job.time(built) if o.time else True
