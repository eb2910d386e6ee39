"""The command line for targets of other machines: what it needs for which step, what stands for a time."""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path

import pytest

from perfdojo.cli import main
from tests.native import can_run

needs_rvv = pytest.mark.skipif(
    not can_run("rvv") or platform.machine() == "riscv64",
    reason="needs clang-19, gcc-riscv64-linux-gnu and qemu-user, on another machine than RISC-V",
)
needs_neon = pytest.mark.skipif(
    not can_run("neon") or platform.machine() == "aarch64",
    reason="needs gcc-aarch64-linux-gnu and qemu-user, on another machine than AArch64",
)
SMALL = ["--target", "neon", "-D", "M=4", "-D", "N=64"]


@needs_rvv
def test_threads_need_a_compiler_that_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["relu", "--target", "rvv", "-D", "M=4", "-D", "N=5", "--threads", "2"]
    assert main([*call, "-o", "out"]) == 0
    text = Path("out/relu.c").read_text()
    assert "clang --target=riscv64-linux-gnu" in text
    assert "-fopenmp" in text
    capsys.readouterr()
    assert main(call) == 1
    assert "clang-19 builds no code with threads for riscv64" in capsys.readouterr().err


@needs_neon
def test_assembly_and_libraries_need_no_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if "qemu" in name else found(name))
    monkeypatch.chdir(tmp_path)
    assert main(["relu", *SMALL, "--emit", "asm"]) == 0
    assert ".arch armv8-a" in capsys.readouterr().out
    assert main(["relu", *SMALL, "--shared", "-o", "out"]) == 0
    assert Path("out/librelu.so").read_bytes()[18] == 183, "e_machine of AArch64"
    for asked in ([], ["--check"], ["--shared", "--check"]):
        assert main(["relu", *SMALL, *asked, "--force"]) == 3
        said = capsys.readouterr().err
        assert "qemu-aarch64 is not installed" in said
        assert "apt-get install qemu-user" in said


@needs_neon
@pytest.mark.parametrize("step", [["--emit", "asm"], ["--shared"], ["--check"], []])
def test_a_missing_compiler_is_named(
    step: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if "aarch64-linux" in name else found(name))
    monkeypatch.chdir(tmp_path)
    assert main(["relu", *SMALL, *step]) == 3
    assert "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross" in capsys.readouterr().err


@needs_neon
def test_a_kernel_is_not_counted_without_a_compiler_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "gcc" else found(name))
    monkeypatch.chdir(tmp_path)
    assert main(["relu", *SMALL]) == 0
    assert "not counted: gcc is not installed or not in PATH (Debian package gcc)" in capsys.readouterr().out


@needs_neon
def test_a_loop_without_arithmetic_is_estimated_by_what_is_busiest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["transpose", "--target", "neon", "-D", "M=64", "-D", "N=128", "--no-schedule"]
    assert main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["time"].get("estimates")
    if found is None:
        pytest.skip("needs llvm-19, or there is no loop")
    for row in found:
        assert row["pipes"] == 0
        assert row["busiest"] != "V"
        assert 0.5 < row["busy"] <= 1
