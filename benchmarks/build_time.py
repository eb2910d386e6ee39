"""From the text of a kernel to its shared library: seconds for each benchmark of the suite.

    python -m benchmarks.build_time [--target avx512] [--only NAME]

Reading, proving, replaying the shipped schedule or planning, emitting; then gcc, with an empty cache. The
first row also pays for imports. Exits with 1 when a bar is missed: 1.5 s for each, 0.5 s for the median.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.baseline import best_target
from benchmarks.schedules import scheduled
from benchmarks.suite import Benchmark, benchmarks
from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.verify import verify
from perfdojo.finding import read_kernel
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import find_host, shared_library
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.statistics import median

EACH_S, MEDIAN_S = 1.5, 0.5


def seconds(b: Benchmark, target: str, host: Host, folder: Path) -> tuple[float, float]:
    """Return the time of emitting a kernel and that of building it."""
    start = time.perf_counter()
    program = bind(read_kernel(b.kernel), b.sizes)
    verify(program)
    made, _ = scheduled(program, b.kernel, target)
    emitted = emit(program, target, scheduled=made)
    middle = time.perf_counter()
    built = shared_library(emitted, folder / f"{b.name}.so", host)
    if isinstance(built, Failure):
        raise SystemExit(f"{b.name}: {built.text}")
    return middle - start, time.perf_counter() - middle


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.build_time", description=__doc__)
    parser.add_argument("--target", default="")
    parser.add_argument("--only", default="", help="part of a benchmark's name")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="perfdojo-build-time-") as name:
        os.environ["XDG_CACHE_HOME"] = name
        host = find_host()
        target = o.target or best_target(host)
        print(f"{host.cpu.model}, {host.compiler.version}, target {target}, load {os.getloadavg()[0]:.0f}\n")
        print("| kernel | emit, s | gcc, s | both, s |\n|---|---:|---:|---:|")
        totals: dict[str, float] = {}
        for b in benchmarks():
            if o.only in b.name:
                emitting, building = seconds(b, target, host, Path(name))
                totals[b.name] = emitting + building
                print(f"| {b.name} | {emitting:.2f} | {building:.2f} | {totals[b.name]:.2f} |", flush=True)
    middle, most = median(list(totals.values())), max(totals, key=lambda n: totals[n])
    print(f"\nmedian {middle:.2f} s (bar {MEDIAN_S}), most {totals[most]:.2f} s, {most} (bar {EACH_S})")
    return int(middle > MEDIAN_S or totals[most] > EACH_S)


if __name__ == "__main__":
    sys.exit(main())
