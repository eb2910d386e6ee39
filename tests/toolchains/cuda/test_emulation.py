"""Kernels that are right pass under any order of threads; each planted fault is found under each of ten."""

from __future__ import annotations

from typing import Any

import pytest

from perfdojo.toolchains.cuda.device import SM_80
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import RunResult
from tests.toolchains.cuda.kernels import CASES

SEEDS = range(10)
UNSEEN = ("race", "uninitialised-read")
"""A missing barrier behind a write: the reader comes too early, or right."""

FAULTS: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [
    ("scale", ("-DBELOW=<=",), ("memory-overwrite", "out-of-bounds"), "scale.cu:14 "),
    ("scale", ("-DOFFSET=1",), ("misaligned",), "takes multiples of 16"),
    ("product", ("-DSYNC1=(void)0",), UNSEEN, "product.cu:27 "),
    ("product", ("-DSYNC2=(void)0",), ("race",), "with no barrier between"),
    ("product", ("-DINDEX(k)=(k)+1",), ("out-of-bounds",), "index 16 of an array of type 'float [16]'"),
    ("rows", ("-DWHO=lane<16",), ("deadlock",), "has ended"),
    ("rows", ("-DMASK=0xffffu",), ("deadlock",), "does not name its lane"),
    ("total", ("-DSYNC=(void)0",), UNSEEN, "total.cu:"),
    ("total", ("-DINSIDE=__syncthreads()",), ("deadlock",), "__syncthreads at total.cu:"),
    ("total", ("-DLEAVE=if(t>=250)return",), ("deadlock",), "has ended"),
    ("total", ("-DFILLS=t<255",), ("uninitialised-read",), "byte 1020 of dynamic shared memory"),
    ("total", ("-DBYTES=1020",), ("memory-overwrite", "out-of-bounds"), "of which 1020 bytes were asked for"),
    ("total", ("-DTHREADS=1025",), ("launch-refused",), "1025 threads in a block, but sm_80 takes 1024"),
    ("total", ("-DBYTES=49156",), ("launch-refused",), "without cudaFuncSetAttribute it gets 49152"),
    ("total", ("-DBYTES=166916",), ("launch-refused",), "166916 bytes of shared memory in a block"),
    ("total", ("-DBYTES=166916", "-DASK"), ("launch-refused",), "the launcher returns 1"),
    ("softmax", ("-DREUSE=(void)0",), ("race",), "of scratch in shared memory"),
    ("histogram", ("-DCOUNT(p,n)=(*(p)+=(n))",), ("race",), "counts"),
    ("histogram", ("-DADD(p,n)=(*(p)+=(n))",), ("race",), "nothing orders two blocks"),
    ("histogram", ("-DSYNC=(void)0",), ("race",), "counts"),
    ("histogram", ("-DCLEAR=0",), ("uninitialised-read",), "of d, which nothing has written"),
    ("pipeline", ("-DWAIT(n)=(void)0",), ("race",), "is not waited for"),
    ("pipeline", ("-DWAIT(n)=__pipeline_wait_prior(2)",), ("race",), "is not waited for"),
    ("tiled", ("-DBEHIND=(void)0",), ("race",), ""),
    ("tiled", ("-DSTAGE(k)=0",), ("race",), ""),
    ("half", ("-DWARP=threadIdx.x<31",), ("deadlock",), "mma_sync"),
    ("half", ("-DLEFT=a+row*32+k,36",), ("misaligned",), "lines 72 bytes apart"),
    ("half", ("-DLEFT=a+8,32",), ("misaligned",), "not at multiples of 32 and 16"),
    ("stages", ("-DTIMES=64",), ("race", "wrong-result"), ""),
    ("stages", ("-DTIMES=2",), ("race",), "of workspace 1"),
    ("stages", ("-DCOUNT=300",), ("uninitialised-read",), "byte 1200 of workspace 1"),
    ("stages", ("-DFREE=(void)0",), ("memory-leak",), "workspace 1 of 1204 bytes"),
    ("stages", ("-DEARLY=cudaFreeAsync(w,stream)",), ("memory-overwrite",), "which is freed"),
    ("order", ("-DFIRST=(void)0",), UNSEEN, ""),
    ("order", ("-DSECOND=(void)0",), ("race",), "counts"),
    ("order", ("-DWHICH=0",), UNSEEN, ""),
    ("order", ("-DWHICH=0", "-DFIRST=__syncthreads()"), ("race",), "counts"),
    ("misuse", ("-DHOST=y[0]=1",), ("out-of-bounds",), "host code at misuse.cu:29 touches y"),
    ("misuse", ("-DDOES=x[i]=0",), ("memory-overwrite",), "of x, which is an input"),
    ("misuse", ("-DDOES=float far[70000];far[also]=i;x+=(int)far[0]-i;kept=far",), ("crash",), "stack"),
    (
        "misuse",
        ("-DDOES=float v=i;if(i==9)kept=&v;__syncthreads();y[i]=*kept;__syncthreads()",),
        ("out-of-bounds",),
        "reads a local variable of thread (9,0,0)",
    ),
    ("misuse", ("-DDOES=atomicAdd((double*)(y+1),1.0)",), ("misaligned",), "atomic access to 8 bytes"),
    ("misuse", ("-DALSO=Pair",), ("not-runnable",), "parameter 3 of kernel misuse_kernel"),
    ("misuse", ("-DHOST=return 9",), ("launch-refused",), "the launcher returns 9"),
    ("misuse", ("-DHOST=cudaFreeAsync(y,stream)",), ("memory-overwrite",), "which is no workspace"),
    ("misuse", ("-DDOES=memcpy(y+i,x+i+1,4)",), ("out-of-bounds",), "at byte 256 of x, which has 256"),
    ("bytes", ("-DSHIFT=1",), ("race",), " of d"),
    ("exchange", ("-DSYNC=(void)0",), UNSEEN, "exchange.cu:"),
    ("exchange", ("-DSYNC=__syncwarp(i&1?0xaaaaaaaau:0x55555555u)",), UNSEEN, "exchange.cu:"),
]


