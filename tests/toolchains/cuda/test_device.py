"""Devices and occupancy: by the guide's figures, and by NVIDIA's calculator where it is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.toolchains.cuda.device import DEVICES, SM_80, SM_90, Device, device_of, occupancy, why_refused
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host

THREADS = (1, 32, 33, 64, 96, 100, 128, 192, 256, 288, 384, 512, 640, 768, 1000, 1024)
REGISTERS = (16, 24, 32, 33, 40, 48, 64, 65, 72, 80, 96, 128, 129, 168, 255)
SHARED = (0, 1, 1024, 4096, 10000, 16384, 33000, 49152, 65536, 101376, 166912, 232448)

CALCULATOR = """
#include <cstdio>
#include <cuda_occupancy.h>
int main()
{
    cudaOccDeviceProp p;
    cudaOccFuncAttributes f;
    cudaOccDeviceState s;
    p.computeMajor = %(major)d;
    p.computeMinor = 0;
    p.maxThreadsPerBlock = %(max_threads_per_block)d;
    p.maxThreadsPerMultiprocessor = %(max_threads)d;
    p.regsPerBlock = p.regsPerMultiprocessor = %(registers)d;
    p.warpSize = 32;
    p.sharedMemPerBlock = %(shared_static)d;
    p.sharedMemPerMultiprocessor = %(shared_per_sm)d;
    p.sharedMemPerBlockOptin = %(shared_per_block)d;
    p.reservedSharedMemPerBlock = %(shared_reserved)d;
    p.numSms = %(multiprocessors)d;
    int threads, registers, shared;
    while (scanf("%%d %%d %%d", &threads, &registers, &shared) == 3) {
        f.maxThreadsPerBlock = 1024;
        f.numRegs = registers;
        f.sharedSizeBytes = 0;
        f.partitionedGCConfig = PARTITIONED_GC_OFF;
        f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        f.maxDynamicSharedSizeBytes = shared;
        f.numBlockBarriers = 1;
        cudaOccResult r;
        cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, threads, shared);
        printf("%%d\\n", e ? -1 : r.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_occupancy_is_that_of_nvidias_calculator(
    cxx_host: Host, nvcc: Compiler, device: Device, tmp_path: Path
) -> None:
    include = nvcc.path.resolve().parent.parent / "include"
    candidates = (include, Path("/usr/local/cuda/include"), Path("/usr/local/cuda-13.0/include"))
    found = next((c for c in candidates if (c / "cuda_occupancy.h").exists()), None)
    if found is None:
        pytest.skip("needs cuda_occupancy.h")
    fields = {name: getattr(device, name) for name in Device.__slots__}
    source, program = tmp_path / "calculator.cc", tmp_path / "calculator"
    source.write_text(CALCULATOR % {**fields, "major": int(device.architecture[3:]) // 10})
    command = [str(cxx_host.compiler.path), f"-I{found}", str(source), "-o", str(program), "-lstdc++"]
    subprocess.run(command, check=True, capture_output=True)
    cases = [(t, r, s) for t in THREADS for r in REGISTERS for s in SHARED]
    text = "\n".join(" ".join(map(str, c)) for c in cases)
    answers = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True).stdout
    expected = [int(a) for a in answers.split()]
    assert len(expected) == len(cases)
    assert len(set(expected)) > 10
    wrong = [
        (c, e, occupancy(device, c[0], c[1], 0, c[2]))
        for c, e in zip(cases, expected, strict=True)
        if occupancy(device, c[0], c[1], 0, c[2]).blocks != max(e, 0)
    ]
    assert not wrong, (len(wrong), wrong[:3])


def test_what_limits_is_named() -> None:
    full = occupancy(SM_80, 256, 32)
    assert (full.blocks, full.warps, full.share) == (8, 64, 1.0)
    assert full.limits == ("threads", "registers")
    assert occupancy(SM_80, 256, 64).limits == ("registers",)
    assert occupancy(SM_80, 256, 64).share == 0.5
    assert occupancy(SM_80, 32, 16).limits == ("blocks",)
    shared = occupancy(SM_90, 128, 32, 1024, 99 * 1024)
    assert (shared.blocks, shared.limits) == (2, ("shared memory",))
    assert occupancy(SM_80, 1024, 65).blocks == 0


@pytest.mark.parametrize(
    ("threads", "grid", "shared", "registers", "says"),
    [
        ((1025, 1, 1), (1, 1, 1), 0, 0, "1025 threads in a block, but sm_80 takes 1024 at most"),
        ((1, 1, 65), (1, 1, 1), 0, 0, "65 threads along z of a block, but sm_80 takes 64 at most"),
        ((32, 1, 1), (1, 65536, 1), 0, 0, "65536 blocks along y, but sm_80 takes 65535 at most"),
        (
            (32, 1, 1),
            (1, 1, 1),
            166913,
            0,
            "166913 bytes of shared memory in a block, but sm_80 takes 166912",
        ),
        ((1024, 1, 1), (1, 1, 1), 0, 72, "73728 registers in a block, but sm_80 takes 65536 at most"),
        ((32, 1, 1), (0, 1, 1), 0, 0, "a launch of no threads or no blocks"),
        ((1024, 1, 1), (2**31 - 1, 65535, 65535), 166912, 64, ""),
    ],
)
def test_a_launch_beyond_a_limit_is_refused_with_the_numbers(
    threads: tuple[int, int, int], grid: tuple[int, int, int], shared: int, registers: int, says: str
) -> None:
    text = why_refused(SM_80, threads, grid, shared, registers)
    assert text.startswith(says)
    assert bool(text) == bool(says)


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(PerfDojoError, match="no description of a GPU of architecture 'sm_1'"):
        device_of("sm_1")
