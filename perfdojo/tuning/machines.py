"""What measures on this machine, by target: the clock for code of this CPU, a GPU, a simulator for Snitch."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from perfdojo.backends import get_target
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms.base import Setting
from perfdojo.tuning.problem import Problem
from perfdojo.tuning.runners.base import Runner


class MakesRunner(Protocol):
    """Makes the runner of a problem."""

    def __call__(self, seed: int, tolerance: float | None = None) -> Runner: ...  # noqa: D102


HINT = "searches measure: on c, avx2 and avx512 by the clock, on cuda by a GPU, on snitch by simulated cycles"
NARROW = frozenset(("i8", "u8", "i16", "bf16"))
"""Types that the extensions of avx512 are for: dot products of bytes, and of bf16."""
CLOCKED = ("c", "avx2", "avx512")


def is_timed(setting: Setting) -> bool:
    """Tell whether code for a target is timed at all, on the right machine; for GPUs, whether one is here."""
    if setting.target.name == "cuda":
        from perfdojo.toolchains.cuda.gpu import find_gpu

        return not find_gpu()
    return setting.target.name in (*CLOCKED, "snitch")


def records_path() -> Path:
    """Return the file of records: that of this user, or what PERFDOJO_RECORDS says."""
    from perfdojo.toolchains.places import find_places

    if named := os.environ.get("PERFDOJO_RECORDS"):
        return Path(named)
    return find_places().data / "records.sqlite"


def problem_of(
    bound: Program, setting: Setting, threads: int = 1, cores: int = 0
) -> tuple[Problem, MakesRunner]:
    """Return what is tuned, and what makes its runner for a seed, and a tolerance if there is one.

    Raises:
        MissingTool: no compiler.
        PerfDojoError: the target cannot be timed here.
    """
    name = setting.target.name
    if name == "snitch":
        return _snitch(bound, setting, cores)
    if name == "cuda":
        return _cuda(bound, setting)
    from perfdojo.toolchains.host import find_host
    from perfdojo.tuning.runners.host import HostRunner

    host = find_host()
    missing = host.cpu.missing(setting.target.features)
    if not is_timed(setting) or missing:
        lacks = f": this CPU has no {', '.join(missing)}" if missing else ""
        raise PerfDojoError(
            f"target {name} is not timed here{lacks}",
            hint=HINT,
        )
    setting = narrowed(bound, setting)
    facts = (("cpu", host.cpu.model), ("cores", str(host.cpu.cores)), ("compiler", host.compiler.version))
    problem = Problem(bound, setting, threads, facts)
    return problem, lambda seed, tolerance=None: HostRunner(problem, host, seed, tolerance)


def narrowed(bound: Program, setting: Setting) -> Setting:
    """Return a setting without extensions that have nothing for a kernel's types: its code is the same."""
    types = {b.dtype.name for b in bound.buffers}
    if not setting.target.isa or types & NARROW:
        return setting
    return replace(setting, target=get_target(setting.target.name))


def _snitch(bound: Program, setting: Setting, cores: int) -> tuple[Problem, MakesRunner]:
    from perfdojo.toolchains.snitch.gcc import find_tools
    from perfdojo.tuning.runners.snitch import SnitchRunner

    tools = find_tools()
    facts = (("simulator", "builtin"), ("compiler", tools.compiler.version))
    problem = Problem(bound, setting, cores, facts, "cycles")
    return problem, lambda seed, tolerance=None: SnitchRunner(problem, tools, seed, tolerance)


def _cuda(bound: Program, setting: Setting) -> tuple[Problem, MakesRunner]:
    from perfdojo.toolchains.cuda.gpu import architecture, facts, find_gpu
    from perfdojo.toolchains.cuda.nvcc import FLAGS, find_nvcc
    from perfdojo.toolchains.host import find_host
    from perfdojo.tuning.runners.cuda import CudaRunner

    if why := find_gpu():
        message = "target cuda is not timed here: searches on it measure on a GPU, and there is none to use"
        raise PerfDojoError(f"{message} ({why})", hint=HINT)
    nvcc, host, name = find_nvcc(), find_host(), architecture()
    compiled = (("architecture", name), ("compiler", nvcc.version), ("flags", " ".join(FLAGS)))
    problem = Problem(bound, setting, 1, (*facts(), *compiled))
    return problem, lambda seed, tolerance=None: CudaRunner(problem, host, nvcc, name, seed, tolerance)
