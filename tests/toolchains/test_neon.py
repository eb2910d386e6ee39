"""Code for AArch64 under qemu: built by the cross compiler, checked, counted; what is missing is named."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest

import perfdojo
from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.counting import count_instructions
from perfdojo.toolchains.cross import cross_of, examine_cross, find_cross
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, build, run, shared_library
from perfdojo.toolchains.results import MissingTool
from tests.native import can_run

needs_qemu = pytest.mark.skipif(
    not can_run("neon") or platform.machine() == "aarch64",
    reason="needs gcc-aarch64-linux-gnu and qemu-user, on another machine than AArch64",
)
TEXT = "kernel next\nin x: f32[{n}]\nout y: f32[{n}]\n{n} y[{{0}}] = x[{{0}}] + 1\n"


def made(n: int) -> tuple[Program, Built]:
    program = bind(parse(TEXT.format(n=n), "next.ir"))
    verify(program)
    built = build(emit(program, "neon"), host())
    assert isinstance(built, Built), built
    return program, built


def host() -> Host:
    cross = cross_of("neon")
    assert cross is not None
    return find_cross(cross)


@needs_qemu
def test_a_kernel_runs_and_is_not_timed() -> None:
    program, built = made(33)
    inputs = random_inputs(program, 0, "special")
    ran = run(built, inputs)
    assert ran.outcome == "ok"
    assert first_difference(ran.outputs, interpret(program, inputs)) == ""
    assert not built.timed
    assert "run by qemu-aarch64, not timed" in built.reason


@needs_qemu
def test_the_count_grows_by_what_one_iteration_executes() -> None:
    counts = []
    for n in (4096, 8192, 12288):
        program, built = made(n)
        counts.append(
            count_instructions(built.host, built.native, built.emitted, random_inputs(program, 0, "normal"))
        )
    first, second, third = counts
    assert isinstance(first, int)
    assert isinstance(second, int)
    assert isinstance(third, int)
    # 4096 elements more are 1024 vectors, each a load, an addition, a store, and a part of a loop
    assert 3 * 1024 <= second - first <= 8 * 1024
    assert abs((third - second) - (second - first)) <= 16


@needs_qemu
def test_a_write_behind_an_argument_is_found() -> None:
    program, built = made(33)
    text = built.emitted.files[0][1].replace("return 0;", "y[33] = 1; return 0;")
    broken = build(replace(built.emitted, files=(("next.c", text), *built.emitted.files[1:])), built.host)
    assert isinstance(broken, Built)
    assert run(broken, random_inputs(program, 0, "normal")).outcome == "memory-overwrite"


@pytest.mark.parametrize(
    ("there", "package"),
    [
        ((), "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"),
        (("aarch64-linux-gnu-gcc",), "qemu-user"),
    ],
)
def test_what_is_missing_is_named(
    there: tuple[str, ...], package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in there:
        program = tmp_path / tool
        program.write_text("#!/bin/sh\necho gcc 12\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if there else str(tmp_path))
    if there and can_run("neon"):
        monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / name) if name in there else None)
    with pytest.raises(MissingTool) as caught:
        host()
    assert caught.value.package.endswith(package)
    (line,) = [found for found in examine_cross() if found[0] == "neon"]
    assert line[1] == "limited"
    assert package in line[3]


@needs_qemu
def test_a_library_names_its_machine(tmp_path: Path) -> None:
    program, _ = made(33)
    path = shared_library(emit(program, "neon"), tmp_path / "libnext.so", host())
    assert isinstance(path, Path), path
    with pytest.raises(PerfDojoError, match=f"built for aarch64, this machine is {platform.machine()}"):
        perfdojo.load(path)


@needs_qemu
def test_what_threads_do_while_they_wait_is_not_counted() -> None:
    text = "kernel next\nin x: f32[64]\nout y: f32[64]\n64@parallel y[{0}] = x[{0}] + 1\n"
    program = bind(parse(text, "next.ir"))
    verify(program)
    built = build(emit(program, "neon", threads=2), host())
    assert isinstance(built, Built), built
    count = count_instructions(built.host, built.native, built.emitted, random_inputs(program, 0, "normal"))
    assert isinstance(count, int), count
    assert count < 20_000


def test_other_targets_have_no_cross_compiler() -> None:
    assert cross_of("avx2") is None
    assert cross_of("snitch") is None
