"""Dispatch one call of `perfdojoc`: information, a stage of the pipeline, or the main job."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli import FINE, MISSING, WRONG
from perfdojo.cli.options import Options, error_object, options, parser
from perfdojo.cli.report import Screen

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.diagnostics import PerfDojoError

DEFAULT_FOLDER = Path("perfdojo-out")
"""Where the main job leaves its files, in a folder for each target."""
FRAMES = 10_000
"""Depth of Python calls: each of 200 nested operations may take ten."""


def run(argv: Sequence[str]) -> int:
    """Run one call; errors become messages and an exit status, never a traceback."""
    playing = list(argv[:1]) == ["play"]
    argv = argv[1:] if playing else argv
    p = parser("--json" in argv, playing)
    raw, o = options(p, argv)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES))
    try:
        return _play(p, o) if playing else _dispatch(p, raw, o)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _failed(error, o)


def _failed(error: Exception, o: Options) -> int:
    """Report an error in the form that was asked for."""
    from perfdojo.cli.schedules import state_of

    told = _told(error)
    if o.json:
        print(json.dumps({"error": _object(told)}))
    else:
        print(told, file=sys.stderr)
        if state := state_of(told):
            print(f"\nthe program there:\n\n{state}", end="", file=sys.stderr)
    return _status(told)


def _status(error: PerfDojoError) -> int:
    from perfdojo.toolchains.results import MissingTool

    return MISSING if isinstance(error, MissingTool) else WRONG


def _object(error: PerfDojoError) -> dict[str, Any]:
    """What `--json` says of an error that ended the call; its `state` is the program there."""
    from perfdojo.cli.schedules import state_of

    name = error.source.name if error.source else None
    found = error_object(error.message, error.hint, name, *(error.position or ()))
    state = state_of(error)
    return found | ({"state": state} if state else {})


def _told(error: Exception) -> PerfDojoError:
    """Return any error as one that users are told."""
    from perfdojo.compiler.diagnostics import PerfDojoError

    if isinstance(error, MemoryError):
        return PerfDojoError(
            f"there is not enough memory: {str(error) or 'an allocation failed'}", hint="choose smaller sizes"
        )
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return PerfDojoError(f"{where}{error.strerror or error}")
    return error if isinstance(error, PerfDojoError) else _internal(error)


def _internal(error: Exception) -> PerfDojoError:
    """A bug of ours: say so, and keep the traceback in a file for the report."""
    import tempfile
    import traceback

    from perfdojo.compiler.diagnostics import PerfDojoError

    hint = "please report it with the kernel"
    with suppress(OSError):
        with tempfile.NamedTemporaryFile("w", prefix="perfdojoc-", suffix=".log", delete=False) as file:
            file.write(f"perfdojoc {' '.join(sys.argv[1:])}\n\n")
            traceback.print_exception(error, file=file)
        hint += f" and {file.name}"
    return PerfDojoError(f"internal error, a bug of perfdojo: {type(error).__name__}: {error}", hint=hint)


def _play(p: ArgumentParser, o: Options) -> int:
    if o.emit or o.output or o.json:
        p.error("play takes no -o, --emit and --json: it saves a schedule, which perfdojoc then takes")
    from perfdojo.cli.play import play

    return play(o)


def _dispatch(p: ArgumentParser, raw: Namespace, o: Options) -> int:
    if raw.completion:
        import shtab

        print(shtab.complete(p, shell=raw.completion))
        return FINE
    if raw.list_kernels or raw.list_targets or raw.list_transforms or raw.doctor:
        from perfdojo.cli import information

        if raw.list_transforms:
            return information.list_transforms(o)
        if raw.list_kernels:
            return information.list_kernels(o)
        if raw.list_targets:
            return information.list_targets(o)
        return information.doctor(o, raw.remeasure)
    if o.emit in ("ir", "lowered", "source", "asm"):
        from perfdojo.cli.stages import emit_stage

        return emit_stage(o)
    return _tune(o) if o.tune_s else _job(o)


def _tune(o: Options) -> int:
    from perfdojo.cli.job import chosen_target
    from perfdojo.cli.tune import tune

    o, target = chosen_target(o)
    folder = o.output or DEFAULT_FOLDER / target
    told = tune(o, Screen(o.quiet, silent=o.json), folder)
    if o.json:
        print(json.dumps(told))
    return FINE if told["error"] is None else WRONG


def _job(o: Options) -> int:
    """The main job, or the part of it that was asked for."""
    from perfdojo.cli.job import Job

    screen = Screen(o.quiet, silent=o.json)
    with screen.working("emitting"):
        job = Job.start(o, screen)
    try:
        fine = _steps(job, job.options) and job.result.error is None
        status = FINE if fine else WRONG
    except Exception as error:
        if not o.json:
            raise
        # what was done before, the files above all, is part of the answer
        told = _told(error)
        job.result.error, status = _object(told), _status(told)
    if o.json:
        result = {
            k: v for k, v in asdict(job.result).items() if v is not None or k in ("check", "time", "limit")
        }
        print(json.dumps(result))
    return status


def _steps(job: Job, o: Options) -> bool:
    from perfdojo.cli.validation import validate

    shared = o.emit == "shared"
    main_job = o.check and o.time and not o.output and not shared
    if o.output or main_job:
        job.write(o.output or DEFAULT_FOLDER / job.emitted.target)
    if o.validate and not validate(job):
        return False
    if not (shared or o.check or o.time):
        return True
    from perfdojo.cli.machine import choose_machine

    machine = choose_machine(o, job.emitted.target)
    if shared:
        job.shared(o.output or Path(), machine)
    if not (o.check or o.time):
        return job.result.error is None
    built = job.build(machine)
    if built is None or (o.check and not job.check(built)):
        return False
    return job.time(built) if o.time else True