def made(host: Host, name: str, *flags: str) -> Emulated:
    found = build_emulation(CASES[name].emitted(*flags), host, "sm_80")
    assert isinstance(found, Emulated), (found.folder / "message.txt").read_text()
    return found


def ran(host: Host, name: str, flags: tuple[str, ...], emulated: Emulated, seeds: Any) -> RunResult:
    case = CASES[name]
    return run_emulated(case.emitted(*flags), emulated, SM_80, case.inputs, seeds, 60.0)[0]


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_passes(cxx_host: Host, name: str) -> None:
    emulated = made(cxx_host, name)
    assert emulated.warnings == ""
    result = ran(cxx_host, name, (), emulated, SEEDS)
    assert (result.outcome, result.text) == ("ok", "")
    CASES[name].check(result.outputs)


@pytest.mark.parametrize(
    ("name", "flags", "outcomes", "says"),
    [f if k % 3 == 0 else pytest.param(*f, marks=pytest.mark.slow) for k, f in enumerate(FAULTS)],
)
def test_a_planted_fault_is_found(
    cxx_host: Host, name: str, flags: tuple[str, ...], outcomes: tuple[str, ...], says: str
) -> None:
    emulated = made(cxx_host, name, *flags)
    for seed in SEEDS:
        result = ran(cxx_host, name, flags, emulated, (seed,))
        assert result.outcome in outcomes, (seed, result)
        assert result.outcome == "race" or says in result.text, result.text
        assert "@" not in result.text


def test_a_kernel_that_never_ends_is_stopped(cxx_host: Host) -> None:
    flags = ("-DDOES=for(;;)kept=x+i",)
    emulated, case = made(cxx_host, "misuse", *flags), CASES["misuse"]
    result, _ = run_emulated(case.emitted(*flags), emulated, SM_80, case.inputs, (0,), 0.5)
    assert (result.outcome, result.text) == ("timeout", "the kernel was stopped: it ran longer than 0.5 s")


@pytest.mark.parametrize("call", ["fork()", "socket(2, 1, 0)"])
def test_it_starts_no_process_and_opens_no_connection(cxx_host: Host, call: str) -> None:
    name, arguments = call[:-1].split("(")
    types = arguments and "int, int, int"
    flags = (f'-DHOST=int f({types}) __asm__("{name}"); if (f({arguments}) < 0) return 77',)
    emulated, case = made(cxx_host, "misuse", *flags), CASES["misuse"]
    result, _ = run_emulated(case.emitted(*flags), emulated, SM_80, case.inputs, (0,), 20.0)
    assert (result.outcome, result.text) == ("launch-refused", "the launcher returns 77, an error of CUDA")


def test_outputs_that_depend_on_the_order_are_wrong(cxx_host: Host) -> None:
    flags = ("-DADD(p,n)=atomicExch(p,n)",)
    emulated = made(cxx_host, "histogram", *flags)
    result = ran(cxx_host, "histogram", flags, emulated, SEEDS)
    assert result.outcome == "wrong-result"
    assert "d depends on the order of the threads: run 1 differs from run 0" in result.text
