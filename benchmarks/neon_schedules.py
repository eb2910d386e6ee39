"""Schedules that ship for NEON beside the planner: `python -m benchmarks.neon_schedules`, on any machine.

At the kernels' own sizes: the instructions that a call executes (qemu), and what llvm-mca says of the main
innermost loop on each core that it is asked about. Exits with 1 when a schedule is worse than the planner.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Scheduled, replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.toolchains.counting import count_instructions
from perfdojo.toolchains.cross import Cross, cross_of, find_cross
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, assembly, build, run
from perfdojo.toolchains.loops import main_loop
from perfdojo.toolchains.mca import Estimate, estimate

SUFFIX = ".neon.sched"
JUDGE = "neoverse-v1"
"""The core whose estimate decides, beside the count."""
NOISE = 0.01
"""Shares of the pipes that differ by less are the same."""


class Figures(NamedTuple):
    """Instructions of a call, and estimates of the main loop by the name of the core."""

    instructions: int
    estimates: dict[str, Estimate]


class Made(NamedTuple):
    """A kernel as its schedule or the planner makes it, inputs for it, and its figures."""

    program: Program
    emitted: EmittedSource
    inputs: dict[str, Any]
    figures: Figures


def shipped() -> tuple[str, ...]:
    """Return the kernels that have a schedule."""
    folder = resources.files("perfdojo").joinpath("kernels")
    return tuple(sorted(f.name.removesuffix(SUFFIX) for f in folder.iterdir() if f.name.endswith(SUFFIX)))


def machine() -> tuple[Cross, Host]:
    """Return what builds for AArch64 and runs it here."""
    cross = cross_of("neon")
    assert cross is not None
    return cross, find_cross(cross)


def counted(host: Host, library: Path, emitted: EmittedSource, inputs: dict[str, Any]) -> int:
    """Return the instructions of one call."""
    count = count_instructions(host, library, emitted, inputs)
    assert isinstance(count, int), count
    return count


def made(kernel: str, scheduled: bool, sizes: Mapping[str, int] = MappingProxyType({})) -> Made:
    """Build, check, count and estimate a kernel; `scheduled`: by its schedule, if it has one."""
    cross, host = machine()
    program = bind(read_kernel(kernel), sizes)
    verify(program)
    schedule = default_schedule(kernel, "neon") if scheduled else None
    setting = Setting(get_target("neon"), "reassoc")
    emitted = emit(
        program,
        "neon",
        scheduled=Scheduled(replay(program, schedule, setting).program, "") if schedule else None,
    )
    built = build(emitted, host)
    assert isinstance(built, Built), built
    inputs = random_inputs(program, 0, "normal")
    ran = run(built, inputs)
    assert ran.outcome == "ok", ran.text
    assert compare(ran.outputs, reference(program, inputs, "reassoc")).passed, kernel
    count = counted(host, built.native, emitted, inputs)
    text = assembly(emitted, host)
    loop = main_loop(text) if isinstance(text, str) else None
    found = [estimate(loop, m) for m in cross.models] if loop else []
    figures = Figures(count, {e.model.name: e for e in found if isinstance(e, Estimate)})
    return Made(program, emitted, inputs, figures)


def worse(planned: Figures, ours: Figures) -> str:
    """Return "" or in what the schedule is behind the planner."""
    if ours.instructions > planned.instructions:
        return f"{ours.instructions} instructions, the planner's code {planned.instructions}"
    before, after = planned.estimates[JUDGE], ours.estimates[JUDGE]
    if after.share < before.share - NOISE:
        return f"{after.share:.0%} of the pipes of {JUDGE}, the planner's code {before.share:.0%}"
    if not before.share and after.busy < before.busy - NOISE:
        return f"{after.busy:.0%} of the units {after.busiest}, the planner's code {before.busy:.0%}"
    return ""


def busy(found: Estimate) -> str:
    """Return how busy a loop keeps the pipes for floating point, or the units that it keeps busiest."""
    return f"{found.share:.0%}" if found.share else f"{found.busiest} {found.busy:.0%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a kernel's name")
    given = parser.parse_args()
    cross, _ = machine()
    names = [m.name for m in cross.models]
    print(f"| kernel | planner | schedule | ratio | {' | '.join(names)} | |")
    print(f"|---|---:|---:|---:|{'---:|' * len(names)}---|")
    behind = 0
    for kernel in shipped():
        if given.only not in kernel:
            continue
        planned, ours = (made(kernel, scheduled).figures for scheduled in (False, True))
        shares = [f"{busy(planned.estimates[n])} → {busy(ours.estimates[n])}" for n in names]
        ratio = planned.instructions / ours.instructions
        said = worse(planned, ours)
        behind += bool(said)
        counts = f"{planned.instructions} | {ours.instructions} | {ratio:.2f}"
        print(f"| {kernel} | {counts} | {' | '.join(shares)} | {said} |", flush=True)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
