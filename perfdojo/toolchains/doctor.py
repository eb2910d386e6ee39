"""`--doctor`: what this machine can do for perfdojo, what is missing, and what to do about it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from perfdojo.toolchains.builds import BuildRequest, build_files
from perfdojo.toolchains.cpu import Cpu, read_cpu
from perfdojo.toolchains.cross import examine_cross
from perfdojo.toolchains.cuda.doctor import examine_cuda
from perfdojo.toolchains.gcc import accepts, find_compiler
from perfdojo.toolchains.harness import Host, harness_program
from perfdojo.toolchains.places import Places, find_places, try_writing
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.roofline import Roofline, find_roofline, load_roofline
from perfdojo.toolchains.snitch.doctor import examine_snitch

State = Literal["ok", "missing", "limited"]

PACKAGES = (
    "lark",
    "jinja2",
    "numpy",
    "ml_dtypes",
    "pyelftools",
    "islpy",
    "rich",
    "shtab",
    "platformdirs",
)
"""Distributions that perfdojo depends on, as pyproject.toml lists them."""

FEATURES = (("avx2", "avx2"), ("fma", "avx2"), ("f16c", "avx2"), ("avx512f", "avx512"))
"""CPU features and the target that needs each."""

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
FAST_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock")
BUSY_LOAD = 0.5

_OPENMP = """#include <omp.h>
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 8; i++) sum += i;
    return sum == 28 && omp_get_max_threads() > 0 ? 0 : 1;
}
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: what was looked at, how it is, one sentence, and what to do ("" if nothing)."""

    name: str
    state: State
    text: str
    fix: str = ""


def examine(
    measure: bool = False,
    remeasure: bool = False,
    compiler: str = "gcc",
    cpu: Cpu | None = None,
    try_write: Callable[[Path], str] = try_writing,
    clock: Path = CLOCK,
    governor: Path = GOVERNOR,
) -> list[Finding]:
    """Look at everything; never raises for what it finds.

    Args:
        measure: take the figures of the machine if there are none yet (ten seconds).
        remeasure: take them anew.
        compiler, cpu, try_write, clock, governor: what to look at, for tests.
    """
    cpu = cpu or read_cpu()
    findings = [*_python(), *_cpu(cpu)]
    places, more = _places(try_write)
    findings += more
    host, more = _compiler(compiler, cpu, places)
    findings += more
    found = host.compiler if host else None
    findings += [Finding(*line) for line in examine_snitch(found, cpu, places)]
    findings += [Finding(*line) for line in examine_cross()]
    findings += [Finding(*line) for line in examine_cuda(found)]
    findings += [_clock(clock), _governor(governor)]
    findings.append(_limits(host, cpu, places, measure, remeasure))
    return findings


def _python() -> list[Finding]:
    found = [Finding("python", "ok", f"{platform.python_implementation()} {platform.python_version()}")]
    have, lack = [], []
    for name in PACKAGES:
        try:
            have.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lack.append(name)
    if have:
        found.append(Finding("packages", "ok", ", ".join(have)))
    if lack:
        fix = f"python -m pip install {' '.join(lack)}"
        found.append(Finding("packages", "missing", f"not installed: {', '.join(lack)}", fix))
    return found


def _cpu(cpu: Cpu) -> list[Finding]:
    sizes = ", ".join(f"L{c.level} {_binary(c.size_bytes)}" for c in cpu.caches) or "caches unknown"
    cores = f"{cpu.cores} core{'s' if cpu.cores != 1 else ''}"
    found = [Finding("cpu", "ok", f"{cpu.model}, {cores}, {sizes}")]
    have = [f for f, _ in FEATURES if cpu.has(f)]
    if have:
        found.append(Finding("features", "ok", ", ".join(have)))
    for target in sorted({t for _, t in FEATURES}):
        lack = [f for f, t in FEATURES if t == target and not cpu.has(f)]
        if lack:
            text = f"this CPU has no {', '.join(lack)}: target {target} is checked by emulation, not timed"
            found.append(Finding("features", "limited", text))
    return found


def _places(try_write: Callable[[Path], str]) -> tuple[Places | None, list[Finding]]:
    try:
        places = find_places(try_write=try_write)
    except OSError as error:
        why = error.strerror or str(error)
        text = f"no folder can be written to, not even a temporary one ({why})"
        return None, [
            Finding("folders", "missing", text, "set TMPDIR to a folder of yours, with space in it")
        ]
    notes = {what: n for n in places.notes for what in ("cache", "data") if n.startswith(f"the {what} ")}
    fix = "make it writable, or set XDG_CACHE_HOME and XDG_DATA_HOME to folders of yours"
    return places, [
        Finding(what, "limited", notes[what], fix) if what in notes else Finding(what, "ok", str(folder))
        for what, folder in (("cache", places.cache), ("data", places.data))
    ]


def _compiler(name: str, cpu: Cpu, places: Places | None) -> tuple[Host | None, list[Finding]]:
    """Find the compiler, build the harness and a program with OpenMP."""
    try:
        compiler = find_compiler(name)
        found = [Finding("gcc", "ok", f"{compiler.version}, {compiler.path}")]
        if cpu.has("avx2") and not accepts(compiler, "-mavx512f"):
            found.append(Finding("gcc", "limited", "it does not know -mavx512f", "install gcc 9 or newer"))
        if places is None:
            return None, found
        host = Host(compiler, cpu, places)
        made = harness_program(host)
        if isinstance(made, Failure):
            return None, [*found, Finding("gcc", "limited", made.text, f"see {made.folder}")]
        return host, [*found, _openmp(host)]
    except MissingTool as error:
        return None, [Finding("gcc", "missing", error.message, error.hint)]
    except OSError as error:
        return None, [Finding("gcc", "limited", f"nothing can be built: {error.strerror or error}")]


def _openmp(host: Host) -> Finding:
    request = BuildRequest("openmp", "executable", (("openmp.c", _OPENMP),), ("-fopenmp",))
    made = build_files(request, host.compiler, host.cpu, host.places)
    if isinstance(made, Failure):
        text = "code with -fopenmp does not build: kernels run on one thread only"
        return Finding("openmp", "limited", text, "apt-get install libgomp1 gcc")
    return Finding("openmp", "ok", "-fopenmp builds")


def _clock(path: Path) -> Finding:
    name = _read(path)
    if not name:
        return Finding("clock", "ok", "the system does not say which clock it reads")
    if name in FAST_CLOCKS:
        return Finding("clock", "ok", name)
    fix = "boot with clocksource=tsc if the CPU's counter is reliable"
    return Finding("clock", "limited", f"{name} is slow to read: short times are less exact", fix)


def _governor(path: Path) -> Finding:
    name = _read(path)
    if not name:
        return Finding("frequency", "ok", "the system does not say who sets it")
    if name == "performance":
        return Finding("frequency", "ok", "governor performance")
    text = f"governor {name} changes it while a kernel is timed"
    return Finding("frequency", "limited", text, "cpupower frequency-set -g performance")


def _limits(host: Host | None, cpu: Cpu, places: Places | None, measure: bool, remeasure: bool) -> Finding:
    kept = load_roofline(cpu, places) if places and not remeasure else None
    again = "perfdojoc --doctor --remeasure, on an idle machine"
    if kept is None and host is None:
        return Finding("limits", "limited", "measuring them needs gcc")
    if kept is None and not (measure or remeasure):
        return Finding("limits", "limited", "not measured yet", "perfdojoc --doctor measures them")
    if kept is None and host is not None:
        try:
            made = find_roofline(host, remeasure)
        except (OSError, MissingTool) as error:
            return Finding("limits", "limited", f"they cannot be measured: {error}")
        if isinstance(made, Failure):
            return Finding("limits", "limited", made.text, again)
        kept = made
    assert kept is not None
    if kept.load > BUSY_LOAD:
        busy = f"{_figures(kept)}; measured while others were running (load {kept.load:.1f})"
        return Finding("limits", "limited", busy, again)
    return Finding("limits", "ok", _figures(kept))


def _figures(r: Roofline) -> str:
    """Peaks and bandwidths of one thread and of all."""
    parts = []
    for threads in sorted({rate.threads for rate in r.rates}):
        peaks = ", ".join(f"{t} {r.peak(t, threads) / 1e9:.0f}" for t in ("f32", "f64", "i32", "i8"))
        near = max((s.per_second for s in r.streams if s.threads == threads), default=0.0)
        far = r.bandwidth(float("inf"), 1.0, threads)
        who = "1 thread" if threads == 1 else f"{threads} threads"
        parts.append(f"{who}: {peaks} Gop/s, L1 {near / 1e9:.0f} GB/s, memory {far / 1e9:.0f} GB/s")
    return "; ".join(parts)


def _binary(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
