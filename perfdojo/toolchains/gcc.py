"""The host's gcc: where it is, what it can do, the flags we give it."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import MissingTool

PACKAGE = "gcc"
LIBRARY_PACKAGE = "libc6-dev"

WARNING_FLAGS = ("-Wall", "-Wextra")

QUERY_LIMITS = Limits(wall_s=20.0)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A gcc that was found and asked.

    Attributes:
        path: the program as found, not resolved: a link may stand for a wrapper.
        version: first line of --version.
        machine: what it compiles for (x86_64-linux-gnu).
        flags: with which it does, in front of all others.
    """

    path: Path
    version: str
    machine: str
    flags: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Text that differs between compilers whose output may differ."""
        return "\n".join((str(self.path), self.version, self.machine, *self.flags))

    @property
    def kind(self) -> str:
        """The kind of machine it compiles for, as `uname -m` prints it: x86_64."""
        return self.machine.split("-")[0]


def find_compiler(compiler: str = "gcc", package: str = PACKAGE, flags: tuple[str, ...] = ()) -> Compiler:
    """Return the compiler called `compiler`, a name in PATH or a path.

    Raises:
        MissingTool: it is not there; names the Debian package that holds it.
    """
    found = shutil.which(compiler)
    if found is None:
        raise MissingTool(compiler, package)
    path = Path(found).resolve()
    state = path.stat()
    return _ask(Path(found), package, flags, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _ask(path: Path, package: str, flags: tuple[str, ...], _mtime_ns: int, _size: int) -> Compiler:
    """Run the compiler for its version; remembered until the file changes."""
    version = run([str(path), "--version"], QUERY_LIMITS)
    machine = run([str(path), *flags, "-dumpmachine"], QUERY_LIMITS)
    if version.outcome != "ok" or not version.stdout.strip():
        raise MissingTool(f"a working {path}", package)
    return Compiler(path, version.stdout.splitlines()[0].strip(), machine.stdout.strip(), flags)


@lru_cache(maxsize=256)
def accepts(compiler: Compiler, *flags: str) -> bool:
    """Whether the compiler takes these flags for C, asked by compiling nothing."""
    return (
        run([str(compiler.path), *compiler.flags, *flags, "-E", "-x", "c", "/dev/null"], QUERY_LIMITS).outcome
        == "ok"
    )


@lru_cache(maxsize=16)
def accepts_cxx(compiler: Compiler) -> bool:
    """Whether it compiles C++ too, with the headers of its library."""
    command = [str(compiler.path), "-fsyntax-only", "-x", "c++", "-include", "vector", "/dev/null"]
    return run(command, QUERY_LIMITS).outcome == "ok"


@lru_cache(maxsize=16)
def known_architectures(compiler: Compiler) -> tuple[str, ...]:
    """The values that it lists for -march=, sorted; () when it does not say."""
    text = run([str(compiler.path), "-Q", "--help=target"], QUERY_LIMITS).stdout
    match = re.search(r"[Vv]alid arguments for -march= option:\s*\n((?:[ \t]+\S.*\n?)+)", text)
    if match is None:
        match = re.search(r"Known.* architectures.*-march=.*:\s*\n((?:[ \t]+\S.*\n?)+)", text)
    return tuple(sorted(set(match.group(1).split()))) if match else ()


def native_flags(compiler: Compiler) -> tuple[str, ...]:
    """The flags that make code for this very processor."""
    for flag in ("-march=native", "-mcpu=native"):
        if accepts(compiler, flag):
            return (flag,)
    return ()


def runs_here(compiler: Compiler) -> bool:
    """Whether it makes code for this kind of machine."""
    return compiler.kind == platform.machine()
