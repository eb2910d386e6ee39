"""What this machine can do at best, measured once and kept: the limit that a time is compared with."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cpu import Cache, Cpu
from perfdojo.toolchains.gcc import WARNING_FLAGS, native_flags
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import Failure, Outcome

VERSION = 2
ROOFLINE_FILES = ("roofline.c", "rates.h", "streams.h")
FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=fast",
    "-fno-tree-vectorize",
    "-fno-tree-loop-distribute-patterns",
    "-pthread",
)
LIMITS = Limits(wall_s=60.0, processes=1)

SHARES = {"write": 0.0, "copy": 1 / 2, "triad": 2 / 3, "read": 1.0}
"""Part of the bytes of each access that is read."""

RATE_OF = {"f16": "f32", "bf16": "f32", "i64": "i32", "i16": "i8", "u8": "i8", "bool": "i8"}
"""The measured type whose rate bounds that of another: the one it becomes, or the next smaller one."""

LARGEST_BYTES = 1 << 30


class Limit(NamedTuple):
    """Least time of a kernel: seconds, what sets it, one sentence with the figures."""

    seconds: float
    bound: Literal["compute", "memory"]
    text: str


@dataclass(frozen=True, slots=True)
class Rate:
    """Operations a second of `threads` threads, a multiply-add counts 2; `width` is bytes of a vector."""

    threads: int
    type: str
    width: int
    per_second: float


@dataclass(frozen=True, slots=True)
class Stream:
    """Bytes a second of `threads` threads at a working set of `bytes`, in all threads together.

    `access` is a key of `SHARES`, with "-direct" behind it where stores pass by the caches.
    """

    threads: int
    access: str
    bytes: int
    per_second: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """The measured limits of one CPU, for one thread and for one on each core.

    `load` is the number of programs that were running when it was measured (the load average of a minute).
    """

    model: str
    rates: tuple[Rate, ...]
    streams: tuple[Stream, ...]
    load: float = 0.0

    def peak(self, dtype: str, threads: int) -> float:
        """Operations a second on `dtype` with the widest vectors; 0 when the type was not measured.

        Between the measured numbers of threads it grows with their number, up to the next measured one.
        """
        wanted = RATE_OF.get(dtype, dtype)
        best: dict[int, float] = {}
        for r in self.rates:
            if r.type == wanted:
                best[r.threads] = max(best.get(r.threads, 0.0), r.per_second)
        if not best and wanted == "i8":
            return self.peak("i32", threads)
        return _at_threads(best, threads)

    def bandwidth(self, footprint: float, read_share: float, threads: int) -> float:
        """Bytes a second at a footprint in bytes, of which `read_share` is read; math.inf means memory.

        The better kind of store at each share; between sizes linear in their logarithm, between shares linear
        in the time of a byte.
        """
        return _at_threads(
            {t: self._bandwidth(footprint, read_share, t) for t in {s.threads for s in self.streams}}, threads
        )

    def _bandwidth(self, footprint: float, read_share: float, threads: int) -> float:
        points = []
        for access, share in SHARES.items():
            best: dict[int, float] = {}
            for s in self.streams:
                if s.threads == threads and s.access.removesuffix("-direct") == access:
                    best[s.bytes] = max(best.get(s.bytes, 0.0), s.per_second)
            curve = [(math.log(size), value) for size, value in sorted(best.items())]
            points.append((share, 1 / _interpolate(curve, math.log(max(footprint, 1)))))
        return 1 / _interpolate(points, read_share)

    def limit(
        self, flops: float, bytes: float, read_share: float, footprint: float, threads: int, dtype: str
    ) -> Limit:
        """Return the least time for `flops` operations on `dtype` and `bytes` of traffic."""
        peak = self.peak(dtype, threads)
        speed = self.bandwidth(footprint, read_share, threads)
        compute_s = flops / peak if peak else 0.0
        memory_s = bytes / speed
        if compute_s > memory_s:
            return Limit(compute_s, "compute", f"{peak / 1e9:.0f} G {dtype} operations/s")
        return Limit(memory_s, "memory", f"{_size(footprint)} at {speed / 1e9:.0f} GB/s")


def _size(bytes: float) -> str:
    """Return a footprint in KiB, MiB or GiB."""
    value, units = bytes / 1024, ["KiB", "MiB", "GiB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.3g} {units[0]}"


def roofline_program(host: Host) -> Artifact | Failure:
    """Build the program that measures, or return the one in the cache."""
    folder = files("perfdojo") / "templates" / "roofline"
    texts = tuple((name, (folder / name).read_text(encoding="utf-8")) for name in ROOFLINE_FILES)
    flags = (*FLAGS, *WARNING_FLAGS, *native_flags(host.compiler))
    request = BuildRequest("roofline", "executable", texts, flags)
    return build_files(request, host.compiler, host.cpu, host.places)


def measure_roofline(host: Host) -> Roofline | Failure:
    """Measure this machine with one thread and with one on each core: about ten seconds."""
    made = roofline_program(host)
    if isinstance(made, Failure):
        return made
    result = Roofline(host.cpu.model, (), (), _load())
    for threads in sorted({1, host.cpu.cores}):
        cpus = ",".join(map(str, host.cpu.processors[:threads]))
        sizes = [str(s) for s in working_sets(host.cpu.caches, threads)]
        with alone():
            finished = run([str(made.path), cpus, *sizes], LIMITS)
        found = _parse(finished.stdout, threads) if finished.outcome == "ok" else None
        if found is None:
            why = finished.note or finished.signal or finished.stderr.strip() or finished.outcome
            outcome: Outcome = "crash" if finished.outcome == "crash" else "not-runnable"
            return Failure(outcome, f"the roofline program gave no figures: {why}", made.path.parent, ())
        rates, streams = found
        result = replace(result, rates=(*result.rates, *rates), streams=(*result.streams, *streams))
    return result


def find_roofline(host: Host, remeasure: bool = False) -> Roofline | Failure:
    """Return the figures kept for this CPU, or measure them and keep them where that is possible."""
    kept = None if remeasure else load_roofline(host.cpu, host.places)
    if kept is not None:
        return kept
    made = measure_roofline(host)
    if isinstance(made, Roofline):
        with suppress(OSError):
            store_roofline(made, host.cpu, host.places)
    return made


def limit_of(host: Host, emitted: EmittedSource, threads: int = 1, cache: str = "hot") -> Limit | None:
    """Return the least time of a kernel here, measuring the machine if need be; None when that fails.

    With a cold cache all traffic is to memory. Operations on floats count as those of the fastest float type
    among the arguments (f32 without one), those on integers as of the fastest integer type (i32 without one).
    """
    roofline = find_roofline(host)
    if isinstance(roofline, Failure):
        return None
    types = sorted({a.dtype for a in emitted.arguments})
    floats = [t for t in types if DTYPES[t].is_float] or ["f32"]
    integers = [t for t in types if DTYPES[t].is_integer] or ["i32"]
    footprint = math.inf if cache == "cold" else emitted.footprint_bytes

    def limit(operations: int, kinds: list[str]) -> Limit:
        fastest = max(kinds, key=lambda t: roofline.peak(t, threads))
        return roofline.limit(operations, emitted.bytes, emitted.read_share, footprint, threads, fastest)

    return max(limit(emitted.flops, floats), limit(emitted.integer_ops, integers), key=lambda m: m.seconds)


def working_sets(caches: Sequence[Cache], threads: int) -> tuple[int, ...]:
    """Bytes to measure at: within each cache level, at its size, and well beyond the last one."""
    sizes: set[int] = set()
    last = 8 << 20
    for c in caches:
        last = c.size_bytes * max(1, math.ceil(threads / c.shared_by))
        sizes |= {last // 2, last}
    sizes |= {last // 4, min(max(4 * last, 64 << 20), LARGEST_BYTES)}
    return tuple(sorted(s for s in sizes if s <= LARGEST_BYTES))


def stored_path(cpu: Cpu, places: Places) -> Path:
    """Where the figures of this CPU are kept."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", cpu.model).strip("-").lower() or "cpu"
    return places.data / "roofline" / f"{name}-{cpu.cores}x-{cpu.fingerprint}.json"


