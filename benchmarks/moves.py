"""How long the transform engine takes: candidates of a state, one move, a schedule with emission.

    python -m benchmarks.moves [--target avx2]

States are library kernels and what the planner makes of them, which have up to some dozens of scopes. Prints
milliseconds of processor time on a fresh program, so that nothing is remembered from before (median of five).
Exits with 1 when the candidates of a state with 30 scopes or fewer take over 50 ms, a move takes over 5 ms
(the 99th percentile of all candidates), or 60 steps and emission over 1 s.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from perfdojo.backends import emit, get_target, planned
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Schedule, Step, prepare, render_schedule, replay
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.transforms import candidates
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.verify import verify
from perfdojo.finding import library

KERNELS = (
    "matmul",
    "softmax",
    "layernorm",
    "conv3x3",
    "attention",
    "causal_attention",
    "ffn_swiglu",
    "stencil5",
)
STEPS = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One state and its times in seconds."""

    name: str
    scopes: int
    moves: int
    candidates: float
    slowest: float


def again(program: Program) -> Program:
    """Return an equal program of which no look-up is remembered."""
    return replace(program, body=tuple(replace(n) for n in program.body))


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    started = time.process_time()
    run()
    return time.process_time() - started


def _listed(program: Program, setting: Setting) -> list[Transform]:
    return list(candidates(program, setting))


def measure(name: str, program: Program, setting: Setting) -> Row:
    """Return the times of one state."""
    found = list(candidates(program, setting))
    states = [again(program) for _ in range(5)]
    listing = statistics.median(seconds(partial(_listed, s, setting)) for s in states)
    applied = sorted(seconds(partial(m.rewrite, program)) for m in found)
    return Row(name, len(program.scopes), len(found), listing, applied[int(0.99 * (len(applied) - 1))])


def long_schedule(program: Program, setting: Setting) -> Schedule:
    """Return 60 random legal moves; statements stay under a hundred."""
    rng = random.Random(60)
    now, moves = program, list[Transform]()
    while len(moves) < STEPS:
        move = rng.choice(list(candidates(now, setting)))
        following = move.rewrite_for(now, setting)
        if len(following.statements) <= 60 and len(following.scopes) <= 60:
            now = following
            moves.append(move)
    return Schedule(program.name, tuple(map(Step, moves)))


def main() -> int:
    """Measure, print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.moves", description=__doc__)
    parser.add_argument("--target", default="avx2")
    o = parser.parse_args()
    setting = Setting(get_target(o.target))
    rows, files = [], dict(library())
    for name in KERNELS:
        bound = bind(parse(files[name].read_text("utf-8"), name))
        verify(bound)
        rows.append(measure(name, prepare(bound), setting))
        rows.append(measure(f"{name}, planned", prepare(planned(bound, o.target)), setting))
    print("| state | scopes | legal moves | candidates, ms | a move, ms |\n|---|---:|---:|---:|---:|")
    for r in sorted(rows, key=lambda r: r.scopes):
        print(f"| {r.name} | {r.scopes} | {r.moves} | {1e3 * r.candidates:.1f} | {1e3 * r.slowest:.2f} |")
    bound = bind(parse(files["softmax"].read_text("utf-8"), "softmax"))
    schedule = long_schedule(prepare(bound), setting)

    def replayed() -> EmittedSource:
        made = replay(bound, schedule, setting).program
        return emit(bound, o.target, scheduled=Scheduled(made, render_schedule(schedule)))

    whole = seconds(replayed)
    print(f"\n{STEPS} random moves on softmax, replayed and emitted: {1e3 * whole:.0f} ms")
    slow = [r for r in rows if (r.scopes <= 30 and r.candidates > 0.05) or r.slowest > 0.005]
    for r in slow:
        print(f"over the limit: {r.name}")
    return 1 if slow or whole > 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())
