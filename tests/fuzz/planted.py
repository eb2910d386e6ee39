"""Whether the soundness run can fail: faults are planted in the compiler, one at a time, to be found.

`python -m tests.fuzz.planted` runs the share of CI on each fault of `faults` in a process of its own, in
which the faulty source is imported in place of the right one, until a sequence comes out wrong that does not
without the fault; it prints how many pairs that takes. `baseline` leaves out what a fault cannot change.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from tests.fuzz.faults import FAULTS, Fault

SHARE_PAIRS = 12_000
"""What CI runs."""
NEEDED = 0.95
CHUNK = 100
"""Seeds whose code is built at once."""

FOUND, UNPROVED, BROKE, MISSED = 0, 3, 4, 5
WORDS = {FOUND: "values", UNPROVED: "unproved", BROKE: "broke", MISSED: "MISSED"}
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


def find(number: int, records: Path) -> int:
    """Plant a fault in this process and run until something is wrong; return how it was found."""
    fault = FAULTS[number]
    sys.meta_path.insert(0, _Finder(fault))
    from tests.fuzz.baseline import COMPILED, Record, digest, touched
    from tests.fuzz.run import executor_of, run_seeds
    from tests.fuzz.sequences import Sequence as Made

    found: list[Record] = pickle.loads(records.read_bytes())
    of = {r.seed: r.made for r in found}
    changes_moves = ".transforms." in fault.module
    changes_checks = fault.module.endswith("lowering.target")

    def is_known(made: Made) -> bool:
        if changes_checks or (executor_of(made.seed) in COMPILED and not changes_moves):
            return False
        return digest(made) == of[made.seed]

    seeds = [r.seed for r in touched(found, number)]
    for start in range(0, len(seeds), CHUNK):
        chunk = seeds[start : start + CHUNK]
        while wrong := run_seeds(chunk, stop_at=1, is_known=is_known).wrong:
            if _is_right_without(wrong[0].seed):
                pairs = sum(r.pairs for r in found if r.seed <= wrong[0].seed)
                print(f"{pairs}\n{wrong[0].text.splitlines()[0][:120]}")
                return {"values": FOUND, "state": UNPROVED, "exception": BROKE}[wrong[0].kind]
            chunk.remove(wrong[0].seed)
    print(f"-\n{len(seeds)} seeds run it")
    return MISSED


def _is_right_without(seed: int) -> bool:
    """Tell whether a sequence passes in the compiler as it is; else it shows a bug, and not the fault."""
    command = [sys.executable, "-m", "tests.fuzz.run", "--seed", str(seed)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Plant each fault and print the table; 1 when fewer than 95 % are found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.planted", description=__doc__)
    parser.add_argument("--fault", type=int, help="plant this one in this process; needs --records")
    parser.add_argument(
        "--records", type=Path, help="where the baseline is kept; made anew when it is missing"
    )
    parser.add_argument("--only", default="", help="faults whose module or name holds this text")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pairs", type=int, default=SHARE_PAIRS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    o = parser.parse_args()
    if o.fault is not None:
        return find(o.fault, o.records)
    with TemporaryDirectory() as folder:
        records = o.records or Path(folder) / "baseline"
        if not records.exists():
            from tests.fuzz.baseline import baseline

            records.write_bytes(pickle.dumps(baseline(o.pairs, o.first, o.jobs)))
        chosen = [n for n, f in enumerate(FAULTS) if o.only in f"{f.module} {f.title}"]
        return plant(chosen, records, o.jobs)


def plant(chosen: Sequence[int], records: Path, jobs: int) -> int:
    """Plant some faults, print a line for each as it is done and the share that was found."""

    def planted(number: int) -> int:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.planted",
            "--fault",
            str(number),
            "--records",
            str(records),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        code, said = ran.returncode, ran.stdout.splitlines()[-2:]
        if code not in WORDS or len(said) < 2:
            code, said = BROKE, ["?", (ran.stderr.splitlines() or ["it crashed"])[-1]]
        print(f"| {FAULTS[number].title} | {WORDS[code]} | {said[0]} | {said[1]} |", flush=True)
        return code

    print("| fault | found by | after pairs | first find |\n|---|---|---:|---|", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        codes = Counter(pool.map(planted, chosen))
    found = len(chosen) - codes[MISSED]
    how = ", ".join(f"{codes[code]} {word}" for code, word in WORDS.items())
    print(f"\n{found} of {len(chosen)} faults found ({100 * found / max(1, len(chosen)):.1f} %): {how}")
    return 0 if found >= NEEDED * len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
