"""`--explain`: what bounds a kernel on this machine, what its code does, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfdojo.toolchains.quantities import quantity

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.ir import Program
    from perfdojo.toolchains.host import Built
    from perfdojo.toolchains.loops import Loop

NEAR = 0.85
"""Share of the limit from which on a kernel is left alone."""
OFTEN = 1.5
"""Times what is needed that a cache may move before it is said."""
PIPES = 2
"""Units of an x86 processor with AVX2 or AVX-512 that start a multiply-add in a cycle."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What goes through the border of one cache, in bytes, and the least time that takes."""

    inner: str
    outer: str
    bytes: int
    needed: int
    seconds: float


def tell_explanation(job: Job, built: Built, seconds: float) -> None:
    """Show why a kernel takes its time, and leave the figures in the result."""
    from perfdojo.backends import planned
    from perfdojo.toolchains.host import assembly
    from perfdojo.toolchains.loops import X86, main_loop, spills_of

    o = job.options
    program = planned(
        job.bound, job.emitted.target + o.isa, fp=o.fp, threads=o.threads, scheduled=job.choice.scheduled
    )
    text = assembly(built.emitted, built.host)
    loop = main_loop(text, X86) if isinstance(text, str) else None
    spills = spills_of(text, X86) if isinstance(text, str) else 0
    moved = moved_bytes(job, built, program)
    job.result.explain = {
        "caches": [
            {"from": m.outer, "to": m.inner, "bytes": m.bytes, "needed": m.needed, "seconds": m.seconds}
            for m in moved
        ],
        "loop": _figures(loop) if loop else None,
        "spills": spills,
    }
    share = job.result.limit["share"] if job.result.limit else None
    name = "explain"
    for line in (
        *_limit_lines(job, share),
        *(_moved_line(m) for m in moved),
        *_loop_lines(job, loop, spills),
        *advice(job, moved, loop, spills, share),
    ):
        job.screen.line(name, line, "note")
        name = ""


def _limit_lines(job: Job, share: float | None) -> Iterator[str]:
    limit = job.result.limit
    if limit is None or share is None:
        yield "the limits of this machine could not be measured"
        return
    what = "arithmetic" if limit["bound"] == "compute" else "memory"
    least = quantity(limit["seconds"], "s")
    yield f"{what} bounds it: at least {least} ({limit['text']}), of which it reaches {share:.0%}"


def moved_bytes(job: Job, built: Built, program: Program) -> list[Moved]:
    """Return the traffic at each cache of this machine, the nearest first."""
    from perfdojo.compiler.analysis.traffic import traffic
    from perfdojo.toolchains.roofline import Roofline, find_roofline

    roofline, caches = find_roofline(built.host), built.host.cpu.caches
    if not isinstance(roofline, Roofline):
        return []
    found = []
    for n, cache in enumerate(caches):
        if job.options.cache == "hot" and job.emitted.footprint_bytes <= cache.size_bytes:
            break  # all of it stays there from call to call
        size = traffic(program, cache.size_bytes)
        last = n + 1 == len(caches)
        # half of the next cache: what comes from it is in it
        place = float("inf") if last else caches[n + 1].size_bytes / 2
        speed = roofline.bandwidth(place, job.emitted.read_share, job.options.threads)
        outer = "memory" if last else f"L{n + 2}"
        found.append(Moved(f"L{n + 1}", outer, size, job.emitted.bytes, size / speed))
    return found


def _moved_line(m: Moved) -> str:
    times = m.bytes / m.needed if m.needed else 1.0
    size, least = quantity(m.bytes, "B"), quantity(m.seconds, "s")
    return f"{m.outer} to {m.inner}: {size} by footprints, {times:.2f} times the arguments, at least {least}"


def _figures(loop: Loop) -> dict[str, Any]:
    return {
        "instructions": len(loop.lines),
        "vector": loop.vectors,
        "arithmetic": loop.arithmetic,
        "fused": loop.fused,
        "stack": loop.spills,
    }


def _loop_lines(job: Job, loop: Loop | None, spills: int) -> Iterator[str]:
    from perfdojo.toolchains.mca import Estimate, Model, estimate, find_mca
    from perfdojo.toolchains.results import MissingTool

    if loop is None:
        yield "the code has no innermost loop: all is written out"
        return
    registers = f"{spills} moves of vectors to or from the stack" if spills else "no vector is spilled"
    kinds = f"{loop.vectors} on vectors, {loop.arithmetic} FP operations, {loop.fused} of them fused"
    yield f"main loop of {len(loop.lines)} instructions: {kinds}; {registers}"
    try:
        _, version = find_mca()
    except MissingTool as missing:
        yield f"no port model: {missing.message} (Debian package {missing.package})"
        return
    found = estimate(loop, Model("native", "x86_64", PIPES))
    if isinstance(found, str):
        yield found
        return
    assert isinstance(found, Estimate)
    job.result.explain["cycles"] = found.cycles  # type: ignore[index]
    rate = f"{loop.arithmetic / found.cycles:.2f} FP operations a cycle"
    busy = f"{found.busiest} busy for {found.busy:.0%}"
    model = f"by the port model of llvm-mca {version}, all data in L1"
    yield f"{model}: {found.cycles:.1f} cycles an iteration, {rate}, {busy}"


def advice(
    job: Job, moved: list[Moved], loop: Loop | None, spills: int, share: float | None
) -> Iterator[str]:
    """Yield what a person can do, the most promising first."""
    if share is not None and share >= NEAR:
        yield "it is near the limit: nothing much is left to gain"
        return
    scalar = next((n for n in job.emitted.notes if "not vectorised" in n), "")
    if scalar:
        yield f"try first: {scalar}"
    elif loop is not None and loop.arithmetic and not loop.vectors:
        yield "try first: its main loop is scalar; --emit ir shows the loops, 'vectorize' puts one in lanes"
    far = next((m for m in reversed(moved) if m.bytes > OFTEN * m.needed and m.seconds > _least(job)), None)
    if far is not None:
        times = f"{far.bytes / far.needed:.1f} times over"
        what = "tile scopes so that what they touch fits it, or stage a copy (create_temporary)"
        yield f"try: {far.inner} is filled {times}, which takes longer than the limit; {what}"
    if spills and loop is not None and loop.spills:
        yield f"try: the main loop spills {loop.spills} times; a smaller tile of registers (unroll less)"
    if loop is not None and loop.arithmetic and loop.fused == 0 and job.options.fp == "strict":
        yield "try: --fp contract fuses multiplications and additions"
    if job.options.fp in ("strict", "contract") and any("order" in n for n in job.emitted.notes):
        yield "try: --fp reassoc lets sums run in lanes and in several accumulators"
    is_scalar = loop is not None and loop.arithmetic and not loop.vectors
    if not (scalar or is_scalar or far is not None or (loop is not None and loop.spills)):
        yield (
            "no cause stands out: look at latency (sums that wait for each other: split_reduction), at short"
            " loops, at functions such as exp; --emit asm shows the loop"
        )


def _least(job: Job) -> float:
    return float(job.result.limit["seconds"]) if job.result.limit else 0.0
