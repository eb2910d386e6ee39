"""Code for NEON beside plain C, without an Arm machine: `python -m benchmarks.neon`.

Instructions that one call executes (qemu): ours, by the schedule that ships or planned, and those of the same
kernel as plain loops under gcc -O3, with and without -ffast-math, for AArch64, the better of two spellings;
and how busy our main innermost loop keeps the pipes for floating point, by llvm-mca's models. Neither is a
time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from benchmarks.naive import naive_sources
from benchmarks.neon_schedules import JUDGE, busy, counted, machine, made
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cross import Cross
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.mca import find_mca

PLAIN_FLAGS = (("-std=c11", "-O3"), ("-std=c11", "-O3", "-ffast-math"))


class Case(NamedTuple):
    """A kernel, its sizes, the ratio of instructions and the share of the pipes that are asked for."""

    kernel: str
    sizes: dict[str, int]
    ratio: float = 0.0
    share: float = 0.0


CASES = (
    Case("matmul", {"M": 128, "N": 128, "K": 128}, share=0.9),
    Case("gemm_f64", {"M": 64, "N": 64, "K": 64}),
    Case("conv3x3", {}),
    Case("softmax", {"B": 64, "N": 512}, 2.5),
    Case("layernorm", {}, 2.5),
    Case("gelu", {}, 2.5),
    Case("gelu_erf", {}),
    Case("rmsnorm", {}),
    Case("relu", {}),
    Case("dot", {}),
    Case("attention", {}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a kernel's name")
    given = parser.parse_args()
    cross, host = machine()
    _, version = find_mca()
    names = [m.name for m in cross.models]
    print(f"{host.compiler.version}, llvm-mca {version}\n")
    print(f"| kernel | plain C | -ffast-math | ours | ratio | to fast | {' | '.join(names)} | bar |")
    print(f"|---|---:|---:|---:|---:|---:|{'---:|' * len(names)}---|")
    for case in CASES:
        if given.only in case.kernel:
            print(_row(case, cross, host), flush=True)


def _row(case: Case, cross: Cross, host: Host) -> str:
    """Build, check and count both forms of a kernel; return its line of the table."""
    ours = made(case.kernel, scheduled=True, sizes=case.sizes)
    texts = naive_sources(ours.program)
    plain, fast = (
        min(counted(host, _plain(text, flags, host), ours.emitted, ours.inputs) for text in texts)
        for flags in PLAIN_FLAGS
    )
    count, estimates = ours.figures
    ratio = plain / count
    bars = [f"{case.ratio}x: {'met' if ratio >= case.ratio else 'missed'}"] if case.ratio else []
    if case.share:
        met = estimates[JUDGE].share >= case.share
        bars.append(f"V1 {case.share:.0%}: {'met' if met else 'missed'}")
    shares = " | ".join(busy(estimates[m.name]) if m.name in estimates else "" for m in cross.models)
    counts = f"{plain} | {fast} | {count} | {ratio:.2f} | {fast / count:.2f}"
    return f"| {case.kernel} | {counts} | {shares} | {', '.join(bars)} |"


def _plain(text: str, flags: tuple[str, ...], host: Host) -> Path:
    """Build the loops of a kernel as they are."""
    request = BuildRequest("plain", "shared", (("plain.c", text),), flags, ("-lm",))
    made = build_files(request, host.compiler, host.cpu, host.places)
    assert isinstance(made, Artifact), made
    return made.path


if __name__ == "__main__":
    main()
