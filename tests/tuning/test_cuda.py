"""Searches on cuda, with a stand-in for the GPU in the process that would use it: code of the host."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdojo.backends import emit
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.cuda.apart import Job, run_apart
from perfdojo.toolchains.cuda.gpu import find_gpu
from perfdojo.toolchains.cuda.limits import over_limits, refusal
from perfdojo.toolchains.cuda.nvcc import find_nvcc
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.host import Built, build, find_host
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.tuning.machines import is_timed, problem_of
from perfdojo.tuning.runners.base import Tried
from perfdojo.tuning.runners.cuda import CudaRunner
from perfdojo.tuning.tune import Tuner
from tests.tuning.hostile import HEAD, with_planted
from tests.tuning.problems import problem, space

STAND_IN = Path(__file__).parents[1] / "toolchains" / "cuda" / "stand_in"
P = problem(target="cuda")
S = space(target="cuda")


@dataclass
class StandIn(CudaRunner):
    """Has code of this machine where that of the GPU would be, and some C at the beginning of it."""

    code: str = ""

    def library(self, source: EmittedSource) -> tuple[Path, str] | Failure:
        # it takes one argument less, the stream, which callers put behind the others
        made = build(with_planted(emit(P.bound, "c"), HEAD, self.code), self.host)
        assert isinstance(made, Built), made
        return made.native, ""


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    return StandIn(P, find_host(), Compiler(Path("nvcc"), "nvcc", "nvptx"), "sm_90")


def test_a_right_kernel_is_checked_and_timed(runner: StandIn) -> None:
    (came,) = runner.measure([S.start], None)
    assert (came.outcome, came.detail, came.cut) == ("ok", "", False), came
    assert len(came.samples) >= 8
    assert all(0 < s < 1e-3 for s in came.samples)
    (samples,) = runner.compare([S.start], 2)
    assert len(samples) == 2


CASES = {
    "segfault": ("*(volatile int *)0 = 1;", "crash", "the process that uses the GPU ended: SIGSEGV"),
    "exits": ("_exit(0);", "crash", "the process that uses the GPU ended: exit status 0"),
    "endless": ("for (;;) pause();", "timeout", "a call took longer than 1.06 s"),
    "late": (
        "static int calls; if (++calls == 3) for (;;) pause();",
        "timeout",
        "a call took longer than 1.06 s",
    ),
    "wrong": ("y[17] = 1e30f; return 0;", "wrong-result", ""),
    "nothing": ("return 0;", "wrong-result", ""),
    "overrun": ("y[320] = 1;", "memory-overwrite", "y has 1280 bytes, but its byte 1280 was written"),
    "input": ("((float *)x)[2] = 9;", "memory-overwrite", "x is an input, but its byte 8 was written"),
    "threads": ("return 701;", "refused", "the launcher returns 701, an error of CUDA"),
    "memory": ("return 2;", "out-of-memory", "the launcher returns 2, an error of CUDA"),
    "error": ("return 719;", "crash", "the launcher returns 719, an error of CUDA"),
}
FAST = ("segfault", "late", "overrun", "threads")


@pytest.mark.parametrize("kind", [k if k in FAST else pytest.param(k, marks=pytest.mark.slow) for k in CASES])
def test_what_goes_wrong_has_a_name(kind: str, runner: StandIn) -> None:
    code, outcome, says = CASES[kind]
    (came,) = replace(runner, code=code).measure([S.start], 1e-2)
    assert came.outcome == outcome, came
    assert re.match(re.escape(says), came.detail), came
    assert came.detail
    assert came.cut == (outcome == "timeout")


def test_a_slow_one_is_run_on_one_kind_of_inputs_only(runner: StandIn) -> None:
    # it would crash in its fourth call: the third is a sample, behind which it is cut
    code = "static int calls; if (++calls == 4) abort(); usleep(30000);"
    (came,) = replace(runner, code=code).measure([S.start], 1e-3)
    assert (came.outcome, came.cut, len(came.samples)) == ("ok", True, 1), came
    assert came.samples[0] >= 0.03


def test_a_process_that_cannot_use_the_gpu_says_so(
    runner: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = runner.source(S.start)
    library = runner.library(source)
    assert not isinstance(library, Failure)
    inputs = {"x": np.zeros((8, 40), np.float32)}
    assert run_apart(Job(source, library[0], ({},), 0, 1.0)).checks[0].text == "argument 'x' is missing"
    (tmp_path / "cupy.py").write_text("raise RuntimeError('the driver is too old')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    came = run_apart(Job(source, library[0], (inputs,), 0.01, 1.0))
    assert (came.checks[0].outcome, came.time) == ("crash", None)
    assert came.checks[0].text == "the GPU reports the driver is too old"
    (tmp_path / "cupy.py").write_text("import time\ntime.sleep(100)\n")
    came = run_apart(Job(source, library[0], (inputs,), 0.01, 0.01), start_s=1.0)
    assert came.checks[0].outcome == "timeout"


def test_more_than_there_is_is_out_of_memory(runner: StandIn) -> None:
    text = "kernel large\nin x: f32[2048, 4096]\nout y: f32[4]\n\ni:4 y[{0}] = x[{0},0]\n"
    source = emit(problem(text, "cuda").bound, "cuda")
    inputs = {"x": np.broadcast_to(np.float32(0), (2048, 4096)).copy()}
    came = run_apart(Job(source, Path("none"), (inputs,), 0, 1.0))
    assert (came.checks[0].outcome, came.checks[0].text) == (
        "out-of-memory",
        "the GPU reports more than there is",
    )


REPORT = """\
ptxas info    : Compiling entry function 'k_0' for 'sm_90'
ptxas info    : Function properties for k_0
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used {registers} registers, {shared} bytes smem
"""


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "says"),
    [
        (256, 255, 1000, ""),
        (1025, 32, 0, "kernel k_0: 1025 threads in a block, but sm_90 takes 1024 at most"),
        (512, 255, 0, "kernel k_0: 131072 registers in a block, but sm_90 takes 65536 at most"),
        (
            32,
            32,
            240000,
            "kernel k_0: 240000 bytes of shared memory in a block, but sm_90 takes 232448 at most",
        ),
    ],
)
def test_limits_are_known_before_a_launch(threads: int, registers: int, shared: int, says: str) -> None:
    text = f'extern "C" __global__ void __launch_bounds__({threads}) k_0(const float *x) {{'
    source = EmittedSource("k", "cuda", "k", (), (("k.cu", text),))
    report = REPORT.format(registers=registers, shared=shared)
    assert over_limits(source, report, "sm_90") == says
    assert over_limits(source, report, "sm_75") == ""


def real(monkeypatch: pytest.MonkeyPatch) -> CudaRunner:
    try:
        return CudaRunner(P, find_host(), find_nvcc(), "sm_90")
    except MissingTool as error:
        pytest.skip(str(error))


def test_nvcc_builds_candidates_and_its_limits_are_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = real(monkeypatch)
    own = CudaRunner.source
    made = runner._built(S.start)
    assert not isinstance(made, Tried), made
    assert made[1].exists()

    def with_shared(self: CudaRunner, point: Any) -> EmittedSource:
        source = own(self, point)
        (name, text), *others = source.files
        body = re.sub(
            r"(rows_0\([^)]*\) \{)", r"\1 __shared__ float s[20000]; s[threadIdx.x] = 1;", text, count=1
        )
        body = body.replace("s[threadIdx.x] = 1;", "s[threadIdx.x] = 1; y[0] = s[y != 0];", 1)
        return replace(source, files=((name, body), *others))

    monkeypatch.setattr(CudaRunner, "source", with_shared)
    (came,) = runner.measure([S.start], None)
    assert came.outcome == "refused", came
    assert came.detail.startswith("the kernel uses too much shared data (0x13880 bytes, 0xc000 max)")


def test_other_errors_of_nvcc_are_compile_errors() -> None:
    lines = ("k.cu(3): error: identifier 'a' is undefined",)
    assert refusal(Failure("compile-error", "", Path(), lines)) == ""


@pytest.mark.skipif(not find_gpu(), reason="there is a GPU")
def test_without_a_gpu_there_is_one_clear_error() -> None:
    assert not is_timed(P.setting)
    with pytest.raises(PerfDojoError, match="target cuda is not timed here: searches on it measure on a GPU"):
        problem_of(P.bound, P.setting)


def test_with_a_gpu_the_problem_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STAND_IN)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    real(monkeypatch)
    try:
        found, make = problem_of(P.bound, P.setting)
        facts = dict(found.machine)
        assert is_timed(P.setting)
    finally:
        sys.modules.pop("cupy", None)
    assert facts["gpu"] == "a stand-in"
    assert facts["driver"].endswith("CUDA 13.2")
    assert facts["architecture"] == "sm_90"
    assert facts["compiler"].startswith("nvcc release")
    assert "-O3" in facts["flags"]
    assert isinstance(make(0), CudaRunner)


@pytest.mark.slow
def test_a_search_goes_through(runner: StandIn) -> None:
    result = Tuner(P, runner).run(1e9, 6)
    assert len(result.progress.trials) >= 6
    assert set(result.progress.outcomes) == {"ok"}, [t for t in result.progress.trials if t.outcome != "ok"]
    assert result.baselines["planned"] > 0
