"""What a search finds, beside the code that ships: `python -m benchmarks.tuning [--target snitch]`.

Each kernel is tuned from no schedule: neither the shipped one nor records are known to the search. What it
found and what ships (the schedule that comes with the kernel, else the planner's code) are then measured in
turn, in fresh processes. A ratio is time of what ships over time of what was found; the interval is that of
the median over the rounds. On Snitch costs are simulated cycles of one core, and exact.

`--same` measures one kernel as two candidates 100 times, as the end of a search does, and counts how often
one of them is called faster (at most 5 % are to be). `--throughput` counts trials a second of small kernels.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean

from benchmarks.suite import benchmarks
from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import fitting_schedule, read_kernel
from perfdojo.toolchains.cpu import read_cpu
from perfdojo.toolchains.statistics import median, median_interval
from perfdojo.tuning.ending import BETTER, is_faster
from perfdojo.tuning.machines import MakesRunner, problem_of
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import Runner
from perfdojo.tuning.space import Point, Space
from perfdojo.tuning.tune import Tuner

FP = "reassoc"
COUNT = 25
"""Rows of the suite that are tuned on this machine: those that touch least memory, for quick trials."""
SNITCH = """
add M=32 N=64; mul M=32 N=64; relu M=32 N=64; gelu M=16 N=64; sigmoid M=16 N=64; swish M=16 N=64
bias_relu M=32 N=64; swiglu M=16 N=64; softmax B=16 N=64; layernorm B=16 N=64; rmsnorm B=16 N=64
batchnorm N=1 C=4 H=16 W=16; mean_last B=32 N=64; mean_first B=64 N=32; max_last B=32 N=64
transpose M=32 N=64
matmul M=32 N=32 K=32; bmm B=2 M=16 N=16 K=16; gemv M=64 N=64; conv3x3 N=1 C=4 H=12 W=12 O=4
conv1x1 N=1 C=8 H=8 W=8 O=8; dwconv3x3 N=1 C=4 H=12 W=12; maxpool2 N=1 C=4 H=8 W=8
ffn_swiglu B=8 D=16 H=32; attention B=1 S=32 D=32
"""
"""The kernels of the suite, at sizes that fit the memory of a cluster."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kernel at sizes."""

    name: str
    kernel: str
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """What a search came to.

    Attributes:
        shipped, found: cost of a call in `unit`, medians.
        ratio: of the two, the median over the rounds, with its interval.
        trials, seconds: of the search, starts included.
    """

    name: str
    unit: str
    shipped: float
    found: float
    ratio: float
    low: float
    high: float
    trials: int
    removed: int
    seconds: float
    outcomes: dict[str, int]
    schedule: str

    @property
    def better(self) -> bool:
        """Faster beyond noise."""
        return self.low > 1 and self.ratio >= 1 / BETTER


def tasks(target: str) -> list[Task]:
    """Return the kernels of a target's table."""
    if target != "snitch":
        suite = benchmarks()
        least = sorted(suite, key=lambda b: b.read_bytes + b.write_bytes)[:COUNT]
        return [Task(b.name, b.kernel, dict(b.sizes)) for b in suite if b in least]
    return written(SNITCH)


def written(text: str) -> list[Task]:
    """Return the kernels of a table: a name and its sizes each, with semicolons or line ends between."""
    found = []
    for entry in text.replace("\n", ";").split(";"):
        if words := entry.split():
            sizes = {k: int(v) for k, v in (w.split("=") for w in words[1:])}
            found.append(Task(f"{words[0]}_{'x'.join(map(str, sizes.values()))}", words[0], sizes))
    return found


def problem(task: Task, target: str) -> tuple[Problem, MakesRunner]:
    """Return what is tuned, and what makes its runner."""
    bound = bind(read_kernel(task.kernel), task.sizes)
    verify(bound)
    return problem_of(bound, Setting(get_target(target), FP), cores=1)  # type: ignore[arg-type]


def searched(task: Task, target: str, seconds: float, search: str, seed: int, rounds: int) -> Row:
    """Tune a kernel, and measure what was found beside what ships."""
    made, make_runner = problem(task, target)
    runner = make_runner(seed)
    begun = time.monotonic()
    tuner = Tuner(made, runner, search, seed)
    result = tuner.run(seconds)
    took = time.monotonic() - begun
    winner = result.winner
    space = Space(made, random.Random(0))
    schedule = fitting_schedule(task.kernel, made.bound, made.setting)
    ships = space.of_schedule(schedule) if schedule else space.planned
    ratios, costs = _compared(runner, ships, winner, rounds)
    low, high = median_interval(ratios) or (min(ratios), max(ratios))
    p = result.progress
    return Row(
        task.name, made.unit, costs[0], costs[1], median(ratios), low, high, len(p.trials),
        p.removed.total(), took, dict(p.outcomes), winner.text,
    )  # fmt: skip


