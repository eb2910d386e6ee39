"""Build, run and measure emitted source on this machine."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from perfdojo.compiler.emitted import BASE_FLAGS, EmittedSource
from perfdojo.toolchains.arrays import Array, from_memory, nans_in, why_unfit_inputs
from perfdojo.toolchains.builds import COMPILE_LIMITS, Artifact, BuildRequest, Kind, build_files
from perfdojo.toolchains.cpu import Cpu, read_cpu
from perfdojo.toolchains.gcc import WARNING_FLAGS, find_compiler, native_flags, runs_here
from perfdojo.toolchains.harness import Host, Launch, Report, call_file, run_harness
from perfdojo.toolchains.identity import identity_file
from perfdojo.toolchains.leftovers import judge_memory
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.places import Places, find_places
from perfdojo.toolchains.precompiled import precompiled_flags
from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.results import Failure, Measurement, RunResult
from perfdojo.toolchains.statistics import median, median_interval, spread
from perfdojo.toolchains.vectorcall import vectorcall_file

CHECK_TIMEOUT_S = 60.0
REPORT_BYTES = 4 << 20
"""More than a report of the harness has."""
SHARED_BUSY_SHARE = 0.95
"""Below this part of the time on its processor, a measurement says that the processor was shared."""


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel that compiled.

    Attributes:
        library: what `run` loads: native code, or the emulation where the CPU lacks a feature;
            None when neither runs.
        native: the library for the target itself.
        timed: whether times of it mean anything.
        reason: why it is not timed, one sentence, or "".
        command: of the native build.
        warnings: what the compiler said to the native build.
    """

    emitted: EmittedSource
    host: Host
    library: Path | None
    native: Path
    timed: bool
    reason: str
    command: str
    warnings: str


def find_host(compiler: str = "gcc", cpu: Cpu | None = None, places: Places | None = None) -> Host:
    """Return this machine's compiler, processor and folders; MissingTool when there is no compiler."""
    return Host(find_compiler(compiler), cpu or read_cpu(), places or find_places())


def flags_of(emitted: EmittedSource, host: Host) -> tuple[str, ...]:
    """Return the flags of a native build: ours, then those that the source needs."""
    return (*BASE_FLAGS, *native_flags(host.compiler), *WARNING_FLAGS, *emitted.flags)


def build(
    emitted: EmittedSource, host: Host, quick: bool = False, limits: Limits = COMPILE_LIMITS
) -> Built | Failure:
    """Compile the kernel, and its emulation too when the CPU lacks what it requires.

    Args:
        quick: take system headers from where they were compiled before, as searches do.
        limits: of the compiler.
    """
    files = (*emitted.files, call_file(emitted))
    flags = flags_of(emitted, host)
    flags += precompiled_flags(emitted.files, flags, host) if quick else ()
    request = BuildRequest(_name(emitted), "shared", files, flags, links=emitted.links)
    native = build_files(request, host.compiler, host.cpu, host.places, limits)
    if isinstance(native, Failure):
        return native
    missing = host.cpu.missing(emitted.requires)
    if host.emulator:
        why = f"this machine is {platform.machine()}: run by {Path(host.emulator[0]).name}, not timed"
        return Built(emitted, host, native.path, native.path, False, why, native.command, native.warnings)
    if not runs_here(host.compiler):
        why = f"{host.compiler.path} compiles for {host.compiler.machine}: built, neither run nor timed"
        return Built(emitted, host, None, native.path, False, why, native.command, native.warnings)
    if not missing:
        return Built(emitted, host, native.path, native.path, True, "", native.command, native.warnings)
    lacks = f"this CPU has no {', '.join(missing)}"
    if not emitted.emulation:
        why = f"{lacks}: built, neither run nor timed"
        return Built(emitted, host, None, native.path, False, why, native.command, native.warnings)
    portable = tuple(f for f in emitted.flags if not f.startswith("-m"))
    # the headers pass vectors wider than the CPU's: gcc notes that this has no settled calling convention
    flags = (*BASE_FLAGS, *native_flags(host.compiler), "-Wno-psabi", *portable)
    emulated = build_files(
        BuildRequest(f"{_name(emitted)}-emulated", "shared", files, flags, emitted.links, emitted.emulation),
        host.compiler,
        host.cpu,
        host.places,
        limits,
    )
    if isinstance(emulated, Failure):
        return emulated
    why = f"{lacks}: checked by emulation, not timed"
    return Built(emitted, host, emulated.path, native.path, False, why, native.command, native.warnings)


def assembly(emitted: EmittedSource, host: Host) -> str | Failure:
    """Return the assembly that the compiler makes of the kernel, for the target itself."""
    made = _build_kind(emitted, host, "assembly", emitted.files, ())
    return made if isinstance(made, Failure) else made.path.read_text(errors="replace")


def shared_library(emitted: EmittedSource, path: Path, host: Host) -> Path | Failure:
    """Build the library that `perfdojo.load` takes and put it at `path`, replacing what is there at once.

    It is made for this very processor, or for another kind of machine; what it may use is written into it.
    """
    files = (*emitted.files, identity_file(host.cpu, host.compiler), vectorcall_file(emitted))
    made = _build_kind(emitted, host, "shared", files, ("-DPERFDOJO_SHARED",))
    if isinstance(made, Failure):
        return made
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    try:
        shutil.copyfile(made.path, name)
        Path(name).chmod(0o755)
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()
    return path


