"""The built-in simulator: made on first use, given a job file, run in a child process, its report read."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.gcc import Compiler, native_flags
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Failure, MissingTool, Outcome
from perfdojo.toolchains.snitch.elf import Elf
from perfdojo.toolchains.snitch.gcc import Tools

MAGIC, VERSION = b"PDSNITCH", 1
DIVIDER, STATISTICS, EVENTS, DMA, HARDWARE = 1, 2, 4, 8, 16
"""Flags of a job."""
MAX_CYCLES = 2_000_000_000
SIMULATOR_FLAGS = ("-O3", "-std=gnu11", "-fno-strict-aliasing")
MEMORY_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the simulator.

    Attributes:
        cores: compute cores of the cluster; all start at the entry of the program.
        dma: there is one more core, with the DMA engine.
        divider: the cores have a unit for division and square root.
        statistics: count by instruction.
        events: leave a log of events.
        hardware: loops that the hardware is known to run wrong run as it does, instead of ending as a fault.
        dumps: (address, bytes) of what to read from memory at the end.
    """

    cores: int = 1
    dma: bool = False
    divider: bool = False
    statistics: bool = False
    events: bool = False
    hardware: bool = False
    max_cycles: int = MAX_CYCLES
    dumps: tuple[tuple[int, int], ...] = ()

    @property
    def flags(self) -> int:
        """The flags word of the job file."""
        chosen = DIVIDER * self.divider + STATISTICS * self.statistics + EVENTS * self.events
        return chosen + DMA * self.dma + HARDWARE * self.hardware


@dataclass(frozen=True, slots=True)
class Fault:
    """What the simulated program did that has no meaning: the instruction and the reason in words."""

    hart: int
    pc: int
    word: int
    reason: str
    cycle: int


