"""The command line for targets of other machines: threads are refused where they cannot be built."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from perfdojo.cli import main
from tests.native import can_run

pytestmark = pytest.mark.skipif(
    not can_run("rvv") or platform.machine() == "riscv64",
    reason="needs clang-19, gcc-riscv64-linux-gnu and qemu-user, on another machine than RISC-V",
)


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
