"""The C program that runs one kernel: built once, told by a plan file what to do, read by its report."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.emitted import C_TYPES, EmittedSource
from perfdojo.toolchains.arrays import Array, to_memory
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cpu import Cpu
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Failure, Outcome

HARNESS_FILES = ("harness.c", "alone.h", "buffers.h", "faults.h", "patience.h", "timing.h")
SHORTEST_SAMPLE_S = 50e-6
UNKNOWN_CACHE_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class Host:
    """What builds and runs need.

    Attributes:
        emulator: command in front of programs of another kind of machine; () where they run by themselves.
    """

    compiler: Compiler
    cpu: Cpu
    places: Places
    emulator: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """What one run of the harness is to do.

    Attributes:
        mode: check runs the kernel twice and returns its outputs, time measures it, calls only calls it.
        cpus: processors to run on; () lets the system choose.
        cold: empty the caches before every call.
        calls: how many, in mode calls.
        call_s: seconds after which a call is cut short, which is a timeout; 0: never.
    """

    mode: Literal["check", "time", "calls"]
    threads: int
    cpus: tuple[int, ...] = ()
    cold: bool = False
    budget_s: float = 1.0
    calls: int = 0
    call_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """What came back.

    Attributes:
        figures: the report of the harness; empty unless outcome is ok.
        memory: for each written argument its bytes after the first and the second run of a check.
    """

    outcome: Outcome
    text: str
    figures: Mapping[str, Any]
    memory: Mapping[str, tuple[bytes, bytes]]


def harness_program(host: Host) -> Artifact | Failure:
    """Build the harness, or return the one in the cache."""
    folder = files("perfdojo") / "templates" / "harness"
    texts = tuple((name, (folder / name).read_text(encoding="utf-8")) for name in HARNESS_FILES)
    flags = ("-std=c11", "-O2", "-Wall", "-Wextra")
    request = BuildRequest("harness", "executable", texts, flags, ("-ldl", "-lm"))
    return build_files(request, host.compiler, host.cpu, host.places)


def call_file(emitted: EmittedSource) -> tuple[str, str]:
    """Return the C file with `perfdojo_call`, which takes the arguments as an array of pointers."""
    types = [f"{'const ' if a.role == 'in' else ''}{C_TYPES[a.dtype]} *" for a in emitted.arguments]
    values = [f"arguments[{k}]" for k in range(len(types))]
    unused = "" if types else "    (void)arguments;\n"
    text = (
        "/* Calls the kernel through an array of pointers, for the harness. */\n"
        "#include <stdint.h>\n\n"
        f"int {emitted.symbol}({', '.join(types) or 'void'});\n"
        "int perfdojo_call(void **arguments);\n\n"
        "int perfdojo_call(void **arguments)\n{\n"
        f"{unused}    return {emitted.symbol}({', '.join(values)});\n}}\n"
    )
    return "perfdojo-call.c", text  # a name that no kernel, and so no source of one, can have


def plan_text(emitted: EmittedSource, launch: Launch, cpu: Cpu) -> str:
    """Return the plan file; its form is described in harness.c."""
    evict = max(2 * cpu.last_cache_bytes, 1 << 20) if cpu.caches else UNKNOWN_CACHE_BYTES
    lines = [
        f"mode {launch.mode}",
        *([f"calls {launch.calls}"] if launch.calls else []),
        *([f"cpus {' '.join(map(str, launch.cpus))}"] if launch.cpus else []),
        f"cold {int(launch.cold)}",
        f"evict_bytes {evict}",
        f"budget_s {launch.budget_s!r}",
        *([f"call_s {launch.call_s!r}"] if launch.call_s else []),
        f"sample_s {SHORTEST_SAMPLE_S!r}",
    ]
    for a in emitted.arguments:
        alignment = emitted.alignment or DTYPES[a.dtype].bytes
        lines.append(f"arg {a.role} {a.bytes} {alignment} {a.name}")
    return "\n".join(lines) + "\n"


def run_harness(
    host: Host,
    library: Path,
    emitted: EmittedSource,
    inputs: Mapping[str, Array],
    launch: Launch,
    limits: Limits,
) -> Report:
    """Run the kernel in a child process as `launch` says; inputs fit, as `why_unfit_inputs` decides."""
    program = harness_program(host)
    if isinstance(program, Failure):
        return Report("not-runnable", f"the harness cannot be built: {program.text}", {}, {})
    with tempfile.TemporaryDirectory(prefix="perfdojo-run-") as name:
        folder = Path(name)
        (folder / "plan.txt").write_text(plan_text(emitted, launch, host.cpu))
        (folder / "kernel.so").symlink_to(library.resolve())
        for k, a in enumerate(emitted.arguments):
            if a.role != "out":
                to_memory(a, inputs[a.name]).tofile(folder / f"{k}.in")
        finished = run([*host.emulator, str(program.path)], limits, cwd=folder, env=_environment(launch))
        report = read_json(folder / "report.json")
        if finished.outcome != "ok" or report.get("status") != "ok":
            outcome, text = explain(finished, report, read_json(folder / "fault.json"))
            return Report(outcome, text, {}, {})
        memory = _outputs(folder, emitted) if launch.mode == "check" else {}
        return Report("ok", "", report, memory)


def _environment(launch: Launch) -> dict[str, str]:
    """OpenMP's settings; in a check, memory from malloc starts as garbage rather than zero."""
    openmp = {"OMP_NUM_THREADS": str(launch.threads), "OMP_DYNAMIC": "false"}
    if launch.mode == "calls":
        openmp["OMP_WAIT_POLICY"] = "passive"  # threads that wait in a loop execute instructions
    if launch.cpus:
        openmp["OMP_PROC_BIND"] = "true"
    garbage = {"MALLOC_PERTURB_": "1"} if launch.mode == "check" else {}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "MALLOC_"))}
    return {**kept, "LC_ALL": "C", **openmp, **garbage}


def _outputs(folder: Path, emitted: EmittedSource) -> dict[str, tuple[bytes, bytes]]:
    return {
        a.name: ((folder / f"{k}.out0").read_bytes(), (folder / f"{k}.out1").read_bytes())
        for k, a in enumerate(emitted.arguments)
        if a.role != "in"
    }


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file; {} when there is none, or half of one."""
    try:
        value = json.loads(path.read_text(errors="replace"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def explain(finished: Finished, report: Mapping[str, Any], fault: Mapping[str, Any]) -> tuple[Outcome, str]:
    """Name what went wrong, from how the process ended and what it wrote before: report.json, fault.json."""
    text = str(fault.get("text") or finished.note or report.get("text") or "")
    if finished.outcome == "crash":
        overwrite = fault.get("status") == "memory-overwrite"
        outcome: Outcome = "memory-overwrite" if overwrite else "crash"
        return outcome, f"{finished.signal}: {text}" if text else f"the kernel ended with {finished.signal}"
    if finished.outcome == "timeout":
        return "timeout", f"the kernel was stopped: {finished.note}"
    if finished.outcome == "out-of-memory":
        return "out-of-memory", finished.note
    if finished.outcome == "ok" and report:
        return report["status"], _with(text, finished.stderr)
    why = finished.note or finished.stderr.strip() or f"exit status {finished.code}"
    return "crash", f"the kernel ended the process: {why}"


def _with(text: str, details: str) -> str:
    first: Sequence[str] = details.strip().splitlines()[:1]
    return f"{text}: {first[0]}" if first else text
