"""Build files with a compiler, once: results are kept in a cache by content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join
from typing import Literal

from perfdojo.toolchains.cpu import Cpu
from perfdojo.toolchains.gcc import LIBRARY_PACKAGE, Compiler
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Failure, MissingTool

Kind = Literal["shared", "executable", "assembly", "object", "headers", "cubin", "gpu-library"]
Files = tuple[tuple[str, str], ...]

COMPILE_LIMITS = Limits(
    wall_s=120.0, memory_bytes=8 << 30, output_bytes=1 << 20, file_bytes=1 << 30, processes=16
)
KEEP_BYTES = 2 << 30
KEEP_SECONDS = 3600.0
KEEP_FAILED = 200
"""Folders of failed builds: a search may make thousands."""

_KIND_FLAGS = {
    "shared": ("-shared", "-fPIC"),
    "executable": (),
    "assembly": ("-S", "-fverbose-asm"),
    "object": ("-c", "-fPIC"),
    "headers": ("-fPIC", "-x", "c-header"),
    "cubin": ("-cubin",),
    "gpu-library": ("-shared", "-Xcompiler", "-fPIC"),
}
_RESULT = {
    "shared": "kernel.so",
    "executable": "program",
    "assembly": "kernel.s",
    "object": "kernel.o",
    "headers": "system-headers.h.gch",
    "cubin": "kernel.cubin",
    "gpu-library": "kernel.so",
}
_ONE_SOURCE = ("assembly", "object", "headers", "cubin")
_SOURCES = (".c", ".S", ".cc", ".cu")
_SYSTEM_HEADERS = re.compile(r"fatal error: (?:std\w+|math|string|inttypes|time)\.h: No such file")


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build; equal requests give the same file.

    Attributes:
        name: for people, part of the folder of a failed build.
        files: (file name, text); those that end in .c, .S, .cc or .cu are compiled, where one file is made of
            one (assembly, object, headers, cubin) only the first; of headers those that end in .h.
        flags, links: for the compiler, in this order around the sources.
        before: headers in a folder that precedes the system's.
    """

    name: str
    kind: Kind
    files: Files
    flags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    before: Files = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the files to compile."""
        ends = (".h",) if self.kind == "headers" else _SOURCES
        found = tuple(n for n, _ in self.files if n.endswith(ends))
        return found[:1] if self.kind in _ONE_SOURCE else found


@dataclass(frozen=True, slots=True)
class Artifact:
    """A finished build.

    Attributes:
        path: library, program or assembly text, in the cache.
        command: as it was run, in the folder of `path`.
        warnings: what the compiler said.
        cached: whether it was there already.
    """

    path: Path
    command: str
    warnings: str
    cached: bool


def find_built(request: BuildRequest, compiler: Compiler, cpu: Cpu, places: Places) -> Artifact | None:
    """Return what an equal request built before, None when none did."""
    key = _key(request, compiler, cpu)
    final = places.cache / "builds" / key[:2] / key
    if not (final / "done").exists():
        return None
    with suppress(OSError):
        os.utime(final)
    return _artifact(final, request, cached=True)


def build_files(
    request: BuildRequest, compiler: Compiler, cpu: Cpu, places: Places, limits: Limits = COMPILE_LIMITS
) -> Artifact | Failure:
    """Build, or return what an equal request built before.

    Safe when many processes build the same: each works in a folder of its own, the first one to finish
    gives its folder the final name. A failed build is kept below `failed/`, but for what it made, and tried
    again next time; the latest KEEP_FAILED are kept.

    Raises:
        MissingTool: the headers of the C library are not installed.
    """
    key = _key(request, compiler, cpu)
    final = places.cache / "builds" / key[:2] / key
    if found := find_built(request, compiler, cpu, places):
        return found
    final.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="work-", dir=final.parent))
    try:
        finished, command = _compile(request, compiler, work, limits)
        if finished.outcome != "ok" or not (work / _RESULT[request.kind]).exists():
            kept = places.cache / "failed" / f"{request.name}-{key[:12]}"
            return _failure(request, compiler.path.name, finished, work, kept)
        (work / "command.txt").write_text(command + "\n")
        (work / "done").write_text(finished.stderr)
        with suppress(OSError):  # another process was first: its result is as good
            work.rename(final)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if key.startswith("00"):
        prune(places, keep_bytes=KEEP_BYTES)
    return _artifact(final, request, cached=False)


def prune(places: Places, keep_bytes: int, keep_seconds: float = KEEP_SECONDS) -> int:
    """Delete the builds that were not used for longest until `keep_bytes` are left; return how many.

    Those used in the last `keep_seconds` stay, as somebody may be about to load them.
    """
    entries = []
    for folder in (places.cache / "builds").glob("*/*"):
        with suppress(OSError):
            size = sum(f.lstat().st_size for f in folder.rglob("*"))
            entries.append((folder.stat().st_mtime, size, folder))
    total = sum(size for _, size, _ in entries)
    deleted = 0
    for used, size, folder in sorted(entries, key=lambda e: e[0]):
        if total <= keep_bytes or time.time() - used < keep_seconds:
            break
        shutil.rmtree(folder, ignore_errors=True)
        total -= size
        deleted += 1
    return deleted


def _key(request: BuildRequest, compiler: Compiler, cpu: Cpu) -> str:
    """Digest of all that the result depends on; native code depends on the processor too."""
    native = cpu.fingerprint if any(f.endswith("=native") for f in request.flags) else ""
    content = replace(request, name="")
    return hashlib.sha256("\0".join((compiler.identity, native, repr(content))).encode()).hexdigest()


def _compile(request: BuildRequest, compiler: Compiler, work: Path, limits: Limits) -> tuple[Finished, str]:
    """Write the files into `work` and run the compiler there; return how it ended, and the command."""
    _write(work, request.files)
    before: tuple[str, ...] = ()
    if request.before:
        _write(work / "before", request.before)
        before = ("-Ibefore",)
    temporary = work / "temporary"
    temporary.mkdir()
    command = [
        str(compiler.path),
        *compiler.flags,
        *before,
        *request.flags,
        *_KIND_FLAGS[request.kind],
        "-o",
        _RESULT[request.kind],
        *request.sources,
        *request.links,
    ]
    env = {**os.environ, "LC_ALL": "C", "TMPDIR": str(temporary)}
    finished = run(command, limits, cwd=work, env=env)
    shutil.rmtree(temporary, ignore_errors=True)
    return finished, join(command)


def _write(folder: Path, files: Files) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files:
        if Path(name).name != name:
            raise ValueError(f"file name {name!r} has a folder in it")
        (folder / name).write_text(text, encoding="utf-8")


def _artifact(folder: Path, request: BuildRequest, cached: bool) -> Artifact:
    return Artifact(
        folder / _RESULT[request.kind],
        (folder / "command.txt").read_text().strip(),
        (folder / "done").read_text(),
        cached,
    )


def _failure(request: BuildRequest, compiler: str, finished: Finished, work: Path, kept: Path) -> Failure:
    """Keep the folder of a failed build under a name that says what it is."""
    message = finished.stderr + (f"\n{finished.note}\n" if finished.note else "")
    if _SYSTEM_HEADERS.search(message):
        raise MissingTool("the headers of the C library", LIBRARY_PACKAGE)
    (work / "message.txt").write_text(message)
    with suppress(FileNotFoundError):
        (work / _RESULT[request.kind]).unlink()
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(kept, ignore_errors=True)
    with suppress(OSError):
        work.rename(kept)
    _keep_latest(kept.parent, KEEP_FAILED)
    lines = error_lines(message.splitlines())
    if finished.outcome == "timeout":
        return Failure("timeout", f"{compiler} on {request.name}: {finished.note}", kept, lines)
    if finished.outcome == "out-of-memory":
        return Failure("out-of-memory", f"{compiler} on {request.name}: {finished.note}", kept, lines)
    if finished.outcome == "crash":
        why = f"{finished.signal}: {finished.note}" if finished.note else finished.signal
        return Failure(
            "compile-error", f"{compiler} crashes on the code of {request.name}: {why}", kept, lines
        )
    first = finished.note or (lines[0] if lines else f"exit status {finished.code}")
    return Failure("compile-error", f"{compiler} rejects the code of {request.name}: {first}", kept, lines)


def _keep_latest(folder: Path, count: int) -> None:
    """Delete all folders in one but the latest ones."""
    found = []
    for path in folder.iterdir():
        with suppress(OSError):
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found)[:-count]:
        shutil.rmtree(path, ignore_errors=True)


def error_lines(message: Sequence[str], count: int = 5) -> tuple[str, ...]:
    """The first lines of a compiler's message that name an error; the first lines of all when none does."""
    named = [m for m in message if re.search(r"\b(error|undefined reference)\b", m)]
    return tuple((named or [m for m in message if m.strip()])[:count])
