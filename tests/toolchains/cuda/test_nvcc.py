"""nvcc: what it makes, what its kernels use, said twice and alike; what is missing is named."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest

from perfdojo.toolchains.builds import Artifact
from perfdojo.toolchains.cuda.nvcc import ARCHITECTURES, Compiled, compile_for, find_nvcc, library_for
from perfdojo.toolchains.cuda.usage import KernelUsage, disagreements, read_cubin, read_report
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure, MissingTool
from tests.toolchains.cuda.kernels import CASES, argument, source

SPILL = (argument("x", "in", (65536,)), argument("y", "out", (65536,)))

REPORT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 42.715 ms
"""


def test_ptxas_report_is_read() -> None:
    assert read_report(REPORT) == {"_Z1kPf": KernelUsage(32, 12, 16, 8, 2048, 376)}
    assert read_report("") == {}


def test_contradictions_are_found() -> None:
    said = read_report(REPORT)
    usage = said["_Z1kPf"]
    assert disagreements(said, {"_Z1kPf": replace(usage, max_threads=256)}) == ""
    other = {"_Z1kPf": replace(usage, registers=33)}
    assert disagreements(said, other) == "registers of _Z1kPf: 32 by ptxas, 33 by the cubin"
    assert "the cubin holds []" in disagreements(said, {})


def compiled(host: Host, nvcc: Compiler, name: str, architecture: str) -> Compiled:
    made = compile_for(CASES[name].emitted(), nvcc, host, architecture)
    assert isinstance(made, Compiled), made
    return made


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_usage_of_a_kernel_that_fits(host: Host, nvcc: Compiler, architecture: str) -> None:
    made = compiled(host, nvcc, "product", architecture)
    (usage,) = made.usage.values()
    assert made.warnings == ""
    assert (usage.shared_bytes, usage.max_threads) == (2048, 256)
    assert (usage.spill_store_bytes, usage.spill_load_bytes, usage.stack_bytes) == (0, 0, 0)
    assert 16 <= usage.registers <= 64
    assert usage.constant_bytes > 24
    assert read_cubin(made.cubin).keys() == made.usage.keys()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_with_too_few_registers_spills(host: Host, nvcc: Compiler, architecture: str) -> None:
    made = compile_for(source("spill", SPILL), nvcc, host, architecture)
    assert isinstance(made, Compiled), made
    (usage,) = made.usage.values()
    assert made.warnings == ""
    assert (usage.registers, usage.max_threads) == (32, 1024)
    assert min(usage.spill_store_bytes, usage.spill_load_bytes, usage.stack_bytes) > 0


def test_a_limit_by_flag_spills_too(host: Host, nvcc: Compiler) -> None:
    flags = ("-DBOUNDS=", "-maxrregcount=24")
    made = compile_for(source("spill", SPILL, *flags), nvcc, host, "sm_80")
    assert isinstance(made, Compiled), made
    (usage,) = made.usage.values()
    assert (usage.registers, usage.max_threads) == (24, 0)
    assert min(usage.spill_store_bytes, usage.spill_load_bytes, usage.stack_bytes) > 0


def test_warnings_are_warnings_and_errors_are_named(host: Host, nvcc: Compiler) -> None:
    case = CASES["scale"]
    text = case.emitted().files[0][1]
    unused = replace(case.emitted(), files=(("scale.cu", text.replace("float4 v", "int left; float4 v")),))
    made = compile_for(unused, nvcc, host, "sm_80")
    assert isinstance(made, Compiled)
    assert "never referenced" in made.warnings
    broken = compile_for(replace(unused, files=(("scale.cu", text + "int x = y;"),)), nvcc, host, "sm_80")
    assert isinstance(broken, Failure)
    assert broken.outcome == "compile-error"
    assert broken.text.startswith("nvcc rejects the code of scale-sm_80: scale.cu(")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", CASES)
def test_what_the_emulation_takes_is_cuda(host: Host, nvcc: Compiler, name: str, architecture: str) -> None:
    assert compiled(host, nvcc, name, architecture).warnings == ""


def test_the_library_for_a_gpu_exports_the_launcher(host: Host, nvcc: Compiler) -> None:
    made = library_for(CASES["rows"].emitted(), nvcc, host, "sm_90")
    assert isinstance(made, Artifact), made
    assert hasattr(ctypes.CDLL(str(made.path)), "rows")


def test_a_missing_nvcc_is_named_with_what_brings_it(tmp_path: Path) -> None:
    with pytest.raises(MissingTool) as caught:
        find_nvcc(environment={"PATH": "", "CUDA_HOME": str(tmp_path)})
    assert "nvcc is not installed" in caught.value.message
    for word in ("nvidia-cuda-nvcc", "nvidia-cuda-runtime", "cuda-nvcc-13-0", "nvidia-cuda-toolkit"):
        assert word in caught.value.hint


def test_nvcc_is_found_below_cuda_home(tmp_path: Path, nvcc: Compiler) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(f'#!/bin/sh\nexec {nvcc.path} "$@"\n')
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    found = find_nvcc(environment={"PATH": "", "CUDA_HOME": str(tmp_path)})
    assert found.path == tmp_path / "bin" / "nvcc"
    assert found.version.startswith("nvcc release ")


def test_something_else_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "nvcc").chmod(0o755)
    with pytest.raises(MissingTool, match="a working "):
        find_nvcc(environment={"PATH": str(tmp_path)})
