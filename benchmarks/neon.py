"""Code for NEON beside plain C, without an Arm machine: `python -m benchmarks.neon`.

Instructions that one call executes (qemu): ours, and those of the same kernel as plain loops under gcc -O3,
with and without -ffast-math, for AArch64, the better of two spellings; and how busy our main innermost loop
keeps the pipes for floating point, by llvm-mca's models. Neither is a time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from benchmarks.naive import naive_sources
from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Scheduled, replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.counting import count_instructions
from perfdojo.toolchains.cross import Cross, cross_of, find_cross
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import assembly, build, run
from perfdojo.toolchains.mca import Estimate, estimate, find_mca, main_loop
from perfdojo.toolchains.results import Failure

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
    cross = cross_of("neon")
    assert cross is not None
    host = find_cross(cross)
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
    program = bind(read_kernel(case.kernel), case.sizes)
    verify(program)
    emitted = emit(program, "neon", scheduled=_shipped(case.kernel, program))
    built = build(emitted, host)
    if isinstance(built, Failure):
        return f"| {case.kernel} | {built.text} |"
    inputs = random_inputs(program, 0, "normal")
    ran = run(built, inputs)
    if ran.outcome != "ok" or not compare(ran.outputs, reference(program, inputs, "reassoc")).passed:
        return f"| {case.kernel} | wrong result {ran.text} |"

    def counted(library: Path) -> int:
        count = count_instructions(host, library, emitted, inputs)
        assert isinstance(count, int), count
        return count

    ours = counted(built.native)
    texts = naive_sources(program)
    plain, fast = (min(counted(_plain(text, flags, host)) for text in texts) for flags in PLAIN_FLAGS)
    ratio = plain / ours
    shares = _shares(emitted, cross, host)
    bars = [f"{case.ratio}x: {'met' if ratio >= case.ratio else 'missed'}"] if case.ratio else []
    bars += [f"V1 {case.share:.0%}: {'met' if shares[1] >= case.share else 'missed'}"] if case.share else []
    busy = " | ".join(f"{s:.0%}" if s else "" for s in shares)
    counts = f"{plain} | {fast} | {ours} | {ratio:.2f} | {fast / ours:.2f}"
    return f"| {case.kernel} | {counts} | {busy} | {', '.join(bars)} |"


def _shipped(name: str, program: Program) -> Scheduled | None:
    schedule = default_schedule(name, "neon")
    if schedule is None:
        return None
    return Scheduled(replay(program, schedule, Setting(get_target("neon"), "reassoc")).program, "")


def _plain(text: str, flags: tuple[str, ...], host: Host) -> Path:
    """Build the loops of a kernel as they are."""
    request = BuildRequest("plain", "shared", (("plain.c", text),), flags, ("-lm",))
    made = build_files(request, host.compiler, host.cpu, host.places)
    assert isinstance(made, Artifact), made
    return made.path


def _shares(emitted: EmittedSource, cross: Cross, host: Host) -> list[float]:
    """Return how busy the main innermost loop keeps the pipes of each model; 0 where there is none."""
    text = assembly(emitted, host)
    loop = main_loop(text) if isinstance(text, str) else None
    found = [estimate(loop, m) if loop else "" for m in cross.models]
    return [e.share if isinstance(e, Estimate) else 0.0 for e in found]


if __name__ == "__main__":
    main()
