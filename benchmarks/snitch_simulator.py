"""How fast the simulator of the Snitch cluster runs: `python -m benchmarks.snitch_simulator`.

A kernel is called again and again in one run; processor time of the process, so that other work counts less.
The median of some runs; cycles are those of the cluster from reset to its end.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.snitch_cluster import CASES, Case
from benchmarks.snitch_kernels import kernel
from perfdojo.backends import emit, get_target
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.recipes import run_recipe
from perfdojo.compiler.schedule import History, Scheduled, prepare
from perfdojo.compiler.transforms.base import Setting
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import build, input_memory, job, limits, program
from perfdojo.toolchains.snitch.simulator import MAX_CYCLES, simulate


class Load(NamedTuple):
    """What is simulated: calls of a kernel in one run, and the millions of cycles a second asked for."""

    title: str
    calls: int
    asked: float


LOADS = (
    Load("start and end, one core, 1 call of sum 64", 1, 0.0),
    Load("one core, FP loop: matmul 64x64x64 f64", 40, 10.0),
    Load("one core, loads and stores: relu 32x32 f32 as plain C", 300, 0.0),
    Load("eight cores: matmul 64x64x64 f64, rows of b padded", 60, 2.0),
    Load("eight cores and the DMA: matmul 256x256x256 f64", 2, 0.0),
)


def _spread(case: Case) -> tuple[Program, EmittedSource]:
    made = case.program()
    history = History(prepare(made), Setting(get_target("snitch")))
    run_recipe(history, case.recipe)
    return made, emit(made, "snitch", scheduled=Scheduled(history.program, history.text(), ""))


def kernels() -> list[tuple[Program, EmittedSource]]:
    """Return a program and its code for each of `LOADS`."""
    small, product = kernel("sum", (64,), "f64"), kernel("matmul", (64, 64, 64), "f64")
    relu = kernel("relu", (32, 32), "f32")
    named = {(c.n, c.recipe, bool(c.pad)): c for c in CASES if c.name.startswith("matmul")}
    return [
        (small, emit(small, "snitch")),
        (product, emit(product, "snitch")),
        (relu, emit(relu, "snitch", scheduled=Scheduled(relu, ""))),
        _spread(named[64, "cores", True]),
        _spread(named[256, "tcdm_tiles", False]),
    ]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    tools = find_tools()
    cpu = next((n for n in Path("/proc/cpuinfo").read_text().splitlines() if n.startswith("model name")), "")
    print(f"on {cpu.partition(': ')[2]}, median of {given.runs} runs")
    print("| simulated | cycles | seconds | million cycles/s | asked |\n|---|---:|---:|---:|---:|")
    for load, (made, emitted) in zip(LOADS, kernels(), strict=True):
        built = build(emitted, tools)
        if isinstance(built, Failure):
            raise SystemExit(built.text)
        elf = program(built, input_memory(built, random_inputs(made, 0, "normal")), load.calls, 0)
        work = replace(job(built), max_cycles=MAX_CYCLES)
        spent, cycles = [], 0
        for _ in range(given.runs):
            begun = _cpu()
            done = simulate(elf, work, tools, limits(600))
            spent.append(_cpu() - begun)
            if done.outcome != "ok":
                raise SystemExit(f"{load.title}: {done.text}")
            cycles = done.cycles
        seconds = statistics.median(spent)
        asked = f"{load.asked:g}" if load.asked else ""
        print(
            f"| {load.title} | {cycles} | {seconds:.4f} | {cycles / seconds / 1e6:.2f} | {asked} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
