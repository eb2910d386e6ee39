"""Whether the soundness run can fail: faults are planted in the compiler, one at a time, to be found.

`python -m tests.fuzz.planted` runs the share of CI on each fault of `faults.py` in a process of its own, in
which the faulty source is imported in place of the right one; it prints which were found, by how many pairs.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

from tests.fuzz.faults import FAULTS, Fault

SHARE_PAIRS = 12_000
"""What CI runs."""
NEEDED = 0.95
CHUNK = 100
"""Seeds between two looks at what was found."""
ENOUGH = 20
"""Sequences that came out wrong otherwise, behind which no wrong values are waited for."""

FOUND, UNPROVED, BROKE, MISSED = 0, 3, 4, 5
WORDS = {FOUND: "values   ", UNPROVED: "unproved ", BROKE: "broke    ", MISSED: "MISSED   "}
"""How a fault was found, by the exit status of a run with it."""


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the module of a fault, and gives it the faulty source."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.fault.module:
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert found is not None
        assert found.origin is not None
        found.loader = _Loader(self.fault, fullname, found.origin)
        return found


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the faulty source, and never looks at the cached code of the right one."""

    def __init__(self, fault: Fault, name: str, path: str) -> None:
        super().__init__(name, path)
        self.fault = fault

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        text = self.get_data(self.path).decode("utf-8")
        return compile(self.fault.planted(text), self.path, "exec", dont_inherit=True)


def find(number: int, first: int, pairs: int) -> int:
    """Plant a fault in this process and run until values are wrong; return how it was found.

    That a program is no longer proved, or an exception, tells less about the checks: the run goes on.
    """
    sys.meta_path.insert(0, _Finder(FAULTS[number]))
    from tests.fuzz.run import Wrong, run_seeds

    done = 0
    others: list[Wrong] = []
    while done < pairs and len(others) < ENOUGH:
        tally = run_seeds(range(first, first + CHUNK), stop_at=1)
        first += CHUNK
        done += tally.pairs.total()
        for wrong in tally.wrong:
            if wrong.kind == "values" and _is_right_without(wrong.seed):
                print(f"{done} pairs: {wrong.text.splitlines()[0][:150]}")
                return FOUND
        others += (w for w in tally.wrong if w.kind != "values")
    kinds = {w.kind: w for w in reversed(others)}
    if "state" in kinds:
        print(f"{done} pairs: {kinds['state'].text.splitlines()[0][:150]}")
        return UNPROVED
    if kinds:
        print(f"{done} pairs: {kinds['exception'].text.splitlines()[-1][:150]}")
        return BROKE
    print(f"{done} pairs")
    return MISSED


def _is_right_without(seed: int) -> bool:
    """Tell whether a sequence passes in the compiler as it is; else it shows a bug, and not the fault."""
    command = [sys.executable, "-m", "tests.fuzz.run", "--seed", str(seed)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Plant each fault; 1 when fewer than 95 % are found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.planted", description=__doc__)
    parser.add_argument("--fault", type=int, help="plant this one in this process")
    parser.add_argument("--only", default="", help="faults whose module or name holds this text")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pairs", type=int, default=SHARE_PAIRS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    o = parser.parse_args()
    if o.fault is not None:
        return find(o.fault, o.first, o.pairs)

    def planted(number: int) -> int:
        command = [sys.executable, "-m", "tests.fuzz.planted", "--fault", str(number)]
        command += ["--first", str(o.first), "--pairs", str(o.pairs)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        said = [*ran.stderr.strip().splitlines()[-1:], *ran.stdout.strip().splitlines()][-1:]
        code = ran.returncode if ran.returncode in WORDS else BROKE
        print(f"{WORDS[code]} {FAULTS[number].title}: {said[0] if said else 'it crashed'}", flush=True)
        return code

    chosen = [n for n, f in enumerate(FAULTS) if o.only in f"{f.module} {f.title}"]
    with ThreadPoolExecutor(o.jobs) as pool:
        codes = Counter(pool.map(planted, chosen))
    found = len(chosen) - codes[MISSED]
    how = ", ".join(f"{codes[code]} {word.strip()}" for code, word in WORDS.items())
    print(f"{found} of {len(chosen)} faults found: {how}")
    return 0 if found >= NEEDED * len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
