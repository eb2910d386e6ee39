"""Our kernels beside the systems that users would pick instead, in one run, on the same inputs.

    python -m benchmarks.peers --install                 # once: the systems, in environments of the cache
    python -m benchmarks.peers --tune                    # once: TVM's tuning records
    python -m benchmarks.peers [--threads 1] [--only NAME] [--peers torch,numpy] [--rounds 9] [--out FOLDER]

Every system has a process of its own, kept alive, in the interpreter of its environment. For each kernel all
of them are prepared and their results compared with a float64 reference; then they run in turn for `slot`
seconds each, in reversed order every second round, called from Python on arrays that start at cache lines.
Shown are the medians over the rounds of the elapsed time; ratios are medians of the ratio in each round with
95 % intervals. A system that is not here, or cannot do a kernel, is a gap with its reason below the table.

Exits with 1 when a result of ours is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.peers import report
from benchmarks.peers.environments import ROOT, install, interpreter, packages, tune, with_module
from benchmarks.peers.measure import Row, Schedule, measured
from benchmarks.peers.process import Worker
from benchmarks.peers.registry import SYSTEMS
from benchmarks.peers.report import Run
from benchmarks.suite import Benchmark, benchmarks, named
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.roofline import Limit, Roofline, measure_roofline


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files; 1 when a result of ours is wrong."""
    o = _options(arguments)
    if o.install is not None:
        return int(install(o.install) > 0)
    wanted = o.only or ([] if o.also else [""])
    chosen = [*(b for b in benchmarks() if any(n in b.name for n in wanted)), *o.also]
    if not chosen:
        print("no kernel of the suite has such a name", file=sys.stderr)
        return 2
    if o.tune:
        return tune([b.name for b in chosen], o.trials)
    host = find_host()
    roofline = measure_roofline(host)
    if isinstance(roofline, Failure):
        print(f"the limits of this machine cannot be measured: {roofline.text}", file=sys.stderr)
        return 3
    workers, absent = started(o.peers, o.threads, host.cpu.processors[: o.threads])
    rows: list[Row] = []
    versions = {w.system.name: w.version for w in workers}
    run = Run(_machine(host, o.threads), o.threads, versions, absent, rows)
    plan = Schedule(o.rounds, o.slot, o.prepare)
    try:
        print(f"{run.machine}\n\n{report.head(run)}", flush=True)
        for b in chosen:
            rows.append(measured(b, _limit(b, roofline, o.threads), workers, plan))
            print(report.line(run, rows[-1]), flush=True)
            _write(run, o.out)
    finally:
        for w in workers:
            w.stop()
    print("", *report.summary(run), "", *report.gaps(run), "", _drawn(run, o.out, o.plot), sep="\n")
    return int(any(r.wrong(report.OURS) or r.wrong(report.DEFAULT) for r in rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description="our kernels beside the systems users would pick instead",
    )
    names = [s.name for s in SYSTEMS if s.role == "peer"]
    parser.add_argument("--only", action="append", metavar="NAME", help="kernels whose name has NAME in it")
    parser.add_argument(
        "--also",
        action="append",
        type=_benchmark,
        default=[],
        metavar="NAME",
        help="a kernel of the suite at other sizes: matmul_M512_N512_K512; without --only nothing else",
    )
    parser.add_argument(
        "--peers", type=_peers, default=names, metavar="LIST", help=f"some of {','.join(names)}; or none"
    )
    parser.add_argument("--threads", type=int, default=1, choices=range(1, len(os.sched_getaffinity(0)) + 1))
    parser.add_argument("--rounds", type=int, default=9, help="8 at least for intervals; 0 only compiles")
    parser.add_argument("--slot", type=float, default=0.03, help="seconds of one slot")
    parser.add_argument("--prepare", type=float, default=120.0, help="seconds that a system may compile")
    parser.add_argument("--out", type=Path, default=Path("build/peers"), help="folder of the table and JSON")
    parser.add_argument("--plot", type=Path, help="the picture, .png or .svg; in the folder without it")
    parser.add_argument(
        "--install", nargs="*", choices=list(packages()), help="install peers into environments of the cache"
    )
    parser.add_argument("--tune", action="store_true", help="have TVM tune the kernels that have no records")
    parser.add_argument("--trials", type=int, default=64, help="candidates that TVM may measure for a kernel")
    return parser.parse_args(arguments)


def _benchmark(name: str) -> Benchmark:
    try:
        return named(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _peers(text: str) -> list[str]:
    known = [s.name for s in SYSTEMS if s.role == "peer"]
    chosen = [] if text == "none" else text.split(",")
    unknown = [n for n in chosen if n not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no peer is called {', '.join(unknown)}")
    return chosen


def started(peers: Sequence[str], threads: int, cpus: Sequence[int]) -> tuple[list[Worker], dict[str, str]]:
    """Start the processes of ours, of plain C and of these peers; return why others are absent, by name."""
    workers, absent = [], {}
    for system in SYSTEMS:
        if system.role == "peer" and system.name not in peers:
            continue
        python, why = interpreter(system)
        if python is None:
            absent[system.name] = f"{why}; `python -m benchmarks.peers --install` does that"
            continue
        worker = Worker(system, python, threads, cpus)
        if worker.why:
            absent[system.name] = worker.why
            worker.stop()
        else:
            workers.append(worker)
    return workers, absent


def _machine(host: Host, threads: int) -> str:
    load = os.getloadavg()[0]
    return f"{host.cpu.model}, {threads} thread{'s' * (threads > 1)}, load {load:.1f}, {date.today()}"


def _limit(b: Benchmark, roofline: Roofline, threads: int) -> Limit:
    size = b.read_bytes + b.write_bytes
    return roofline.limit(b.flops, size, b.read_bytes / size, size, threads, "f32")


def _write(run: Run, folder: Path) -> None:
    """Write what there is so far: a run that is stopped has its rows."""
    folder.mkdir(parents=True, exist_ok=True)
    _results(run, folder).write_text(json.dumps(report.as_json(run), indent=1), "utf-8")
    _results(run, folder).with_suffix(".md").write_text(report.markdown(run), "utf-8")


def _results(run: Run, folder: Path) -> Path:
    return folder / f"peers-{run.threads}.json"


def _drawn(run: Run, folder: Path, wanted: Path | None) -> str:
    """Draw in an interpreter that has matplotlib; return a sentence for the reader."""
    if not any(r.time(report.OURS) for r in run.rows):
        return "nothing was timed: no picture"
    python, why = with_module("matplotlib", "bench")
    results = _results(run, folder)
    path = (wanted or results.with_suffix(".png")).absolute()
    if python is None:
        return f"no picture: {why}"
    command = [str(python), "-m", "benchmarks.peers.plot", str(results.absolute()), str(path)]
    done = subprocess.run(command, cwd=ROOT, check=False)
    return f"written: {folder}/{results.stem}.md, .json; {path}" if done.returncode == 0 else "no picture"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; the rows that were printed are in the files")