@dataclass(frozen=True, slots=True)
class HartReport:
    """What one hart did in the whole run.

    Attributes:
        instructions: that left its integer core.
        fpu_issues: arithmetic instructions that its FPU took.
        sequencer_issues: those that came from a repeated loop.
        stalls: cycles lost, by cause.
    """

    instructions: int
    fpu_issues: int
    sequencer_issues: int
    stalls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LineReport:
    """What happened at one instruction address, all harts together.

    Attributes:
        count: times that it left an integer core.
        fp_count: times that an FP subsystem issued it, repetitions included.
        cycles: that integer cores spent on it, those in which it waited included.
        stalls: cycles in which it waited, in an integer core or at the head of an FP subsystem, by cause.
    """

    pc: int
    count: int
    fp_count: int
    cycles: int
    stalls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came back from a run.

    Attributes:
        outcome: ok when the program ended by itself, whatever its exit code.
        text: one sentence on what happened otherwise.
        exit_code: of the program; -1 when it did not end by itself.
        cycles: of the cluster, from reset.
        fault: set when the program did something undefined.
        trap_reason: what the simulator says of the first trap; "" when there was none.
        lines: by address; empty without statistics.
        memory: the dumps, in their order.
        events: the log of events, b"" when none was asked for.
    """

    outcome: Outcome
    text: str = ""
    exit_code: int = -1
    cycles: int = 0
    fault: Fault | None = None
    trap_reason: str = ""
    harts: tuple[HartReport, ...] = ()
    lines: tuple[LineReport, ...] = ()
    tcdm_accesses: int = 0
    tcdm_conflicts: int = 0
    memory: tuple[bytes, ...] = ()
    events: bytes = b""
    seconds: float = field(default=0.0, compare=False)


def simulator_program(tools: Tools) -> Artifact | Failure:
    """Build the simulator, or return the one in the cache.

    It is built on first use rather than with the package: so one pure-Python wheel installs everywhere, no
    build at installation can fail, the compiler is the gcc that the product needs for its other targets
    anyway, and the result is made for the processor at hand.

    Raises:
        MissingTool: there is no gcc for this machine.
    """
    if tools.host is None:
        raise MissingTool("gcc", "gcc")
    return build_files(simulator_request(tools.host), tools.host, tools.cpu, tools.places)


def simulator_request(host: Compiler) -> BuildRequest:
    """Return what is built: all C files of sim/, for the processor at hand."""
    folder = files("perfdojo") / "toolchains" / "snitch" / "sim"
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith((".c", ".h")))
    texts = tuple((name, (folder / name).read_text(encoding="utf-8")) for name in names)
    flags = (*SIMULATOR_FLAGS, *native_flags(host))
    return BuildRequest("snitchsim", "executable", texts, flags, ("-lm",))


def simulate(elf: Elf, job: Job, tools: Tools, limits: Limits) -> Simulation:
    """Run a program; whatever it does is an outcome."""
    program = simulator_program(tools)
    if isinstance(program, Failure):
        return Simulation("not-runnable", f"the simulator cannot be built: {program.text}")
    with tempfile.TemporaryDirectory(prefix="perfdojo-snitch-") as name:
        folder = Path(name)
        (folder / "job").write_bytes(job_bytes(elf, job))
        command = [str(program.path), "job", "memory", *(["events"] if job.events else [])]
        finished = run(command, limits, cwd=folder)
        report = _report(finished)
        if isinstance(report, Simulation):
            return report
        memory = (folder / "memory").read_bytes() if (folder / "memory").exists() else b""
        events = (folder / "events").read_bytes() if job.events and (folder / "events").exists() else b""
        return _simulation(report, _pieces(memory, job.dumps), events, finished.seconds)


def job_bytes(elf: Elf, job: Job) -> bytes:
    """Return the job file, in the form that sim/main.c describes."""
    head = struct.pack(
        "<8sIIIIQIIII",
        MAGIC,
        VERSION,
        elf.entry,
        job.cores,
        job.flags,
        job.max_cycles,
        elf.symbols.get("tohost", 0),
        len(elf.segments),
        len(job.dumps),
        0,
    )
    parts = [head]
    for s in elf.segments:
        parts.append(struct.pack("<IIII", s.address, s.file_bytes, s.size_bytes, 0))
        parts.append(elf.contents(s))
        parts.append(bytes(-s.file_bytes % 8))
    parts += [struct.pack("<II", *d) for d in job.dumps]
    return b"".join(parts)


def _report(finished: Finished) -> dict[str, Any] | Simulation:
    """The object that the simulator printed; or what happened instead."""
    if finished.outcome == "timeout":
        return Simulation("timeout", f"the simulation was stopped: {finished.note}")
    if finished.outcome == "out-of-memory":
        return Simulation("out-of-memory", finished.note)
    try:
        found = json.loads(finished.stdout)
    except ValueError:
        found = None
    if finished.outcome != "ok" or not isinstance(found, dict):
        why = finished.note or finished.stderr.strip() or finished.signal or f"exit status {finished.code}"
        return Simulation("crash", f"the simulator failed: {why}")
    return found


def _simulation(
    report: Mapping[str, Any], memory: tuple[bytes, ...], events: bytes, seconds: float
) -> Simulation:
    status = report["status"]
    fault = None
    outcome: Outcome = "ok"
    text = ""
    if status == "error":
        e = report["error"]
        fault = Fault(e["hart"], e["pc"], e["word"], e["reason"], e["cycle"])
        outcome, text = "crash", e["reason"]
    elif status == "cycles":
        outcome, text = "timeout", f"it was still running after {report['cycles']} cycles"
    return Simulation(
        outcome,
        text,
        report["exit_code"] if status == "exit" else -1,
        report["cycles"],
        fault,
        report.get("trap", {}).get("reason", ""),
        tuple(
            HartReport(h["instret"], h["fpu_issues"], h["seq_issues"], dict(h["stalls"]))
            for h in report["harts"]
        ),
        tuple(
            LineReport(i["pc"], i["count"], i["fpu"], i["cycles"], dict(i["stalls"]))
            for i in report.get("instructions", ())
        ),
        report["tcdm_accesses"],
        report["tcdm_conflicts"],
        memory,
        events,
        seconds,
    )


def _pieces(memory: bytes, dumps: Sequence[tuple[int, int]]) -> tuple[bytes, ...]:
    at = 0
    found = []
    for _, size in dumps:
        found.append(memory[at : at + size])
        at += size
    return tuple(found)
