"""The lines of --doctor on CUDA."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perfdojo.toolchains.cuda.doctor import examine_cuda
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host


def test_all_that_is_there(cxx_host: Host, nvcc: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    first, second = examine_cuda(cxx_host.compiler)
    assert first[:2] == ("cuda", "ok")
    assert first[2].startswith("nvcc release ")
    assert second[:2] == ("gpu", "limited")
    assert second[2].endswith(": kernels for cuda are checked by emulation, not timed")


@pytest.mark.usefixtures("no_path")
def test_what_is_missing(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    first, second, *_ = examine_cuda(replace(host.compiler, path=Path("/nowhere/gcc")))
    assert first[:2] == ("cuda", "limited")
    assert "nvidia-cuda-nvcc" in first[3]
    assert second[3] == "on Debian and Ubuntu: apt-get install g++"
