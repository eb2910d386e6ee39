"""Our kernels on one simulated Snitch core beside plain C of them: `python -m benchmarks.snitch_bars`.

Plain C is what is emitted with an empty schedule: loops as written, compiled with -O3 for the same core, with
the same elementary functions, and in the same memory. Every result is checked; cycles are those of
docs/snitch.md, set-up of streams and the wait for the FPU included.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import exp, log
from time import process_time

from benchmarks.snitch_kernels import kernel
from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import Schedule, Scheduled, parse_schedule, replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import default_schedule, read_kernel
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.measure import CycleMeasurement, measure
from perfdojo.toolchains.snitch.run import build, run

FP: FpLevel = "reassoc"
MEAN, MEAN_OF = 6.5, "matmul, conv, pooling, relu, sum, softmax, layernorm"


@dataclass(frozen=True, slots=True)
class Bar:
    """A kernel and what is asked of it.

    Attributes:
        program: makes it, bound and verified.
        utilisation: part of the cycles in which the FPU is to compute; 0: any.
        ratio: of plain C's cycles to ours; 0: any.
        mean: it counts in the geometric mean.
        limit: what bounds it, if not the FPU.
        stem: name of its schedule.
    """

    title: str
    program: Callable[[], Program]
    utilisation: float = 0.0
    ratio: float = 0.0
    mean: bool = False
    limit: str = ""
    stem: str = ""


def _library(name: str, **sizes: int) -> Program:
    program = bind(read_kernel(name), sizes)
    verify(program)
    return program


def _own(name: str, dtype: str, *shape: int, **more: float | bool | str) -> Bar:
    title = f"{name} {'x'.join(map(str, shape))} {dtype}"
    return Bar(title, partial(kernel, name, shape, dtype), **more)  # type: ignore[arg-type]


def _of_library(
    name: str, *, utilisation: float = 0.0, ratio: float = 0.0, mean: bool = False, **sizes: int
) -> Bar:
    title = f"{name} {'x'.join(map(str, sizes.values()))} f32"
    return Bar(title, partial(_library, name, **sizes), utilisation, ratio, mean, stem=name)


BARS = (
    _own("matmul", "f64", 16, 16, 16, utilisation=0.95),
    _own("matmul", "f64", 32, 32, 32, utilisation=0.95),
    _own("matmul", "f64", 64, 64, 64, utilisation=0.95),
    _own("conv2d_3x3", "f64", 16, 16, utilisation=0.95, mean=True),
    _own("sum", "f64", 1024, utilisation=0.95),
    _own("dot", "f64", 1024, utilisation=0.95),
    _own("relu", "f64", 1, 1024, utilisation=0.95),
    _own("axpy", "f64", 1024, utilisation=0.95),
    _own("matmul", "f32", 16, 16, 16, utilisation=0.9),
    _own("matmul", "f32", 32, 32, 32, utilisation=0.9, mean=True),
    _own("maxpool_3x3", "f64", 16, 16),
    _own("sumpool_3x3", "f64", 16, 16),
    _own("sum", "f32", 1024, mean=True),
    _own("dot", "f32", 8192, ratio=11.7),
    _of_library("softmax", B=64, N=64, ratio=4.0, mean=True),
    _of_library("layernorm", B=64, N=64, ratio=4.0, mean=True),
    _of_library("gelu", M=64, N=64, ratio=4.0),
    _of_library("gelu_erf", M=64, N=64),
    _of_library("swiglu", M=64, N=64, ratio=4.0),
    _of_library("attention", B=1, S=64, D=64, ratio=4.0),
    _of_library("relu", M=32, N=32, mean=True),
    _of_library("maxpool2", N=1, C=1, H=16, W=16, mean=True),
    _of_library("max_last", B=32, N=32),
    _of_library("var_last", B=64, N=64),
    _of_library("log_softmax", B=64, N=64),
    _of_library("rmsnorm", B=64, N=64),
    _of_library("gemv", M=64, N=64),
)
"""`relu` and `maxpool_3x3` of f64 take the maximum of numbers, as the published ones do; the library's keep
a NaN. The mean is over kernels with the same inputs for both sides, of the type that each is faster in."""


@dataclass(frozen=True, slots=True)
class Result:
    """Figures of one bar.

    Attributes:
        plan_s: processor time of planning, lowering and printing, in seconds.
    """

    bar: Bar
    plain: CycleMeasurement
    ours: CycleMeasurement
    plan_s: float


def measured(number: int) -> Result:
    """Build, check and measure both forms of a kernel."""
    bar = BARS[number]
    program = bar.program()
    setting = Setting(get_target("snitch"), FP)

    def scheduled(schedule: Schedule) -> EmittedSource:
        made = Scheduled(replay(program, schedule, setting).program, "")
        return emit(program, "snitch", fp=FP, scheduled=made)

    plain = _run(scheduled(parse_schedule(f"schedule {program.name} on snitch at {FP}\nend\n")), program)
    begun = process_time()
    shipped = default_schedule(bar.stem, "snitch") if bar.stem else None
    ours = scheduled(shipped) if shipped else emit(program, "snitch", fp=FP)
    spent = process_time() - begun
    return Result(bar, plain, _run(ours, program), spent)


def _run(emitted: EmittedSource, program: Program) -> CycleMeasurement:
    built = build(emitted, find_tools())
    if isinstance(built, Failure):
        return CycleMeasurement("compile-error", built.text)
    inputs = random_inputs(program, 0, "normal")
    ran = run(built, inputs)
    if ran.outcome != "ok":
        return CycleMeasurement(ran.outcome, ran.text)
    verdict = compare(ran.outputs, reference(program, inputs, FP))
    return measure(built, inputs) if verdict.passed else CycleMeasurement("wrong-result", verdict.message)


def line(r: Result) -> str:
    """Return a result as a row of the table."""
    if r.plain.outcome != "ok" or r.ours.outcome != "ok":
        return f"| {r.bar.title} | {r.plain.text or r.ours.text} |"
    ratio, used = r.plain.cycles / r.ours.cycles, r.ours.utilisation or 0.0
    asked = [f"{r.bar.utilisation:.0%}"] if r.bar.utilisation else []
    asked += [f"{r.bar.ratio:g}x"] if r.bar.ratio else []
    missed = used < r.bar.utilisation or ratio < r.bar.ratio
    met = ("no" if missed else "yes") if asked else ""
    return (
        f"| {r.bar.title} | {r.plain.cycles} | {r.ours.cycles} | {ratio:.2f} | {used:.1%} "
        f"| {', '.join(asked)} | {met} | {r.plan_s:.2f} | {r.bar.limit} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a title")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [n for n, bar in enumerate(BARS) if given.only in bar.title]
    print("| kernel | plain C | ours | ratio | FPU | asked | met | plan s | limit |")
    print("|---|---|---|---|---|---|---|---|---|")
    done = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for r in pool.map(measured, chosen):
            print(line(r), flush=True)
            done.append(r)
    counted = [r.plain.cycles / r.ours.cycles for r in done if r.bar.mean and r.ours.cycles]
    if counted:
        mean = exp(sum(map(log, counted)) / len(counted))
        print(f"\ngeometric mean over {len(counted)} kernels ({MEAN_OF}): {mean:.2f}, asked {MEAN:g}")


if __name__ == "__main__":
    main()
