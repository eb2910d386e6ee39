"""Random programs through a backend, many in one library, against the reference interpreter."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.compiler.interpret import compare, interpret, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.render import render
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.host import find_host, flags_of
from tests.random_programs.generate import generate

Array = NDArray[Any]
KINDS = ("normal", "special", "huge", "denormal")
NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i64": np.int64,
    "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A bound program and what a backend made of it."""

    seed: int
    program: Program
    emitted: EmittedSource


@cache
def _host() -> Any:
    return find_host()


def runnable(target_features: Sequence[str]) -> bool:
    """Tell whether this CPU runs code with these features natively."""
    return not _host().cpu.missing(tuple(target_features))


def cases(seeds: Sequence[int], target: str, fp: str, functions: bool = True) -> list[Case]:
    """Return random programs, emitted for `target`, each with a name of its own."""
    found = []
    for seed in seeds:
        program = bind(replace(generate(seed, functions), name=f"k{seed}"))
        found.append(Case(seed, program, emit(program, target, fp=fp, threads=1)))
    return found


def build(found: Sequence[Case]) -> ctypes.CDLL:
    """Compile all cases into one library; emulated where the CPU lacks a feature."""
    host = _host()
    headers_of = [f for c in found for f in c.emitted.files if f[0].endswith(".h")]
    files = (("all.c", "\n".join(_source(c) for c in found)), *headers_of)
    flags = tuple(dict.fromkeys(f for c in found for f in flags_of(c.emitted, host)))
    flags = tuple("-O1" if f == "-O3" else f for f in flags)
    headers: tuple[tuple[str, str], ...] = ()
    if host.cpu.missing(tuple(r for c in found for r in c.emitted.requires)):
        flags = tuple(f for f in flags if not f.startswith("-m") or f == "-march=native")
        headers = next(c.emitted.emulation for c in found if c.emitted.emulation)
    request = BuildRequest("random", "shared", files, flags, ("-lm",), headers)
    made = build_files(request, host.compiler, host.cpu, host.places)
    assert isinstance(made, Artifact), made
    return ctypes.CDLL(str(made.path))


def _source(case: Case) -> str:
    """The C text with helpers of its own name, so that many kernels fit one translation unit."""
    return re.sub(r"\bpd_", f"pd_{case.seed}_", case.emitted.files[0][1])


def _place(argument: Argument, value: Array | None) -> tuple[Array, Array]:
    """Return the flat memory of an argument, and the view of its elements in it."""
    dtype = np.dtype(NUMPY[argument.dtype])
    memory = np.zeros(argument.size_elems * dtype.itemsize, np.uint8).view(dtype)
    memory.view(np.uint8)[...] = 0xA5 if dtype != np.bool_ else 1
    strides = tuple(s * dtype.itemsize for s in argument.strides_elems)
    view = np.lib.stride_tricks.as_strided(memory, argument.shape, strides)
    if value is not None:
        view[...] = value
    return memory, view


def call(library: ctypes.CDLL, emitted: EmittedSource, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Call the kernel in this process and return its outputs."""
    placed = {a.name: _place(a, inputs.get(a.name)) for a in emitted.arguments}
    pointers = [ctypes.c_void_p(placed[a.name][0].ctypes.data) for a in emitted.arguments]
    assert getattr(library, emitted.symbol)(*pointers) == 0
    return {a.name: placed[a.name][1].copy() for a in emitted.arguments if a.role != "in"}


def same_bits(a: Array, b: Array) -> bool:
    """Equal bit for bit; a NaN equals any NaN."""
    if a.dtype.kind in "biu":
        return bool(np.array_equal(a, b))
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(wide_a)
    if not np.array_equal(nan, np.isnan(wide_b)):
        return False
    equal = (wide_a == wide_b) & (np.signbit(wide_a) == np.signbit(wide_b))
    return bool((equal | nan).all())


def disagreements(seeds: Sequence[int], target: str, fp: str, functions: bool = True) -> list[str]:
    """Return a text for each program where backend and interpreter differ: bits at strict, else the bound."""
    found = cases(seeds, target, fp, functions)
    library = build(found)
    wrong = []
    for c in found:
        for kind in (KINDS[c.seed % 4], "normal"):
            inputs = random_inputs(c.program, c.seed, kind)
            result = call(library, c.emitted, inputs)
            if fp == "strict":
                expected = interpret(c.program, inputs)
                bad = [n for n in expected if not same_bits(result[n], expected[n])]
                reason = f"{bad} differ" if bad else ""
            else:
                verdict = compare(result, reference(c.program, inputs, fp))
                reason = "" if verdict.passed else verdict.message
            if reason:
                wrong.append(
                    f"seed {c.seed}, {kind} inputs: {reason}\n{render(c.program)}\n{c.emitted.files[0][1]}"
                )
                break
    return wrong
