"""Targets by name, and the way from a bound program to source. A target is a folder here."""

from __future__ import annotations

import pkgutil
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from perfdojo.compiler.diagnostics import PerfDojoError, nearest

if TYPE_CHECKING:
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.compiler.ir import Program
    from perfdojo.compiler.lowering.target import FpLevel, Target
    from perfdojo.compiler.schedule import Scheduled

_SHARED = frozenset(("vectors", "x86"))
"""Folders that serve several targets and are none."""


def target_names() -> tuple[str, ...]:
    """Return the names of all targets, sorted; imports none of them."""
    folders = (m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)
    return tuple(sorted(n for n in folders if n not in _SHARED))


def host_targets() -> tuple[str, ...]:
    """Return the names of the targets whose code runs on this kind of machine, sorted."""
    return tuple(n for n in target_names() if get_target(n).machine in ("", platform.machine()))


def get_target(name: str) -> Target:
    """Return the description of a target.

    Args:
        name: of a target; some take extensions behind a colon: `snitch:div,no-simd`, `avx512:vnni`.
    Raises:
        PerfDojoError: there is no such target, or no such extension of it.
    """
    name, _, isa = name.partition(":")
    if name not in target_names():
        known = f"targets are {' '.join(target_names())}"
        raise PerfDojoError(f"no target '{name}'", hint=nearest(name, target_names()) or known)
    module = import_module(f"{__name__}.{name}")
    found: Target = module.TARGET
    if not isa:
        return found
    if not hasattr(module, "with_isa"):
        raise PerfDojoError(f"target {name} has no extensions to choose", hint="leave --isa out")
    varied: Target = module.with_isa(found, isa)
    return varied


def varied_targets() -> tuple[str, ...]:
    """Return the names of the targets with extensions to choose, sorted."""
    return tuple(n for n in target_names() if hasattr(import_module(f"{__name__}.{n}"), "with_isa"))


def extensions_of(name: str) -> Mapping[str, str]:
    """Return the extensions of a target for the host that code may be told to use, and their CPU features."""
    found: Mapping[str, str] = getattr(import_module(f"{__name__}.{name}"), "EXTENSIONS", {})
    return found


def planned(
    program: Program,
    target: str,
    *,
    fp: FpLevel = "reassoc",
    threads: int = 1,
    scheduled: Scheduled | None = None,
) -> Program:
    """Return a bound, verified program as it will be lowered: scheduled, else planned."""
    if scheduled is not None:
        return scheduled.program
    from perfdojo.compiler.plan import plan

    return plan(program, get_target(target), fp, threads)


def lowered(
    program: Program,
    target: str,
    *,
    fp: FpLevel = "reassoc",
    threads: int = 1,
    scheduled: Scheduled | None = None,
    cores: int = 0,
) -> str:
    """Return the target IR of a bound, verified program as text."""
    from perfdojo.compiler.lowering.lower import lower
    from perfdojo.compiler.lowering.text import render

    shown = planned(program, target, fp=fp, threads=threads, scheduled=scheduled)
    return render(lower(shown, get_target(target), fp, threads, cores))


def emit(
    program: Program,
    target: str,
    *,
    fp: FpLevel = "reassoc",
    threads: int = 1,
    scheduled: Scheduled | None = None,
    cores: int = 0,
) -> EmittedSource:
    """Return the source of a bound, verified program for a target.

    Args:
        threads: threads of @parallel scopes; with 1 the source needs no OpenMP.
        scheduled: what a schedule has made of the program, to be lowered as it is; else it is planned.
        cores: of a cluster, for @core scopes; 0: all that there are.
    Raises:
        PerfDojoError: there is no such target.
    """
    from perfdojo.backends.emission import EmitOptions
    from perfdojo.backends.emission import emit as emit_c

    described = get_target(target)
    module = import_module(f"{__name__}.{described.name}")
    made = planned(program, target, fp=fp, threads=threads, scheduled=scheduled)
    own = getattr(module, "emit", None)
    if own is not None:
        chosen = EmitOptions(program, module.FLAGS, scheduled=scheduled, cores=cores)
        written: EmittedSource = own(made, described, fp, chosen)
        return _with_own_notes(written, program, scheduled)
    printer = getattr(module, "vector_printer", None)
    emulation: tuple[tuple[str, str], ...] = getattr(module, "emulation", tuple)()
    options = EmitOptions(program, getattr(module, "FLAGS", ()), emulation, scheduled)
    written = emit_c(made, described, fp, threads, options, None if printer is None else printer())
    return _with_own_notes(written, program, scheduled)


def _with_own_notes(made: EmittedSource, program: Program, scheduled: Scheduled | None) -> EmittedSource:
    """Leave out notes on scopes that the planner marked: nobody asked for those marks."""
    from perfdojo.compiler.walk import scopes

    if scheduled is not None:
        return made
    asked = {s.name for s in scopes(program) if s.mark}
    scope = re.compile(r"scope (\w+):")
    kept = tuple(n for n in made.notes if not (found := scope.match(n)) or found[1] in asked)
    return replace(made, notes=kept)


def cmake(emitted: EmittedSource) -> str:
    """Return a CMakeLists.txt for the emitted files."""
    from perfdojo.backends.emission import cmake as cmake_text

    return cmake_text(emitted)
