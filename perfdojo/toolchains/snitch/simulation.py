"""What the built-in simulator reports: how a run ended, what harts and instructions cost, what memory has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perfdojo.toolchains.results import Outcome


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


def simulation(
    report: Mapping[str, Any], memory: tuple[bytes, ...], events: bytes, seconds: float
) -> Simulation:
    """Return the report, the object that the simulator printed, with what it left in memory and events."""
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