def _compared(runner: Runner, one: Point, two: Point, rounds: int) -> tuple[list[float], tuple[float, float]]:
    """Return ratios of the costs of two points round by round, and their medians."""
    if one.text == two.text:
        cost = median(runner.compare([one])[0])
        return [1.0], (cost, cost)
    samples: tuple[list[float], list[float]] = ([], [])
    while len(samples[0]) < rounds:
        for kept, new in zip(samples, runner.compare([one, two]), strict=True):
            kept += new
        if len(set(samples[0])) == len(set(samples[1])) == 1:
            break  # exact
    ratios = [a / b for a, b in zip(*samples, strict=True)]
    return ratios, (median(samples[0]), median(samples[1]))


def line(r: Row) -> str:
    """Return a row of the table."""
    scale, unit = (1e6, "µs") if r.unit == "s" else (1.0, "cycles")
    failed = sum(n for o, n in r.outcomes.items() if o != "ok")
    return (
        f"| {r.name} | {scale * r.shipped:.4g} | {scale * r.found:.4g} | {unit} | {r.ratio:.3f} |"
        f" {r.low:.3f} to {r.high:.3f} | {'yes' if r.better else ''} | {r.trials} | {failed} | {r.removed} |"
    )


def main() -> int:
    """Search, print the table and say whether the bars are met."""
    o = _options()
    cpu = read_cpu()
    print(f"{cpu.model}, {cpu.cores} processors; {o.target} at {FP}")
    if o.same:
        return _same(o)
    if o.throughput:
        return _throughput(o)
    print(f"{o.time:g} s a kernel, {o.search} search, seed {o.seed}\n")
    print("| kernel | ships | found | | ratio | interval | faster | trials | failed | not measured |")
    print("|---|---:|---:|---|---:|---|---|---:|---:|---:|")
    rows = []
    for task in tasks(o.target):
        if o.only and not any(part in task.name for part in o.only.split(",")):
            continue
        rows.append(searched(task, o.target, o.time, o.search, o.seed, o.rounds))
        print(line(rows[-1]), flush=True)
        if o.json:
            o.json.write_text(json.dumps([asdict(r) for r in rows], indent=1))
    ratio, better = geometric_mean(r.ratio for r in rows), sum(r.better for r in rows)
    rate = sum(r.trials for r in rows) / sum(r.seconds for r in rows)
    print(f"\ngeometric mean {ratio:.3f} (bar 0.97); faster on {better} of {len(rows)} (bar a third)")
    print(f"{rate:.1f} trials a second, measuring the best again included")
    return int(ratio < 0.97 or better < len(rows) / 3)


SMALL = """
relu M=64 N=100; softmax B=8 N=1000; layernorm B=8 N=768; matmul M=64 N=64 K=64
"""
"""Kernels of which throughput is told."""


def _same(o: argparse.Namespace) -> int:
    """Measure the same code as two candidates again and again; tell how often one is called faster."""
    task = Task("softmax_8x1000", "softmax", {"B": 8, "N": 1000})
    made, make_runner = problem(task, o.target)
    runner, space = make_runner(o.seed), Space(made, random.Random(0))
    called = 0
    for _ in range(o.pairs):
        one, other = runner.compare([space.planned, space.as_planned])
        called += is_faster(one, other) or is_faster(other, one)
    print(
        f"A/A: {task.name} as two candidates, {o.pairs} pairs: {called} times one was called faster (bar 5 %)"
    )
    return int(called > 0.05 * o.pairs)


def _throughput(o: argparse.Namespace) -> int:
    """Count trials a second of small kernels, the measurements at the end left out."""
    print("| kernel | trials | seconds | trials/s | failed | not measured |\n|---|---:|---:|---:|---:|---:|")
    trials = seconds = 0.0
    for task in written(SMALL):
        made, make_runner = problem(task, o.target)
        p = Tuner(made, make_runner(o.seed), o.search, o.seed).run(o.time).progress
        count, failed = len(p.trials), len(p.trials) - p.outcomes["ok"]
        cells = (task.name, count, f"{p.seconds:.0f}", f"{count / p.seconds:.1f}", failed, p.removed.total())
        print("|", " | ".join(map(str, cells)), "|", flush=True)
        trials, seconds = trials + count, seconds + p.seconds
    print(f"\n{trials / seconds:.1f} trials a second (bar 8)")
    return int(trials / seconds < 8)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="avx512")
    parser.add_argument("--time", type=float, default=60.0, help="seconds a kernel")
    parser.add_argument("--search", default="guided")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="parts of names, with commas")
    parser.add_argument("--rounds", type=int, default=15, help="of the comparison at the end")
    parser.add_argument("--json", type=Path, help="where the rows are kept")
    parser.add_argument("--same", action="store_true", help="the same code as two candidates")
    parser.add_argument("--pairs", type=int, default=100, help="beside --same")
    parser.add_argument("--throughput", action="store_true", help="trials a second of small kernels")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
