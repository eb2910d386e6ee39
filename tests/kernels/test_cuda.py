"""Library kernels on CUDA, in the emulation: within the bound and without races for several orders."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace

import pytest

from perfdojo.backends import emit
from perfdojo.cli.machine import judge
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.builds import Artifact
from perfdojo.toolchains.cuda.device import device_of
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation
from perfdojo.toolchains.cuda.nvcc import ARCHITECTURES, find_nvcc, library_for
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import MissingTool
from tests.fuzz.cuda.batches import joined
from tests.kernels.check import tamed_inputs
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
NAMES = tuple(sorted(texts()))
BATCHES = tuple(NAMES[n : n + 7] for n in range(0, len(NAMES), 7))
"""Kernels that one call of nvcc compiles, which takes a second and more for the headers."""
FAST = ("cumsum", "dot", "matmul", "softmax")
"""A sum by one thread, products by many, rows, what is not parallel."""


def wrong(name: str, sizes: dict[str, int]) -> list[str]:
    """Return how a kernel of these sizes differs from the reference, for each kind of inputs."""
    bound = bind(program(name), sizes)
    verify(bound)
    return why_wrong(bound, emit(bound, "cuda"))


def why_wrong(
    bound: Program, emitted: EmittedSource, kinds: Sequence[str] = ("tamed", "special")
) -> list[str]:
    """Return how emitted code differs from the reference, for each kind of inputs."""
    made = build_emulation(emitted, find_host(), "sm_80")
    assert isinstance(made, Emulated), made
    found = []
    for kind in kinds:
        inputs = tamed_inputs(bound) if kind == "tamed" else random_inputs(bound, 1, kind)
        ran, _ = run_emulated(emitted, made, device_of("sm_80"), inputs, (0, 1), 120.0)
        good, fp, tensor = ran.outcome == "ok", emitted.fp, emitted.tensor
        done = judge(bound, fp, inputs, ran.outputs, True, tensor) if good else ran
        found += [f"{kind} inputs: {done.outcome}: {done.text}"] if done.outcome != "ok" else []
    return found


@pytest.mark.parametrize("name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in NAMES])
def test_kernel_agrees_at_prime_sizes(name: str) -> None:
    assert not wrong(name, list(odd_sizes(name))[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_where_all_sizes_are_one(name: str) -> None:
    assert not wrong(name, next(iter(odd_sizes(name))))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_where_a_size_is_large(name: str) -> None:
    assert not wrong(name, list(odd_sizes(name))[2])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_at_its_own_size(name: str) -> None:
    assert not wrong(name, {})


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_nvcc_has_nothing_to_say(names: tuple[str, ...], architecture: str) -> None:
    try:
        nvcc = find_nvcc()
    except MissingTool as missing:
        pytest.skip(str(missing))
    sources = []
    for name in names:
        for number, sizes in enumerate(({}, list(odd_sizes(name))[1])):
            sources.append(emit(bind(replace(program(name), name=f"{name}_{number}"), sizes), "cuda"))
    made = joined(sources)
    strict = replace(made, flags=(*made.flags, "-Werror", "all-warnings"))
    library = library_for(strict, nvcc, find_host(), architecture)
    assert isinstance(library, Artifact), library
    assert "warning" not in library.warnings, library.warnings
