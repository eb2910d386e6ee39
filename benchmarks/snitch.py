"""Simulated cycles on one Snitch core beside the best published ones: `python -m benchmarks.snitch`.

Published figures: result tables of opencompl/riscv-paper-experiments, state of March 2026 (the experiments of
Lopoukhine et al., A Multi-level Compiler Backend for Accelerated Micro-kernels, CGO 2025, and later ones),
measured on an earlier version of the RTL. As there, operands lie in the TCDM, and all from the call to the
return of the kernel is counted, the wait for the FPU included.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from benchmarks.snitch_kernels import kernel

PUBLISHED = Path(__file__).with_name("snitch_yardsticks.csv")


class Row(NamedTuple):
    """One published result and ours, in cycles."""

    kernel: str
    shape: str
    dtype: str
    plain_c: int
    published: int
    ours: int
    utilisation: float
    text: str


def published() -> list[dict[str, str]]:
    """Return the rows of the published results."""
    with PUBLISHED.open(newline="") as file:
        return list(csv.DictReader(file))


def measured(row: dict[str, str]) -> Row:
    """Build, check and measure the kernel of a row."""
    from perfdojo.backends import emit
    from perfdojo.compiler.interpret import random_inputs
    from perfdojo.toolchains.results import Failure
    from perfdojo.toolchains.snitch.gcc import find_tools
    from perfdojo.toolchains.snitch.measure import measure
    from perfdojo.toolchains.snitch.run import build

    shape = tuple(map(int, row["shape"].split("x")))
    program = kernel(row["kernel"], shape, row["dtype"])
    built = build(emit(program, "snitch"), find_tools())
    head = row["kernel"], row["shape"], row["dtype"], int(row["plain_c"] or 0), int(row["best"])
    if isinstance(built, Failure):
        return Row(*head, 0, 0.0, built.text)
    done = measure(built, random_inputs(program, 0, "normal"))
    return Row(*head, done.cycles, done.utilisation or 0.0, done.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="kernel, or kernel/dtype")
    parser.add_argument("--every", type=int, default=1, help="take every so many rows")
    parser.add_argument("--behind", action="store_true", help="show only rows where we are behind")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows = [r for r in published() if given.only in ("", r["kernel"], f"{r['kernel']}/{r['dtype']}")]
    with ProcessPoolExecutor(given.jobs) as pool:
        done = list(pool.map(measured, rows[:: given.every], chunksize=4))
    for r in done:
        if not given.behind or r.ours > r.published or not r.ours:
            ratio = r.published / r.ours if r.ours else 0.0
            head = f"{r.kernel:<14}{r.dtype:<5}{r.shape:>10}"
            print(f"{head}{r.published:>8}{r.ours:>8}{ratio:>7.2f}{r.utilisation:>7.1%}  {r.text}")
    summary(done)


def summary(rows: list[Row]) -> None:
    """Print shares and the geometric mean."""
    good = [r for r in rows if r.ours]
    if not good:
        return
    ahead = sum(r.ours <= r.published for r in good)
    far = [r for r in good if r.ours > 1.03 * r.published + 5]
    missing = len(rows) - len(good)
    mean = exp(sum(log(r.published / r.ours) for r in good) / len(good))
    print(f"{len(rows)} rows, {missing} not measured; equal or fewer cycles in {ahead / len(rows):.1%}")
    print(f"more than 3 % + 5 cycles behind: {len(far)}; geometric mean of published / ours {mean:.3f}")


if __name__ == "__main__":
    main()
