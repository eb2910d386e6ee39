"""Other simulators of the cluster, by stand-ins with their command lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.results import RunResult
from perfdojo.toolchains.snitch.expected import GREATEST, LEAST, Expected, exactly, ordered, within
from perfdojo.toolchains.snitch.external import External, find_external, run_checking_itself, verilated
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import run
from tests.toolchains.snitch.kernels import ADD, STREAMED_ADD, XY_Z, N, assembly, in_c, made, vector, xy
from tests.toolchains.snitch.stand_in import executable


def test_a_verilated_cluster_gives_outputs_and_cycles(tools: Tools, tmp_path: Path) -> None:
    built = made(STREAMED_ADD, tools)
    machine = verilated(executable(tmp_path, "verilator"))
    result = run(built, xy(), machine)
    assert result.outcome == "ok", result.text
    assert np.array_equal(result.outputs["z"], xy()["x"] + xy()["y"])
    there, here = measure(built, xy(), machine), measure(built, xy())
    assert (there.outcome, there.utilisation) == ("ok", None)
    assert there.calls == here.calls


def test_harts_that_do_not_call_the_kernel_take_part_in_its_barriers(tools: Tools, tmp_path: Path) -> None:
    """The cluster has nine harts, the kernel is for two: the second one adds to what the first one wrote."""
    body = """\
    csrr t0, mhartid
    fld ft3, 0(a0)
    bnez t0, 1f
    fsd ft3, 0(a1)
    fence
1:  csrr x0, 0x7c2
    beqz t0, 2f
    fld ft4, 0(a1)
    fadd.d ft4, ft4, ft3
    fsd ft4, 0(a1)
2:  csrr x0, 0x7c2
    li a0, 0"""
    kernel = assembly(body, (vector("x", "in", count=1), vector("z", "out", count=1)), cores=2)
    result = run(made(kernel, tools), {"x": np.array([1.5])}, verilated(executable(tmp_path, "verilator")))
    assert result.outcome == "ok", result.text
    assert result.outputs["z"].tolist() == [3.0]


def test_a_simulator_that_does_not_answer_is_named(tools: Tools, tmp_path: Path) -> None:
    result = run(made(ADD, tools), xy(), verilated(executable(tmp_path, "silent")))
    assert result.outcome == "crash"
    assert "silent did not end before its memory was read: it ended with exit status 3" in result.text
    assert "no such option" in result.text


SUM = "z[i] = x[i] + y[i];"
BROKEN = {
    "wrong": (
        f"for (int i = 0; i < {N}; i++) {SUM}\n    z[3] = z[5] = 0;\n    return 0;",
        "wrong-result",
        "2 el",
    ),
    "beside": (f"for (int i = 0; i <= {N}; i++) {SUM}\n    return 0;", "memory-overwrite", "beside"),
    "trap": ('__asm__ volatile(".word 0");\n    return 0;', "crash", "exit code 2"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_checks_itself_tells_by_its_exit_code(name: str, tools: Tools, tmp_path: Path) -> None:
    body, outcome, text = BROKEN[name]
    result = _by_itself(in_c(body, XY_Z), tools, tmp_path)
    assert (result.outcome, text in result.text) == (outcome, True), result.text


def test_arguments_in_main_memory_are_compared_too(tools: Tools, tmp_path: Path) -> None:
    body, outcome, _ = BROKEN["beside"]
    assert _by_itself(replace(in_c(body, XY_Z), memory="main"), tools, tmp_path).outcome == outcome


def _by_itself(kernel: EmittedSource, tools: Tools, folder: Path) -> RunResult:
    expected = {"z": exactly(xy()["x"] + xy()["y"])}
    external = External("banshee", executable(folder, "banshee"))
    return run_checking_itself(made(kernel, tools, self_check=True), xy(), expected, external)


def test_a_simulator_that_runs_nothing_has_checked_nothing(tools: Tools) -> None:
    built = made(in_c(f"for (int i = 0; i < {N}; i++) {SUM}\n    return 0;", XY_Z), tools, self_check=True)
    expected = {"z": exactly(xy()["x"] + xy()["y"])}
    result = run_checking_itself(built, xy(), expected, External("banshee", Path("/bin/true")))
    assert (result.outcome, "did not run it" in result.text) == ("crash", True), result.text


def test_simulators_are_found_by_kind_and_path(tmp_path: Path) -> None:
    path = executable(tmp_path, "silent")
    assert find_external(f"verilator:{path}") == External("verilator", path)
    for wrong in ("verilator", "spike:/bin/true", f"banshee:{tmp_path}/none"):
        with pytest.raises(PerfDojoError):
            find_external(wrong)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_numbers_keep_their_order(dtype: str) -> None:
    numpy = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[dtype]
    values = np.array([-np.inf, -2.5, -1e-7, -0.0, 0.0, 1e-7, 1.5, np.inf, np.nan], numpy)
    keys = ordered(values)
    assert np.all(np.diff(keys[:-1].astype(object)) > 0)
    assert keys[-1] == GREATEST


def test_bounds_become_intervals_from_the_outside_in() -> None:
    value, bound = np.array([1.0, np.nan, 0.0, np.inf, 3.0]), np.array([1e-9, 0, 0, 0, np.inf])
    found = within(value, bound, np.isinf(bound), "f32")
    keys = ordered(value.astype(np.float32))
    assert found.least.tolist() == [keys[0], GREATEST, -1, keys[3], LEAST]
    assert found.greatest.tolist() == [keys[0], GREATEST, 0, keys[3], GREATEST]
    wide = within(np.array([1.0]), np.array([2.0**-23]), np.array([False]), "f32")
    assert (wide.greatest - wide.least).tolist() == [3]
    whole = within(np.array([7, 9]), np.array([0, 1.5]), np.array([False, False]), "i32")
    assert whole == Expected(whole.least, whole.greatest)
    assert (whole.least.tolist(), whole.greatest.tolist()) == ([7, 8], [7, 10])
