"""The options of `perfdojoc` as an argparse parser, and what they come to."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from perfdojo import __version__
from perfdojo.compiler.lowering.target import FP_LEVELS, FpLevel
from perfdojo.tuning.trial import MOST_SEED

EMITS = ("ir", "lowered", "source", "asm", "shared")
PLAY_USAGE = "perfdojoc play KERNEL [--target T] [options]"
COMPILING = "Compile one kernel to source code that you own; build, check and time it."
PLAYING = (
    "Make a schedule for one kernel move by move, from a list of all that are legal; commands are read from "
    "standard input. --schedule gives moves to begin with."
)
PLOTS, PAGES = (".svg", ".png", ".pdf"), (".html", ".htm")
"""Endings of the files of --plot and --report."""
MAX_THREADS = 4096
"""More than any machine has; an int of C holds it."""
MAX_CORES = 8
"""Of a Snitch cluster that compute."""


@dataclass(frozen=True, slots=True)
class Options:
    """One call of `perfdojoc`.

    Attributes:
        kernel: path of a kernel, name of a library kernel, or `-` for standard input.
        check, time: whether these steps run (both do when nothing else was asked for).
        budget_s: most seconds that measuring may take.
        schedule: path of a schedule, "" for the one that goes with the kernel.
        planner: take no schedule, not even that one.
        print_between: print the program behind each step of the schedule.
        validate: compare what the schedule makes with the kernel on symbolic values.
        simulator: of Snitch clusters: builtin, verilator:PATH or banshee:PATH.
        trace: file for a trace of what the units of a Snitch cluster did.
        explain: tell what bounds the kernel here, and what would help.
        tune_s: seconds that a search for a schedule may take; 0: none is asked for.
        trials: of that search at most; 0: as many as there is time for.
        search: its name.
        records: whether trials are kept and found.
        plot, report: files for a picture and a page of the search.
        annotate: print the code for Snitch with cycles and causes of waits.
        cores: of a Snitch cluster that run @core scopes; 0: all of them.
        isa: extensions that differ from those of the target's default, as targets spell them: `:div,no-simd`.
    """

    kernel: str
    target: str
    sizes: dict[str, int]
    fp: FpLevel
    threads: int
    emit: str
    output: Path | None
    check: bool
    time: bool
    cache: str
    seed: int
    budget_s: float
    force: bool
    cmake: bool
    json: bool
    quiet: bool
    schedule: str = ""
    planner: bool = False
    print_between: bool = False
    validate: bool = False
    simulator: str = "builtin"
    trace: Path | None = None
    annotate: bool = False
    cores: int = 0
    isa: str = ""
    explain: bool = False
    tune_s: float = 0.0
    trials: int = 0
    search: str = "guided"
    records: bool = True
    plot: Path | None = None
    report: Path | None = None


class _JsonParser(argparse.ArgumentParser):
    """Says what is wrong with a call in a JSON object on stdout."""

    def error(self, message: str) -> NoReturn:
        print(json.dumps({"error": error_object(message, "perfdojoc --help")}))
        self.exit(2)


def error_object(
    message: str, hint: str, file: str | None = None, line: int | None = None, column: int | None = None
) -> dict[str, Any]:
    """Return what `--json` says of an error."""
    return {"message": message, "file": file, "line": line, "column": column, "hint": hint or None}


def parser(json_errors: bool = False, playing: bool = False) -> argparse.ArgumentParser:
    """Return the parser, of `perfdojoc play` when `playing`.

    With `json_errors` it says what is wrong with a call in JSON.
    """
    p = (_JsonParser if json_errors else argparse.ArgumentParser)(
        prog="perfdojoc play" if playing else "perfdojoc",
        usage=f"{PLAY_USAGE}" if playing else f"perfdojoc KERNEL [--target T] [options]\n       {PLAY_USAGE}",
        description=PLAYING if playing else COMPILING,
        epilog="Then: moves, help, quit. Exit status: 0 fine, 1 the kernel or the schedule is wrong, 2 usage."
        if playing
        else "Without -o and --emit it does the main job: emit, build, check, time, and print a report. "
        "Exit status: 0 fine, 1 the kernel is wrong or its check failed, 2 usage, 3 a tool is missing.",
    )
    p.add_argument(
        "kernel",
        nargs="?",
        help="a kernel file, the name of a library kernel (--list-kernels), or - for stdin",
    )
    p.add_argument(
        "--target",
        "-t",
        metavar="T",
        default="host",
        help="machine to emit for; default: the best this one runs",
    )
    p.add_argument(
        "--isa",
        metavar="X,..",
        default="",
        help="extensions beside or without those of the target: vnni, bf16 (avx512); dotprod (neon); div,"
        " no-simd, no-ssr, no-frep (snitch); default: on the best target that this machine runs, what it has",
    )
    p.add_argument(
        "-D",
        dest="sizes",
        action="append",
        default=[],
        metavar="N=1000",
        help="override a size of the kernel",
    )
    p.add_argument(
        "--fp",
        choices=FP_LEVELS,
        default="reassoc",
        help="what may change in the last bits (default: %(default)s)",
    )
    p.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="n",
        help="CPU threads for @parallel scopes (default: 1); Snitch has --cores",
    )
    p.add_argument(
        "--schedule",
        metavar="FILE",
        help="make these moves instead of planning; default: KERNEL.TARGET.sched beside the kernel, if there",
    )
    p.add_argument(
        "--no-schedule", dest="planner", action="store_true", help="plan, whatever schedule there is"
    )
    p.add_argument(
        "--print-between", action="store_true", help="print each move and what it changed, on stderr"
    )
    out = p.add_argument_group("what to do")
    out.add_argument("-o", dest="output", metavar="DIR", type=Path, help="write the files to DIR")
    out.add_argument(
        "--emit", choices=EMITS, help="print this stage, or with -o write it to DIR; shared builds a library"
    )
    out.add_argument(
        "--shared", action="store_true", help="same as --emit shared: a library for perfdojo.load()"
    )
    out.add_argument(
        "--check", action="store_true", help="run it and compare with the reference, within the derived bound"
    )
    out.add_argument(
        "--validate",
        action="store_true",
        help="decide on symbolic values that the schedule keeps the meaning of the kernel",
    )
    out.add_argument("--time", action="store_true", help="measure it")
    out.add_argument(
        "--explain",
        action="store_true",
        help="measure it and tell what bounds it: traffic at the caches, its main loop, what would help",
    )
    out.add_argument("--force", action="store_true", help="overwrite files that perfdojo did not write")
    out.add_argument("--cmake", action="store_true", help="write a CMakeLists.txt beside the source")
    how = p.add_argument_group("how to check and time")
    how.add_argument(
        "--cache",
        choices=("hot", "cold"),
        default="hot",
        help="state of the caches when timing (default: hot)",
    )
    how.add_argument(
        "--budget", type=float, default=1.0, metavar="S", help="most seconds to measure (default: 1)"
    )
    how.add_argument(
        "--seed", type=int, default=0, metavar="n", help="seed of the random inputs (default: 0)"
    )
    how.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    how.add_argument("--quiet", "-q", action="store_true", help="no progress on stderr")
    search = p.add_argument_group("search for a schedule")
    search.add_argument(
        "--tune", action="store_true", help="try schedules and measure them; the best one is written and kept"
    )
    search.add_argument(
        "--time-limit", metavar="60s", default="60s", help="how long it may take; --time 60s says the same"
    )
    search.add_argument("--trials", type=int, default=0, metavar="N", help="try at most so many schedules")
    search.add_argument("--search", default="guided", metavar="NAME", help="how they are proposed (guided)")
    search.add_argument(
        "--no-records", action="store_true", help="neither keep trials nor take the best one that is kept"
    )
    search.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw the trials: .svg, .png or .pdf (needs perfdojo[plot])"
    )
    search.add_argument(
        "--report", metavar="FILE", type=Path, help="write all about the search as one page, .html"
    )
    snitch = p.add_argument_group("Snitch (--target snitch)")
    snitch.add_argument(
        "--simulator",
        metavar="S",
        default="builtin",
        help="what runs it: builtin (default), verilator:PATH or banshee:PATH",
    )
    snitch.add_argument(
        "--trace",
        metavar="FILE",
        type=Path,
        help="write what each unit did cycle by cycle, for ui.perfetto.dev",
    )
    snitch.add_argument(
        "--annotate", action="store_true", help="print the code with counts, cycles and causes of waits"
    )
    snitch.add_argument(
        "--cores",
        metavar="n",
        type=int,
        help="cores that share the iterations of @core scopes (default: 8, where there are such scopes)",
    )
    info = p.add_argument_group("information")
    info.add_argument(
        "--list-targets", action="store_true", help="targets, and whether this machine can run them"
    )
    info.add_argument(
        "--list-kernels", action="store_true", help="kernels of the library with their formulas"
    )
    info.add_argument("--list-transforms", action="store_true", help="the moves that schedules are made of")
    info.add_argument(
        "--doctor", action="store_true", help="what this machine can do, what is missing, its measured limits"
    )
    info.add_argument("--remeasure", action="store_true", help="with --doctor: measure the limits again")
    info.add_argument("--completion", choices=("bash", "zsh", "tcsh"), help="print a shell completion script")
    info.add_argument("--version", action="version", version=f"perfdojoc {__version__}")
    return p


def options(p: argparse.ArgumentParser, argv: Sequence[str]) -> tuple[argparse.Namespace, Options]:
    """Return the raw and the checked options; argparse exits with status 2 on wrong usage."""
    a = p.parse_args(_with_limit(p, argv))
    if not 1 <= a.threads <= MAX_THREADS:
        p.error(f"--threads is between 1 and {MAX_THREADS}")
    if not 0 <= a.seed <= MOST_SEED:
        p.error(f"--seed is between 0 and {MOST_SEED}")
    if not 0 < a.budget < 3600:
        p.error("--budget is between 0 and 3600 seconds")
    informing = a.list_targets or a.list_kernels or a.list_transforms or a.doctor or a.completion
    if not a.kernel and not informing:
        p.error("give a kernel: a file, a name from --list-kernels, or - for stdin")
    if a.schedule == "":
        p.error("--schedule is given no file; --no-schedule plans")
    if a.schedule and a.planner:
        p.error("--schedule and --no-schedule ask for different things")
    if a.shared and a.emit not in (None, "shared"):
        p.error("--shared and --emit ask for different things")
    if a.emit not in (None, "shared") and (a.check or a.time or a.validate or a.explain):
        steps = "--check, --time, --explain and --validate"
        p.error(f"--emit {a.emit} shows a stage and runs nothing: give {steps} without it")
    if a.target != "snitch" and (a.simulator != "builtin" or a.trace or a.annotate):
        p.error("--simulator, --trace and --annotate are for --target snitch")
    if a.explain and a.target in ("snitch", "cuda", "neon", "rvv"):
        p.error(
            "--explain is for targets that are timed by the clock: c, avx2, avx512; Snitch has --annotate"
        )
    if re.fullmatch(r"builtin|(verilator|banshee):.+", a.simulator) is None:
        p.error(f"no simulator '{a.simulator}': --simulator takes builtin, verilator:PATH or banshee:PATH")
    if a.trace is not None and os.path.isdir(a.trace):
        p.error(f"--trace {a.trace} is a folder: name the file to write")
    if a.cores is not None and not (a.target == "snitch" and 1 <= a.cores <= MAX_CORES):
        p.error(f"--cores is between 1 and {MAX_CORES}, for --target snitch")
    if a.threads > 1 and a.target == "snitch":
        p.error("--threads is for targets that run on this machine: a Snitch cluster has --cores")
    if a.trials < 0:
        p.error("--trials is at least 0")
    if not a.tune and (a.trials or a.search != "guided" or a.time_limit != "60s"):
        p.error("--trials, --search and --time with a duration go with --tune")
    if (a.plot or a.report) and not a.tune:
        p.error("--plot and --report show a search: they go with --tune")
    _endings(p, "--plot", a.plot, PLOTS)
    _endings(p, "--report", a.report, PAGES)
    if a.tune and (a.emit or a.shared or a.schedule or a.planner or a.validate or a.explain):
        p.error("--tune finds a schedule: it goes without --emit, --schedule, --validate and --explain")
    if a.isa:
        _varied(p, a.target)
    emit = "shared" if a.shared else a.emit or ""
    main_job = not (emit or a.output or a.check or a.time or a.validate or a.explain)
    chosen = Options(
        a.kernel or "",
        a.target,
        _sizes(p, a.sizes),
        a.fp,
        a.threads,
        emit,
        a.output,
        a.check or main_job,
        a.time or main_job or bool(a.trace) or a.annotate or a.explain,
        a.cache,
        a.seed,
        a.budget,
        a.force,
        a.cmake,
        a.json,
        a.quiet or a.json,
        a.schedule or "",
        a.planner,
        a.print_between,
        a.validate,
        a.simulator,
        a.trace,
        a.annotate,
        a.cores or 0,
        f":{a.isa}" if a.isa else "",
        a.explain,
        _seconds(p, a.time_limit) if a.tune else 0.0,
        a.trials,
        a.search,
        not a.no_records,
        a.plot,
        a.report,
    )
    return a, chosen


def _varied(p: argparse.ArgumentParser, target: str) -> None:
    from perfdojo.backends import varied_targets

    known = varied_targets()
    if target not in known:
        p.error(f"--isa is for --target {', '.join(known[:-1])} and {known[-1]}")


def _endings(p: argparse.ArgumentParser, option: str, path: Path | None, known: tuple[str, ...]) -> None:
    if path is not None and path.suffix.lower() not in known:
        p.error(f"{option} {path}: the name of the file ends in {', '.join(known)}")


def _with_limit(p: argparse.ArgumentParser, argv: Sequence[str]) -> list[str]:
    """Return the arguments with `--time 60s` spelled as what it means beside --tune."""
    given = list(argv)
    for n, (word, value) in enumerate(pairwise(given)):
        if word == "--time" and value[:1].isdigit():
            if "--tune" not in given:
                p.error(f"--time {value} limits a search: add --tune; --time alone measures the code")
            given[n] = "--time-limit"
    return given


_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|)")


def _seconds(p: argparse.ArgumentParser, text: str) -> float:
    found = _DURATION.fullmatch(text)
    if not found or not float(found[1]):
        p.error(f"--time {text}: write a duration over 0, as in 30s, 5m or 1h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _sizes(p: argparse.ArgumentParser, given: list[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for item in given:
        found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*([-+]?\d[\d_]{0,30})\s*", item)
        if not found:
            p.error(f"-D {item}: write -D NAME=INTEGER")
        sizes[found[1]] = int(found[2])
    return sizes
