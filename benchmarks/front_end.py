"""How long the front end takes: parse, verify, plan, lower, emit, for each library kernel and a long program.

    python -m benchmarks.front_end [--target avx2] [--limit-ms 60]

Prints milliseconds of processor time, warm (median of five after one), and the wall time of
`perfdojoc --version` as a process.
Exits with 1 when a kernel is over the limit, 2,000 statements take over 3 s, or --version over 150 ms.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.finding import library

STEPS = ("parse", "bind", "verify", "emit", "all")


def version_seconds() -> float:
    """Return the wall time of `perfdojoc --version` as a process."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "perfdojo.cli", "--version"], capture_output=True)
    return time.perf_counter() - started


def once(text: str, target: str) -> dict[str, float]:
    """Return the seconds of each step."""
    times: dict[str, float] = {}
    started = time.process_time()

    def mark(step: str) -> None:
        nonlocal started
        now = time.process_time()
        times[step], started = now - started, now

    program = parse(text)
    mark("parse")
    bound = bind(program)
    mark("bind")
    verify(bound)
    mark("verify")
    emit(bound, target)
    mark("emit")
    times["all"] = sum(times.values())
    return times


def warm(text: str, target: str, times: int = 5) -> dict[str, float]:
    """Return the median seconds of each step after one call that does not count."""
    once(text, target)
    found = [once(text, target) for _ in range(times)]
    return {step: statistics.median(f[step] for f in found) for step in STEPS}


def long_kernel(statements: int) -> str:
    """Return a kernel with many statements in nests of ten, each reading what the one before wrote."""
    header = ["kernel long", "size B = 16", "size N = 100", "in x0: f32[B, N]"]
    body = []
    for i in range(1, statements + 1):
        header.append(f"{'out' if i == statements else 'tmp'} x{i}: f32[B, N]")
        start = "B N" if i % 10 == 1 else "| |"
        body.append(f"{start} x{i}[{{0}},{{1}}] = x{i - 1}[{{0}},{{1}}] * 0.5 + {i}")
    return "\n".join([*header, "", *body]) + "\n"


def main() -> int:
    """Measure, print, judge."""
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--target", default="avx2")
    p.add_argument("--limit-ms", type=float, default=60.0)
    a = p.parse_args()
    print(f"{'kernel':20s}" + "".join(f"{s:>9s}" for s in STEPS) + "   ms, warm")
    slow = []
    for name, file in library():
        found = warm(file.read_text("utf-8"), a.target)
        print(f"{name:20s}" + "".join(f"{1e3 * found[s]:9.1f}" for s in STEPS))
        slow += [name] if 1e3 * found["all"] > a.limit_ms else []
    text = long_kernel(2000)
    long_s = once(text, a.target)
    print("2,000 statements    " + "".join(f"{1e3 * long_s[s]:9.0f}" for s in STEPS))
    version_s = statistics.median(version_seconds() for _ in range(9))
    print(f"--version           {1e3 * version_s:9.0f}")
    print(f"over {a.limit_ms:.0f} ms: {' '.join(slow) or 'none'}")
    return 1 if slow or long_s["all"] > 3 or version_s > 0.15 else 0


if __name__ == "__main__":
    sys.exit(main())