def run(
    built: Built,
    inputs: Mapping[str, Array],
    threads: int = 2,
    timeout_s: float = CHECK_TIMEOUT_S,
    call_s: float = 0.0,
    memory_bytes: int | None = None,
) -> RunResult:
    """Run the kernel on `inputs`, arrays for the `in` and `inout` arguments in dtype and shape of each.

    It runs twice, with different garbage in and around all buffers and at different alignments: so a write
    next to a buffer or to an input, and an output element that is not written, are found. The outputs are
    those of the first run. Two threads by default, so that a race can show. A call that takes longer than
    `call_s` is cut short: a timeout. The process may have `memory_bytes`, by default as much as there is.
    """
    unfit = built.reason if built.library is None else why_unfit_inputs(built.emitted.arguments, inputs)
    if unfit or built.library is None:
        return RunResult("not-runnable", unfit)
    launch = Launch("check", threads, call_s=call_s)
    limits = _limits(built, timeout_s, memory_bytes)
    report = run_harness(built.host, built.library, built.emitted, inputs, launch, limits)
    if report.outcome != "ok":
        return RunResult(report.outcome, report.text)
    arguments = {a.name: a for a in built.emitted.arguments}
    for name, (first, second) in report.memory.items():
        outcome, text = judge_memory(arguments[name], first, second)
        if outcome != "ok":
            return RunResult(outcome, text)
    outputs = {name: from_memory(arguments[name], first) for name, (first, _) in report.memory.items()}
    return RunResult("ok", "", outputs, nans_in(outputs), float(report.figures["seconds"]))


def measure(
    built: Built,
    inputs: Mapping[str, Array],
    budget_s: float = 1.0,
    threads: int = 1,
    cache: Literal["hot", "cold"] = "hot",
    timeout_s: float | None = None,
    call_s: float = 0.0,
    memory_bytes: int | None = None,
) -> Measurement:
    """Time the kernel on `inputs`, pinned to processors.

    Takes samples until the 95 % confidence interval of the median is narrower than 1 % of it or `budget_s`
    ends. `inout` arguments are put back before each sample. With cache="cold" the caches are emptied before
    each call. Measurements of one user wait for each other. `call_s` and `memory_bytes` as for `run`.
    """
    unfit = built.reason if not built.timed else why_unfit_inputs(built.emitted.arguments, inputs)
    if unfit or built.library is None:
        return Measurement("not-runnable", unfit, threads=threads, cache=cache)
    cpus = built.host.cpu.processors[:threads]
    notes = [f"{threads} threads on {len(cpus)} processors"] if threads > len(cpus) else []
    launch = Launch("time", threads, cpus, cache == "cold", budget_s, call_s=call_s)
    wall_s = timeout_s if timeout_s is not None else CHECK_TIMEOUT_S + budget_s
    limits = _limits(built, wall_s, memory_bytes)
    with alone() as waiting_note:
        report = run_harness(built.host, built.library, built.emitted, inputs, launch, limits)
    if report.outcome != "ok":
        return Measurement(report.outcome, report.text, threads=threads, cache=cache, cpus=cpus)
    notes += [waiting_note] if waiting_note else []
    notes += _disturbance(report)
    samples = tuple(float(s) for s in report.figures["samples_s"])
    return Measurement(
        "ok",
        "",
        samples,
        median(samples),
        min(samples),
        spread(samples),
        median_interval(samples),
        threads,
        cache,
        int(report.figures["repeat"]),
        cpus,
        tuple(notes),
    )


def _name(emitted: EmittedSource) -> str:
    return f"{emitted.kernel}-{emitted.target}"


def _build_kind(
    emitted: EmittedSource, host: Host, kind: Kind, files: tuple[tuple[str, str], ...], more: tuple[str, ...]
) -> Artifact | Failure:
    request = BuildRequest(_name(emitted), kind, files, (*flags_of(emitted, host), *more), emitted.links)
    return build_files(request, host.compiler, host.cpu, host.places)


def _limits(built: Built, seconds: float, memory_bytes: int | None) -> Limits:
    """What one run of the harness may use; its files are a report and one for each argument."""
    files = REPORT_BYTES + max((a.bytes for a in built.emitted.arguments), default=0)
    if built.host.emulator:  # it reserves address space that it never uses
        return Limits(wall_s=seconds, file_bytes=files, processes=1)
    there_is = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = min(there_is, memory_bytes or there_is)
    return Limits(wall_s=seconds, memory_bytes=memory, file_bytes=files, processes=1)


def _disturbance(report: Report) -> list[str]:
    """A note when the processor did something else during a measurement."""
    wall, busy = float(report.figures["wall_s"]), float(report.figures["busy_s"])
    if busy >= SHARED_BUSY_SHARE * wall:
        return []
    return [f"the processor was shared: the kernel ran for {100 * busy / wall:.0f} % of the time"]
