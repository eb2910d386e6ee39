"""Where the systems are installed, how that is done, and the environment variables that they run with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.blas import MISLEADING
from benchmarks.peers.registry import System, find, load
from perfdojo.toolchains.places import find_places

ROOT = Path(__file__).parents[2]

APART = {
    "tvm": (
        "apache-tvm==0.27.0.post1",
        "apache-tvm-ffi==0.1.14.post0",  # 0.1.15 crashes as tuning records are written
        "numpy",
        "xgboost",
        "psutil",
        "cloudpickle",
        "tornado",
        "scipy",
    ),
}
"""What does not go together with the others, by the name of its environment."""

THREADS_OF = ("OMP", "MKL", "OPENBLAS", "TVM", "HL")

MALLOC = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(10**12),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_ARENA_MAX": "1",
}
"""Freed memory is kept: systems that allocate each result do not pay for the faults of new pages."""


def packages() -> dict[str, tuple[str, ...]]:
    """Return what goes into each environment: the extra `bench` of pyproject.toml, and those apart."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {"bench": tuple(_required("bench", project["optional-dependencies"])), **APART}


def _required(extra: str, extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what an extra asks for; other extras of the project, which no index has, by what they ask for."""
    for package in extras[extra]:
        own = re.fullmatch(r"perfdojo\[(.*)\]", package)
        yield from _required(own[1], extras) if own else (package,)


def folder() -> Path:
    """Return where environments, compiled kernels and tuning records are kept."""
    return find_places().cache / "peers"


def interpreter(system: System) -> tuple[Path | None, str]:
    """Return the interpreter that has a system, or None and why there is none."""
    missing = load(system).available()
    return (Path(sys.executable), "") if not missing else _kept(system.environment, missing)


def with_module(module: str, environment: str) -> tuple[Path | None, str]:
    """Return this interpreter where it has a module, else that of an environment of the cache."""
    return (Path(sys.executable), "") if find_spec(module) else _kept(environment, module)


def _kept(environment: str, missing: str) -> tuple[Path | None, str]:
    python = folder() / environment / "bin" / "python"
    return (python, "") if python.exists() else (None, f"{missing} is not installed")


def install(names: Sequence[str]) -> int:
    """Make the environments, a virtual one each; return how many failed."""
    wanted = packages()
    failed = 0
    for name in names or wanted:
        place = folder() / name
        print(f"{name}: {' '.join(wanted[name])}\n  into {place}", flush=True)
        venv.create(place, with_pip=True)
        done = subprocess.run(
            [place / "bin" / "python", "-m", "pip", "install", "-q", *wanted[name]], check=False
        )
        failed += done.returncode != 0
        print("  installed" if done.returncode == 0 else "  failed", flush=True)
    return failed


def tune(kernels: Sequence[str], trials: int) -> int:
    """Have TVM tune kernels in its environment; return the status of that."""
    system = find("tvm")
    python, why = interpreter(system)
    if python is None:
        print(why, file=sys.stderr)
        return 3
    module = "benchmarks.peers.systems.tvm_tuned"
    command = [str(python), "-m", module, str(trials), *kernels]
    return subprocess.run(command, env=variables(system, python, 1, ()), cwd=ROOT, check=False).returncode


def variables(system: System, python: Path, threads: int, cpus: Sequence[int]) -> dict[str, str]:
    """Return the environment of a worker."""
    made = {k: v for k, v in os.environ.items() if k not in MISLEADING}
    made |= {f"{name}_NUM_THREADS": str(threads) for name in THREADS_OF} | MALLOC
    made |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [made.get("PYTHONPATH")])]),
        "PYTHONUNBUFFERED": "1",
        "PERFDOJO_PEERS": str(folder()),
        "TORCHINDUCTOR_CACHE_DIR": str(folder() / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "JAX_PLATFORMS": "cpu",
        "MKL_THREADING_LAYER": "GNU" if threads > 1 else "SEQUENTIAL",
    }
    if threads > 1:  # else both threads may be put on one core while the other one is free
        made |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{c}}}" for c in cpus)}
    return with_libraries(made, python.parents[1] / "lib") if system.libraries else made


def with_libraries(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the variables with a folder before those that the loader looks into."""
    paths = [str(folder), *filter(None, [variables.get("LD_LIBRARY_PATH")])]
    return {**variables, "LD_LIBRARY_PATH": os.pathsep.join(paths)}