def load_roofline(cpu: Cpu, places: Places) -> Roofline | None:
    """Return the figures kept for this CPU; None when there are none, or none that can be read."""
    try:
        stored = json.loads(stored_path(cpu, places).read_text())
        if stored["version"] != VERSION:
            return None
        rates = tuple(Rate(**r) for r in stored["rates"])
        streams = tuple(Stream(**s) for s in stored["streams"])
        return Roofline(stored["model"], rates, streams, float(stored["load"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store_roofline(roofline: Roofline, cpu: Cpu, places: Places) -> Path:
    """Keep the figures, replacing older ones at once; OSError when they cannot be written."""
    path = stored_path(cpu, places)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump({"version": VERSION, **asdict(roofline)}, file, indent=1)
    os.replace(file.name, path)
    return path


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def _parse(text: str, threads: int) -> tuple[tuple[Rate, ...], tuple[Stream, ...]] | None:
    try:
        found: Mapping[str, Any] = json.loads(text)
        rates = tuple(Rate(threads=threads, **r) for r in found["rates"])
        return rates, tuple(Stream(threads=threads, **s) for s in found["streams"])
    except (ValueError, KeyError, TypeError):
        return None


def _at_threads(measured: Mapping[int, float], threads: int) -> float:
    """The value for `threads`: in proportion from the next smaller number, up to the next larger one's."""
    if not measured:
        return 0.0
    # More threads cannot do less: a smaller figure was disturbed.
    grown = {t: max(v for u, v in measured.items() if u <= t) for t in measured}
    below = max((t for t in grown if t <= threads), default=min(grown))
    above = min((t for t in grown if t >= threads), default=max(grown))
    return max(grown[below], min(grown[below] * threads / below, grown[above]))


def _interpolate(points: Sequence[tuple[float, float]], x: float) -> float:
    """Linear between the points, in order of the first number; constant outside of them."""
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]
