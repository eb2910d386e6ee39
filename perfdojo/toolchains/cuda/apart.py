"""Run and time a kernel on the GPU in a process of its own: whatever it does there is an outcome."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.arrays import Array, from_memory, nans_in, why_unfit_inputs
from perfdojo.toolchains.cuda.gpu import measured
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Measurement, Outcome, RunResult

JOB, TIME = "job", "time"
START_S = 60.0
"""To start Python, CuPy and the GPU, and to move the arguments."""
FILES_BYTES = 64 << 20
"""A file may have so much, and all arguments: outputs, and what CuPy keeps of its own kernels."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does.

    Attributes:
        library: with the launcher, for the GPU that is here.
        inputs: that it is run on, each time in fresh memory; timed on the first.
        budget_s: to measure for; 0: it is not timed.
        call_s: a call, or a sample of some, that takes longer is cut short: a timeout.
        most_s: what takes longer is timed once, and not run on the other inputs; None: nothing is too slow.
    """

    emitted: EmittedSource
    library: Path
    inputs: tuple[Mapping[str, Array], ...]
    budget_s: float
    call_s: float
    most_s: float | None = None


@dataclass(frozen=True, slots=True)
class Came:
    """What came of it, as far as it got; the last one says why it got no further.

    Attributes:
        checks: one for each set of inputs.
        time: None when it was not timed.
    """

    checks: tuple[RunResult, ...]
    time: Measurement | None


def run_apart(job: Job, start_s: float = START_S) -> Came:
    """Do a job in a process of its own; that it ends, hangs or is killed is the outcome of its last part."""
    for inputs in job.inputs:
        if unfit := why_unfit_inputs(job.emitted.arguments, inputs):
            return Came((RunResult("not-runnable", unfit),), None)
    calls = 3 * len(job.inputs) + 8
    size = FILES_BYTES + len(job.inputs) * sum(a.bytes for a in job.emitted.arguments)
    limits = Limits(wall_s=start_s + calls * job.call_s + 10 * job.budget_s, file_bytes=size)
    with tempfile.TemporaryDirectory(prefix="perfdojo-gpu-") as name:
        folder = Path(name)
        (folder / JOB).write_bytes(pickle.dumps(job))
        above = str(Path(__file__).parents[3])
        paths = os.pathsep.join(filter(None, (above, os.environ.get("PYTHONPATH", ""))))
        command = [sys.executable, "-m", "perfdojo.toolchains.cuda.child"]
        finished = run(command, limits, cwd=folder, env={**os.environ, "PYTHONPATH": paths})
        return _read(folder, job, finished)


def _read(folder: Path, job: Job, finished: Finished) -> Came:
    """Read what the process told, in the order in which it does."""
    ended = _ended(finished)
    first = _check(folder, job, 0) or ended
    if first.outcome != "ok":
        return Came((first,), None)
    time = None
    if job.budget_s:
        told = _told(folder / f"{TIME}.json")
        if told is None:
            return Came((first,), Measurement(ended.outcome, ended.text))
        if told["outcome"] != "ok":
            return Came((first,), Measurement(told["outcome"], told["text"]))
        time = measured(tuple(told["samples_s"]), "hot", 1)
        if job.most_s is not None and time.median_s > job.most_s:
            return Came((first,), time)
    checks = [first]
    for number in range(1, len(job.inputs)):
        checks.append(_check(folder, job, number) or ended)
        if checks[-1].outcome != "ok":
            break
    return Came(tuple(checks), time)


def _ended(finished: Finished) -> RunResult:
    """How the process ended, for the part of which it told nothing."""
    if finished.outcome == "timeout":
        return RunResult("timeout", f"the kernel was stopped: {finished.note}")
    if finished.outcome == "out-of-memory":
        return RunResult("out-of-memory", finished.note)
    lines = [line for line in finished.stderr.splitlines() if line.strip()]
    why = finished.note or finished.signal or (lines[-1] if lines else f"exit status {finished.code}")
    return RunResult("crash", f"the process that uses the GPU ended: {why}")


def _told(path: Path) -> dict[str, Any] | None:
    return cast(dict[str, Any], json.loads(path.read_text())) if path.exists() else None


def _check(folder: Path, job: Job, number: int) -> RunResult | None:
    told = _told(folder / f"{number}.json")
    if told is None or told["outcome"] != "ok":
        return None if told is None else RunResult(cast(Outcome, told["outcome"]), told["text"])
    outputs = {
        a.name: from_memory(a, (folder / f"{number}.{a.name}").read_bytes())
        for a in job.emitted.arguments
        if a.role != "in"
    }
    return RunResult("ok", "", outputs, nans_in(outputs))
