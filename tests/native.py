"""Emitted kernels, many in one library, called in this process, or in one under an emulator."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends import emit
from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.compiler.interpret import compare, first_difference, interpret, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cross import cross_of, find_cross
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import find_host, flags_of
from perfdojo.toolchains.results import MissingTool
from tests.emulated import Emulated, server

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A bound program under a C name of its own, and what a backend made of it."""

    name: str
    program: Program
    emitted: EmittedSource


Library = ctypes.CDLL | Emulated


@cache
def _host(target: str) -> Any:
    cross = cross_of(target)
    return find_host() if cross is None or cross.native else find_cross(cross)


def can_run(target: str) -> bool:
    """Tell whether what the target needs here is installed."""
    try:
        _host(target)
    except MissingTool:
        return False
    return True


def case(name: str, program: Program, target: str, fp: FpLevel, transformed: Program | None = None) -> Case:
    """Return `program`, renamed to `name` and emitted for `target`, as a schedule has `transformed` it."""
    renamed = replace(program, name=name)
    made = None if transformed is None else Scheduled(replace(transformed, name=name), "")
    return Case(name, renamed, emit(renamed, target, fp=fp, threads=1, scheduled=made))


def build(found: Sequence[Case], optimize: str = "") -> Library:
    """Compile all cases as one translation unit; emulated where the CPU lacks a feature.

    Unless told otherwise, emulations are not optimised: what the optimiser makes of them says nothing
    about the target, and for small programs takes longer than they run.
    """
    host = _host(found[0].emitted.target)
    if host.emulator:
        return _emulated(found, host, optimize)
    headers = [f for c in found for f in c.emitted.files if f[0].endswith(".h")]
    files = (("all.c", "\n".join(_source(c) for c in found)), *headers)
    flags = tuple(dict.fromkeys(f for c in found for f in flags_of(c.emitted, host)))
    before: tuple[tuple[str, str], ...] = ()
    if host.cpu.missing(tuple(r for c in found for r in c.emitted.requires)):
        optimize = optimize or "-O0"
        flags = tuple(f for f in flags if not f.startswith("-m") or f == "-march=native")
        before = next(c.emitted.emulation for c in found if c.emitted.emulation)
    flags = tuple((optimize or "-O1") if f == "-O3" else f for f in flags)
    made = build_files(
        BuildRequest("many", "shared", files, flags, ("-lm",), before), host.compiler, host.cpu, host.places
    )
    assert isinstance(made, Artifact), made
    return ctypes.CDLL(str(made.path))


def _emulated(found: Sequence[Case], host: Host, optimize: str) -> Emulated:
    many = [c.emitted for c in found]
    headers = [f for e in many for f in e.files if f[0].endswith(".h")]
    files = (("all.c", "\n".join([*(_source(c) for c in found), server(many)])), *headers)
    flags = tuple(dict.fromkeys(f for e in many for f in flags_of(e, host)))
    flags = tuple((optimize or "-O1") if f == "-O3" else f for f in flags)
    request = BuildRequest("many", "executable", files, flags, ("-lm",))
    made = build_files(request, host.compiler, host.cpu, host.places)
    assert isinstance(made, Artifact), made
    return Emulated(host.emulator, made.path, many)


def _source(c: Case) -> str:
    """The C text with helpers of its own name, so that many kernels fit one translation unit."""
    return re.sub(r"\bpd_", f"pd_{c.name}_", c.emitted.files[0][1])


def _place(argument: Argument, value: Array | None) -> tuple[Array, Array]:
    """Return the flat memory of an argument, poisoned, and the view of its elements in it."""
    dtype = NUMPY[argument.dtype]
    memory = np.zeros(argument.size_elems * dtype.itemsize, np.uint8).view(dtype)
    memory.view(np.uint8)[...] = 1 if dtype == np.bool_ else 0xA5
    strides = tuple(s * dtype.itemsize for s in argument.strides_elems)
    view = np.lib.stride_tricks.as_strided(memory, argument.shape, strides)
    if value is not None:
        view[...] = value
    return memory, view


def call(library: Library, emitted: EmittedSource, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Call the kernel and return its outputs."""
    placed = {a.name: _place(a, inputs.get(a.name)) for a in emitted.arguments}
    if isinstance(library, Emulated):
        after = library.call(emitted.symbol, [placed[a.name][0].tobytes() for a in emitted.arguments])
        for a, memory in zip(emitted.arguments, after, strict=True):
            placed[a.name][0].view(np.uint8)[...] = np.frombuffer(memory, np.uint8)
        return {a.name: placed[a.name][1].copy() for a in emitted.arguments if a.role != "in"}
    pointers = [ctypes.c_void_p(placed[a.name][0].ctypes.data) for a in emitted.arguments]
    assert getattr(library, emitted.symbol)(*pointers) == 0
    return {a.name: placed[a.name][1].copy() for a in emitted.arguments if a.role != "in"}


def disagreement(library: Library, c: Case, inputs: Mapping[str, Array], fp: FpLevel) -> str:
    """Return "" or how the kernel differs from the interpreter: in bits at strict, else beyond the bound."""
    result = call(library, c.emitted, inputs)
    if fp != "strict":
        verdict = compare(result, reference(c.program, inputs, fp, c.emitted.tensor))
        return "" if verdict.passed else verdict.message
    return first_difference(result, interpret(c.program, inputs))
