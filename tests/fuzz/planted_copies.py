"""Plants faults in copies of the sources, one at a time, and runs the soundness run of a target on each.

A run ends at the first sequence that comes out wrong; it is printed after how many pairs.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.faults.fault import FileFault as Fault

NEEDED = 0.95
ROOT = Path(__file__).parents[2]
FOLDERS = ("perfdojo", "tests")


def stale(faults: Sequence[Fault]) -> list[str]:
    """Return what is wrong with faults that no longer apply to the sources."""
    wrong = []
    for fault in faults:
        try:
            text = fault.planted((ROOT / fault.file).read_text("utf-8"))
            if fault.file.endswith(".py"):
                ast.parse(text)
        except (OSError, SyntaxError, ValueError) as error:
            wrong.append(f"{fault.title}: {error}")
    return wrong


def find(package: str, fault: Fault, pairs: int, first: int) -> tuple[int, str]:
    """Return after how many pairs a fault is found, and the first line of what is wrong; 0: it is not.

    Args:
        package: whose command is the soundness run.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in FOLDERS:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        file = folder / fault.file
        file.write_text(fault.planted(file.read_text("utf-8")), encoding="utf-8")
        command = [sys.executable, "-m", package, "--jobs", "1", "--stop-at", "1"]
        command += ["--pairs", str(pairs), "--first", str(first)]
        env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return 0, ""
    if ran.returncode < 0:
        raise RuntimeError(f"signal {-ran.returncode} ended the run with: {fault.title}")
    said = [line for line in ran.stdout.splitlines() if line.startswith("seed ")]
    if not said:
        return 1, (ran.stderr.splitlines() or ["it crashed"])[-1]
    seed = re.match(r"seed (\d+)", said[0])
    assert seed is not None
    return int(seed[1]) - first + 1, said[0]


def without_a_fault(package: str, pairs: int, first: int, jobs: int) -> str:
    """Return what is wrong in the sources as they are, "" when nothing is: else a find says nothing."""
    command = [sys.executable, "-m", package, "--jobs", str(jobs), "--stop-at", "1"]
    command += ["--pairs", str(pairs), "--first", str(first)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = [line for line in ran.stdout.splitlines() if line.startswith("seed ")]
    return "" if ran.returncode == 0 else (said or [ran.stderr[-200:]])[0]


def plant(package: str, faults: Sequence[Fault], pairs: int, first: int, jobs: int) -> float:
    """Plant faults, print a line for each as it is done, and return the share that was found."""

    def planted(fault: Fault) -> bool:
        after, text = find(package, fault, pairs, first)
        place = fault.file.rsplit("/", 1)[-1]
        print(f"| {place}: {fault.title} | {after or 'MISSED'} | {text[:110]} |", flush=True)
        return after > 0

    print("| fault | after pairs | first find |\n|---|---:|---|", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        found = sum(pool.map(planted, faults))
    print(f"\n{found} of {len(faults)} faults found ({100 * found / max(1, len(faults)):.1f} %)")
    return found / max(1, len(faults))


def command(package: str, faults: Sequence[Fault], pairs: int, about: str | None) -> int:
    """Plant each fault and print the table; 1 when fewer than 95 % are found.

    Args:
        pairs: what CI runs.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {package}.planted", description=about)
    parser.add_argument("--only", default="", help="faults whose file or title holds this text")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pairs", type=int, default=pairs)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    o = parser.parse_args()
    wrong = without_a_fault(package, o.pairs, o.first, o.jobs)
    if wrong:
        print(f"something is wrong without a fault: {wrong}")
        return 1
    chosen = [f for f in faults if o.only in f"{f.file} {f.title}"]
    return 0 if plant(package, chosen, o.pairs, o.first, o.jobs) >= NEEDED else 1
