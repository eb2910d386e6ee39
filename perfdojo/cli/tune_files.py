"""`--plot` and `--report` beside `--tune`: looked at before the search begins, written when it is over."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.options import Options, error_object
from perfdojo.cli.report import Screen
from perfdojo.compiler.diagnostics import PerfDojoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.tuning.searched import Searched
    from perfdojo.tuning.tune import Result, Tuner


def check_files(o: Options) -> None:
    """Refuse before a search what would fail behind it.

    Raises:
        MissingTool: nothing that draws is installed.
        PerfDojoError: a file cannot be written.
    """
    if o.plot is not None:
        from perfdojo.tuning.plot import need_matplotlib

        need_matplotlib()
    for option, path in (("--plot", o.plot), ("--report", o.report)):
        if path is None:
            continue
        if path.is_dir():
            raise PerfDojoError(f"{option} {path} is a folder: name the file to write")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PerfDojoError(f"cannot make the folder {path.parent}: {error.strerror}") from None
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PerfDojoError(f"{option} {path} cannot be written: permission denied")


def write_files(
    o: Options, screen: Screen, tuner: Tuner, result: Result, steps: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Write what was asked for, show it, and return what `--json` says of it.

    A file that cannot be written any more is told, and loses nothing else.
    """
    told: dict[str, Any] = {}
    if o.plot is None and o.report is None:
        return told
    s = _searched(o, tuner, result, steps)
    for name, path in (("plot", o.plot), ("report", o.report)):
        if path is None:
            continue
        try:
            _write(name, s, path)
        except OSError as error:
            message = f"cannot write {path}: {error.strerror or error}"
            screen.line(name, message, "bad")
            told["error"] = error_object(message, "")
            continue
        told[name] = str(path)
        screen.line(name, str(path), "ok")
    return told


def _write(name: str, s: Searched, path: Path) -> None:
    if name == "report":
        from perfdojo.tuning.report import report

        path.write_text(report(s), encoding="utf-8")
        return
    from perfdojo.tuning.plot import draw
    from perfdojo.tuning.searched import curve

    r = s.result
    draw(curve(r.progress.trials, r.baselines, s.problem.unit), s.problem.title, path)


def _searched(o: Options, tuner: Tuner, result: Result, steps: Sequence[dict[str, Any]]) -> Searched:
    from perfdojo.tuning.diagnosis import diagnosis
    from perfdojo.tuning.runners.emitting import emit_point
    from perfdojo.tuning.searched import Searched

    emitted: EmittedSource | None = None
    with suppress(PerfDojoError):
        emitted = emit_point(tuner.problem, result.winner)
    command = _command(o, emitted) if emitted is not None and o.report is not None else ""
    shipped = tuner.space.of_schedule(tuner.shipped).program if tuner.shipped else None
    return Searched(
        tuner.problem, result, tuner.search, tuner.seed, tuner.space.start.program, shipped, steps, emitted,
        command, diagnosis(result, tuner.space),
    )  # fmt: skip


def _command(o: Options, emitted: EmittedSource) -> str:
    """Return the compiler and its flags; "" where they cannot be told."""
    from perfdojo.cli.job import short_command
    from perfdojo.cli.machine import choose_machine
    from perfdojo.toolchains.results import Failure

    try:
        built = choose_machine(o, emitted.target.partition(":")[0]).build(emitted)
    except PerfDojoError:
        return ""
    return "" if isinstance(built, Failure) else short_command(built.command)
