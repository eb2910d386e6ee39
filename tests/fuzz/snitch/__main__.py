"""The soundness run on the simulated cluster: `python -m tests.fuzz.snitch --pairs 2000`.

A pair is a program and a legal sequence of moves on it for Snitch: the code of the last program runs on the
simulator, with the bits of the interpreter at `strict`, within the bounds at other levels; whatever the
simulator calls undefined is wrong. Sequence n is that of seed `first + n`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from tests.fuzz.snitch.run import Tally, run_seeds, table

CHUNK = 50
"""Seeds whose kernels are built together."""


def tallies(first: int, pairs: int, jobs: int, tools: Tools) -> Iterator[Tally]:
    """Yield the tallies of chunk after chunk of so many seeds."""
    chunks = [range(s, min(s + CHUNK, first + pairs)) for s in range(first, first + pairs, CHUNK)]
    if jobs == 1:
        yield from map(run_seeds, chunks, repeat(tools))
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run_seeds, chunks, repeat(tools))
        pool.shutdown(cancel_futures=True)


def main() -> int:
    """Run, print the table and what is wrong; 1 when something is, 3 without the compiler."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.snitch", description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so many seconds")
    parser.add_argument("--stop-at", type=int, default=20, help="end when so many are wrong")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="run this seed alone")
    o = parser.parse_args()
    try:
        tools = find_tools()
    except MissingTool as missing:
        print(missing)
        return 3
    first, pairs = (o.first, o.pairs) if o.seed is None else (o.seed, 1)
    total, start = Tally(), time.monotonic()
    for tally in tallies(first, pairs, o.jobs if o.seed is None else 1, tools):
        total.add(tally)
        for text in tally.wrong:
            print(f"{text}\n", flush=True)
        spent = time.monotonic() - start
        print(f"\r{total.pairs} pairs, {len(total.wrong)} wrong, {spent:.0f} s", end="", file=sys.stderr)
        if len(total.wrong) >= o.stop_at or spent >= o.seconds:
            break
    print(f"\n{table(total)}")
    return 1 if total.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
