"""Run an emulated kernel under several orders of its threads, and say in one sentence what it did wrong."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.arrays import Array, from_memory, nans_in, to_memory, why_unfit_inputs
from perfdojo.toolchains.cuda.device import Device
from perfdojo.toolchains.cuda.emulation import Emulated
from perfdojo.toolchains.harness import explain, read_json
from perfdojo.toolchains.leftovers import judge_memory
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import RunResult

MOST_SEEDS = 64
QUERY_LIMITS = Limits(wall_s=20.0)


def run_emulated(
    emitted: EmittedSource,
    emulated: Emulated,
    device: Device,
    inputs: Mapping[str, Array],
    seeds: Sequence[int],
    timeout_s: float,
) -> tuple[RunResult, tuple[dict[str, Any], ...]]:
    """Run the launcher once for each seed, twice if there is one; return the result and what was launched.

    Runs differ in the order of threads and blocks, and in the garbage in and around all buffers. Outputs are
    those of the first run; all must be the same, unless atomic operations on floats are among them.
    """
    unfit = why_unfit_inputs(emitted.arguments, inputs)
    if unfit:
        return RunResult("not-runnable", unfit), ()
    if not 1 <= len(seeds) <= MOST_SEEDS:
        return RunResult("not-runnable", f"{len(seeds)} seeds; from 1 to {MOST_SEEDS} can be run"), ()
    seeds = tuple(seeds) * 2 if len(seeds) == 1 else tuple(seeds)
    with tempfile.TemporaryDirectory(prefix="perfdojo-cuda-") as name:
        folder = Path(name)
        (folder / "plan.txt").write_text(plan_text(emitted, emulated, device, seeds))
        (folder / "kernel.so").symlink_to(emulated.library.resolve())
        for k, a in enumerate(emitted.arguments):
            if a.role != "out":
                to_memory(a, inputs[a.name]).tofile(folder / f"{k}.in")
        finished = run(
            [str(emulated.program)], _limits(timeout_s), cwd=folder, env={**os.environ, "LC_ALL": "C"}
        )
        report = read_json(folder / "report.json")
        if finished.outcome != "ok" or report.get("status") != "ok":
            return _failed(emitted, emulated, finished, report, read_json(folder / "fault.json")), ()
        return _judge(emitted, folder, report, len(seeds)), tuple(report["launches"])


def plan_text(emitted: EmittedSource, emulated: Emulated, device: Device, seeds: Sequence[int]) -> str:
    """Return the plan file; its form is described in emulate.c."""
    c = emulated.contents
    limits = {
        "threads": device.max_threads_per_block,
        **{f"block_{x}": n for x, n in zip("xyz", device.max_block, strict=True)},
        **{f"grid_{x}": n for x, n in zip("xyz", device.max_grid, strict=True)},
        "shared_static": device.shared_static,
        "shared_most": device.shared_per_block,
    }
    lines = [
        *(f"seed {s}" for s in seeds),
        f"device {device.architecture}",
        *(f"limit {name} {value}" for name, value in limits.items()),
        f"library {c.size}",
        *(f"kernel {f.offset} {f.signature or '-'} {c.static_shared(f)} {f.name}" for f in c.functions),
        *(f"shared {a.offset} {a.size} {a.name}" for a in c.arrays),
        f"dynamic {c.dynamic} {c.dynamic_room} {c.shared_bytes}",
    ]
    for a in emitted.arguments:
        lines.append(f"arg {a.role} {a.bytes} {emitted.alignment or DTYPES[a.dtype].bytes} {a.name}")
    return "\n".join(lines) + "\n"


def _judge(emitted: EmittedSource, folder: Path, report: Mapping[str, Any], runs: int) -> RunResult:
    """Judge what the runs left in memory."""
    outputs: dict[str, Array] = {}
    for k, a in enumerate(emitted.arguments):
        if a.role == "in":
            continue
        memory = [(folder / f"{k}.out{n}").read_bytes() for n in range(runs)]
        outcome, text = judge_memory(a, memory[0], memory[1])
        if outcome != "ok":
            return RunResult(outcome, text)
        values = [from_memory(a, m) for m in memory]
        outputs[a.name] = values[0]
        different = [n for n, v in enumerate(values) if v.tobytes() != values[0].tobytes()]
        if different and not report["float_atomics"]:
            text = f"{a.name} depends on the order of the threads: run {different[0]} differs from run 0"
            return RunResult("wrong-result", text)
    return RunResult("ok", "", outputs, nans_in(outputs), float(report["seconds"]) / runs)


def _failed(
    emitted: EmittedSource,
    emulated: Emulated,
    finished: Finished,
    report: Mapping[str, Any],
    fault: Mapping[str, Any],
) -> RunResult:
    outcome, text = explain(finished, report, fault)
    places = report.get("places", [])
    lines = [_line(emitted, emulated, p) for p in places] if isinstance(places, list) else []
    for k, line in enumerate(lines, 1):
        text = text.replace(f"@{k}", line)
    return RunResult(outcome, text)


def _line(emitted: EmittedSource, emulated: Emulated, place: int) -> str:
    """The line of the source for an offset in the library: of the innermost call that is written there."""
    tool = shutil.which("addr2line")
    if not place or tool is None:
        return "the kernel"
    found = run([tool, "-i", "-e", str(emulated.library), hex(place - 1)], QUERY_LIMITS).stdout.splitlines()
    own = {name for name, _ in emitted.files}
    lines = [re.sub(r" \(discriminator.*", "", f.rpartition("/")[2]) for f in found]
    return next(
        (line for line in lines if line.partition(":")[0] in own), lines[0] if lines else "the kernel"
    )


def _limits(seconds: float) -> Limits:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Limits(wall_s=seconds, memory_bytes=memory, processes=1)
