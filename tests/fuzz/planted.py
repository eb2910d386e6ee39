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
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

from tests.fuzz.faults import FAULTS, Fault

SHARE_SECONDS = 240.0
"""What CI spends on the run at most."""
NEEDED = 0.95


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


def find(number: int, first: int, seconds: float) -> int:
    """Plant a fault in this process and run; return 0 when it was found."""
    sys.meta_path.insert(0, _Finder(FAULTS[number]))
    from tests.fuzz.run import fuzz_until

    start = time.monotonic()
    total = fuzz_until(first, 10**9, seconds, jobs=1, stop_at=1)
    if not total.wrong:
        print(f"not found in {total.pairs.total()} pairs")
        return 1
    how = total.wrong[0].splitlines()[0]
    print(f"found in {time.monotonic() - start:.0f} s, {total.pairs.total()} pairs: {how[:160]}")
    return 0


def main() -> int:
    """Plant each fault; 1 when fewer than 95 % are found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.planted", description=__doc__)
    parser.add_argument("--fault", type=int, help="plant this one in this process")
    parser.add_argument("--only", default="", help="faults whose module or name holds this text")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=SHARE_SECONDS * (os.cpu_count() or 1))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    o = parser.parse_args()
    if o.fault is not None:
        return find(o.fault, o.first, o.seconds)

    def planted(number: int) -> bool:
        command = [sys.executable, "-m", "tests.fuzz.planted", "--fault", str(number)]
        command += ["--first", str(o.first), "--seconds", str(o.seconds)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        said = ran.stdout.strip() or ran.stderr.strip().splitlines()[-1]
        print(f"{'found ' if ran.returncode == 0 else 'MISSED'} {FAULTS[number].title}: {said}", flush=True)
        return ran.returncode == 0

    chosen = [n for n, f in enumerate(FAULTS) if o.only in f"{f.module} {f.title}"]
    with ThreadPoolExecutor(o.jobs) as pool:
        found = sum(pool.map(planted, chosen))
    print(f"{found} of {len(chosen)} faults found")
    return 0 if found >= NEEDED * len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
