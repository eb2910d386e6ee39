"""What processor this is: model, features, caches, which processors share a core."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path

PROC_CPUINFO = Path("/proc/cpuinfo")
SYSFS_CPU = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True)
class Cache:
    """One data cache, as the first processor sees it.

    Attributes:
        level: 1 is nearest.
        size_bytes: of one instance.
        shared_by: number of processors that share an instance.
    """

    level: int
    size_bytes: int
    shared_by: int


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor.

    Attributes:
        model: name as the system gives it.
        features: instruction set extensions in the spelling of /proc/cpuinfo.
        processors: numbers of the processors this process may use; those of different cores come
            before those that share a core with one already listed, high numbers first.
        cores: number of cores among them.
        caches: data and unified caches, nearest first.
    """

    model: str
    features: frozenset[str]
    processors: tuple[int, ...]
    cores: int
    caches: tuple[Cache, ...] = ()

    def has(self, feature: str) -> bool:
        """Whether `feature` is there; avx512vnni and avx512_vnni are the same."""
        wanted = _plain(feature)
        return any(_plain(f) == wanted for f in self.features)

    def missing(self, required: tuple[str, ...]) -> tuple[str, ...]:
        """The features of `required` that are not there."""
        return tuple(f for f in required if not self.has(f))

    @property
    def last_cache_bytes(self) -> int:
        """Size of the largest cache level, all levels before it added; 0 when unknown."""
        return sum(c.size_bytes for c in self.caches)

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that differ between processors for which native code differs."""
        text = "\n".join((self.model, platform.machine(), *sorted(self.features)))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_cpu(cpuinfo: Path = PROC_CPUINFO, sysfs: Path = SYSFS_CPU) -> Cpu:
    """Return what the system says about its processor; what cannot be read is left empty, nothing raises."""
    first = _first_processor(cpuinfo)
    model = first.get("model name") or first.get("Model") or platform.processor() or platform.machine()
    words = (first.get("flags") or first.get("Features") or "").split()
    features = frozenset(words or _extensions(first.get("isa", "")))
    allowed = _allowed()
    siblings = {p: _list(sysfs / f"cpu{p}" / "topology" / "thread_siblings_list") or (p,) for p in allowed}
    ordered = sorted(allowed, key=lambda p: (siblings[p].index(p) if p in siblings[p] else 0, -p))
    cores = len({siblings[p] for p in allowed})
    return Cpu(model.strip(), features, tuple(ordered), cores, _caches(sysfs / "cpu0" / "cache"))


def _extensions(isa: str) -> list[str]:
    """The extensions in the name of a RISC-V instruction set: rv64imafdcv_zicsr."""
    base, *more = isa.lower().split("_")
    return [*base.removeprefix("rv32").removeprefix("rv64"), *more]


def _plain(feature: str) -> str:
    return feature.replace("_", "").replace(".", "").lower()


def _allowed() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _first_processor(cpuinfo: Path) -> dict[str, str]:
    """The `key : value` lines of the first paragraph."""
    text = _read(cpuinfo)
    pairs = (line.split(":", 1) for line in text.split("\n\n", 1)[0].splitlines() if ":" in line)
    return {k.strip(): v.strip() for k, v in pairs}


def _caches(folder: Path) -> tuple[Cache, ...]:
    found = []
    for index in sorted(folder.glob("index*")):
        size = _size(_read(index / "size"))
        level = _read(index / "level").strip()
        if _read(index / "type").strip() == "Instruction" or not size or not level.isdigit():
            continue
        found.append(Cache(int(level), size, len(_list(index / "shared_cpu_list")) or 1))
    return tuple(sorted(found, key=lambda c: c.level))


def _size(text: str) -> int:
    """Bytes of a size such as 32K; 0 when it cannot be read."""
    text = text.strip()
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 0)
    digits = text[:-1] if unit else text
    return int(digits) * (unit or 1) if digits.isdigit() else 0


def _list(path: Path) -> tuple[int, ...]:
    """The numbers of a list such as 0-3,8."""
    numbers: list[int] = []
    for part in _read(path).strip().split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (high.isdigit() or not high):
            numbers.extend(range(int(low), int(high or low) + 1))
    return tuple(numbers)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
