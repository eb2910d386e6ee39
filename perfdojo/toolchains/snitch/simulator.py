"""The built-in simulator: made on first use, given a job file, run in a child process."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.gcc import Compiler, native_flags
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.elf import Elf
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.simulation import Simulation, simulation

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
        return simulation(report, _pieces(memory, job.dumps), events, finished.seconds)


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


def _pieces(memory: bytes, dumps: Sequence[tuple[int, int]]) -> tuple[bytes, ...]:
    at = 0
    found = []
    for _, size in dumps:
        found.append(memory[at : at + size])
        at += size
    return tuple(found)
