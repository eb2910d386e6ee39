"""Compilers and emulators for other kinds of machines than this one, told by the folder of a target here."""

from __future__ import annotations

import pkgutil
import platform
import shutil
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from perfdojo import toolchains
from perfdojo.toolchains.cpu import Cpu, read_cpu
from perfdojo.toolchains.gcc import find_compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.mca import Model
from perfdojo.toolchains.places import Places, find_places
from perfdojo.toolchains.results import MissingTool


@dataclass(frozen=True, slots=True)
class Cross:
    """How code for a kind of machine is built and run on another one.

    Attributes:
        machine: its name as `uname -m` prints it.
        compiler, package: the program, and the Debian packages that bring it and the C library.
        flags: with which it compiles for that machine.
        threads: it has an OpenMP library for that machine.
        emulator, emulator_package: runs a program of that machine, and what brings it.
        libraries: folder with the C library of that machine, for the emulator.
        emulator_options: choose the extensions that it emulates.
        models: processors of that kind for which throughput is estimated.
    """

    machine: str
    compiler: str
    package: str
    emulator: str
    emulator_package: str
    libraries: str
    emulator_options: tuple[str, ...] = ()
    models: tuple[Model, ...] = ()
    flags: tuple[str, ...] = ()
    threads: bool = True

    @property
    def native(self) -> bool:
        """Whether this machine is of that kind."""
        return platform.machine() == self.machine


def cross_of(target: str) -> Cross | None:
    """Return how code for a target is built elsewhere; None for one of this machine, or with its own ways."""
    name = f"perfdojo.toolchains.{target}"
    found: Cross | None = getattr(import_module(name), "CROSS", None) if find_spec(name) else None
    return found


def examine_cross() -> list[tuple[str, Literal["ok", "limited"], str, str]]:
    """Return what `--doctor` says of each of them: name, state, one sentence, what to do."""
    lines: list[tuple[str, Literal["ok", "limited"], str, str]] = []
    for target in sorted(m.name for m in pkgutil.iter_modules(toolchains.__path__) if m.ispkg):
        cross = cross_of(target)
        if cross is None or cross.native:
            continue
        try:
            host = find_cross(cross)
            lines.append((target, "ok", f"{host.compiler.version}, run by {host.emulator[0]}", ""))
        except MissingTool as error:
            done = "compiled" if _compiles(cross) else "emitted"
            text = f"{error.message}: kernels for {target} are {done}, not run"
            lines.append((target, "limited", text, error.hint))
    return lines


def _compiles(cross: Cross) -> bool:
    try:
        find_cross(cross, runs=False)
    except MissingTool:
        return False
    return True


def find_cross(cross: Cross, cpu: Cpu | None = None, places: Places | None = None, runs: bool = True) -> Host:
    """Return what builds and runs code for another kind of machine; without `runs` it need not run any.

    Raises:
        MissingTool: compiler, C library or emulator are not there; names the Debian packages.
    """
    emulator = shutil.which(cross.emulator)
    lacks = [(cross.compiler, cross.package)] if shutil.which(cross.compiler) is None else []
    if not lacks and not Path(cross.libraries, "include").is_dir():
        lacks = [(f"the C library for {cross.machine}", cross.package)]
    if emulator is None and runs:
        lacks.append((cross.emulator, cross.emulator_package))
    if lacks:
        tools, packages = zip(*lacks, strict=True)
        raise MissingTool(" and ".join(tools), " ".join(packages))
    compiler = find_compiler(cross.compiler, cross.package, cross.flags)
    command = (emulator, "-L", cross.libraries, *cross.emulator_options) if emulator else ()
    return Host(compiler, cpu or read_cpu(), places or find_places(), command)
