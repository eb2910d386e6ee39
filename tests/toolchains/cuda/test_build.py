"""A kernel built for GPUs and for the host: what is said of it with and without nvcc, and of its launches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from perfdojo.toolchains.cuda import build as module
from perfdojo.toolchains.cuda.build import Built, build, measure, run, run_natively
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure
from tests.toolchains.cuda.kernels import CASES


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_gpu", lambda: "no GPU here")


def made(host: Host, name: str, *flags: str, **more: Any) -> Built:
    found = build(CASES[name].emitted(*flags), host, **more)
    assert isinstance(found, Built), found
    return found


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_it_is_compiled_and_checked(cxx_host: Host, nvcc: Compiler) -> None:
    built = made(cxx_host, "product")
    assert built.reason == "no GPU here: compiled for sm_80 and sm_90, checked by emulation, not timed"
    assert not built.timed
    assert built.warnings == ""
    assert [c.architecture for c in built.compiled] == ["sm_80", "sm_90"]
    assert set(built.usage("sm_80")) == set(built.usage("sm_90"))
    assert measure(built, CASES["product"].inputs).text == built.reason
    assert run_natively(built, CASES["product"].inputs).outcome == "not-runnable"
    result = run(built, CASES["product"].inputs)
    assert result.outcome == "ok"
    CASES["product"].check(result.outputs)


def test_without_nvcc_the_emulation_runs(cxx_host: Host) -> None:
    built = made(cxx_host, "rows", nvcc="no-such-nvcc")
    assert built.reason.startswith(
        "no-such-nvcc is not installed or not in PATH: not compiled for sm_80 and sm_90, checked by "
        "emulation, not timed; python -m pip install nvidia-cuda-nvcc "
    )
    assert built.compiled == ()
    assert built.usage("sm_80") == {}
    assert run(built, CASES["rows"].inputs).outcome == "ok"


def test_a_launch_beyond_the_launch_bounds_is_refused(cxx_host: Host, nvcc: Compiler) -> None:
    case = CASES["product"]
    text = case.emitted().files[0][1].replace("__launch_bounds__(256)", "__launch_bounds__(128)")
    built = build(replace(case.emitted(), files=(("product.cu", text),)), cxx_host)
    assert isinstance(built, Built)
    result = run(built, case.inputs)
    assert result.outcome == "launch-refused"
    assert result.text == "kernel product_kernel: 256 threads in a block, but its __launch_bounds__ allow 128"


def test_too_many_registers_for_a_block_are_refused(cxx_host: Host, nvcc: Compiler) -> None:
    built = made(cxx_host, "product")
    fat = tuple(
        replace(c, usage={n: replace(u, registers=255, max_threads=0) for n, u in c.usage.items()})
        for c in built.compiled
    )
    assert run(replace(built, compiled=fat), CASES["product"].inputs).outcome == "ok"  # 65536 of 65536
    text = module._why_refused(
        replace(built, compiled=fat), {"kernel": "product_kernel", "block": [288, 1, 1], "grid": [1, 1, 1]}
    )
    assert text == "kernel product_kernel: 98304 registers in a block, but sm_80 takes 65536 at most"


def test_what_the_host_compiler_rejects_is_a_failure(cxx_host: Host) -> None:
    case = CASES["scale"]
    broken = replace(case.emitted(), files=(("scale.cu", "int scale = x;"),))
    found = build(broken, cxx_host, nvcc="no-such-nvcc")
    assert isinstance(found, Failure)
    assert found.outcome == "compile-error"


def test_unfit_inputs_are_said(cxx_host: Host) -> None:
    built = made(cxx_host, "rows", nvcc="no-such-nvcc")
    assert run(built, {}).text == "argument 's' is missing"
    assert run(built, {"s": np.zeros(3, np.float32)}).outcome == "not-runnable"
    assert "0 seeds" in run(built, CASES["rows"].inputs, seeds=()).text
