"""What a soundness run of one target came to, and the command that makes one in chunks of seeds."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What some seeds came to: pairs, what their code has, the moves, and reports of what is wrong."""

    pairs: int = 0
    has: Counter[str] = field(default_factory=Counter)
    moves: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.pairs += other.pairs
        self.has += other.has
        self.moves += other.moves
        self.wrong += other.wrong


def table(total: Tally) -> str:
    """Return the table of a run as Markdown."""
    rows = [("pairs", total.pairs), *total.has.most_common(), ("wrong", len(total.wrong))]
    lines = ["| | |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows)]
    moves = ", ".join(f"{name} {count:,}" for name, count in sorted(total.moves.items()))
    return "\n".join(lines) + f"\n\nMoves: {moves}.\n"


Run = Callable[[range], Tally]


def tallies(run: Run, first: int, pairs: int, jobs: int, chunk: int) -> Iterator[Tally]:
    """Yield the tallies of chunk after chunk of so many seeds."""
    chunks = [range(s, min(s + chunk, first + pairs)) for s in range(first, first + pairs, chunk)]
    if jobs == 1:
        yield from map(run, chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run, chunks)
        pool.shutdown(cancel_futures=True)


def options(package: str, about: str | None) -> argparse.Namespace:
    """Read the options of the command."""
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=about)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so many seconds")
    parser.add_argument("--stop-at", type=int, default=20, help="end when so many are wrong")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="run this seed alone")
    return parser.parse_args()


def told(run: Run, o: argparse.Namespace, chunk: int) -> int:
    """Run what the options ask for, print the table and what is wrong; 1 when something is.

    Args:
        chunk: seeds whose kernels are built together.
    """
    first, pairs = (o.first, o.pairs) if o.seed is None else (o.seed, 1)
    total, start = Tally(), time.monotonic()
    for tally in tallies(run, first, pairs, o.jobs if o.seed is None else 1, chunk):
        total.add(tally)
        for text in tally.wrong:
            print(f"{text}\n", flush=True)
        spent = time.monotonic() - start
        print(f"\r{total.pairs} pairs, {len(total.wrong)} wrong, {spent:.0f} s", end="", file=sys.stderr)
        if len(total.wrong) >= o.stop_at or spent >= o.seconds:
            break
    print(f"\n{table(total)}")
    return 1 if total.wrong else 0
