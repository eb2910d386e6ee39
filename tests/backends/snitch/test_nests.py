"""Kernels with @stream scopes: nests that mean what the kernel means, and their assembly."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.backends import get_target
from perfdojo.backends.emission import EmitOptions
from perfdojo.backends.snitch import FLAGS, TARGET
from perfdojo.backends.snitch.emission import emitted
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.nests.nest import Compute, Item, Launch, Loop, Transfer
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.run import build, run
from tests.backends.direct import checked
from tests.backends.snitch.test_plain import GCC, compiled
from tests.lowering.nests.running import disagreement, nests

HERE = Path(__file__).parent
KERNELS = sorted(p.stem for p in HERE.glob("*.ir"))


def program(name: str) -> Program:
    found = bind(parse((HERE / f"{name}.ir").read_text("utf-8"), f"{name}.ir"))
    verify(found)
    return found


def as_written(found: Program, fp: FpLevel = "reassoc") -> EmittedSource:
    """Return a program with marks, emitted as it is."""
    return emitted(found, TARGET, fp, EmitOptions(found, FLAGS))


@pytest.mark.parametrize("fp", ["strict", "reassoc"])
@pytest.mark.parametrize("name", KERNELS)
def test_nests_are_the_kernel_and_mean_the_same(name: str, fp: FpLevel) -> None:
    found = program(name)
    made = nests(found, fp)
    if made is None:
        # sums over lanes change their order
        assert fp == "strict"
        assert name in ("sum16", "sum32", "dot32", "mmt32", "mmt32u4")
        return
    for kind in ("normal", "special"):
        assert disagreement(found, made[1], random_inputs(found, 1, kind), fp) == ""


@pytest.mark.parametrize("name", ["axpy", "matmul", "conv", "mm32"])
def test_assembly(name: str, golden: Callable[[Path, str], None]) -> None:
    files = dict(as_written(program(name)).files)
    assert sorted(files) == sorted((f"{name}.S", f"{name}.h"))
    golden(HERE / f"{name}.S.golden", files[f"{name}.S"])


@pytest.mark.skipif(shutil.which(GCC) is None, reason=f"no {GCC}")
@pytest.mark.parametrize("name", KERNELS)
def test_assembles(name: str, tmp_path: Path) -> None:
    assert compiled(as_written(program(name)), tmp_path) == ""


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", KERNELS)
def test_the_simulated_cluster_agrees(name: str, tools: Tools) -> None:
    found = program(name)
    built = build(as_written(found), tools)
    assert not isinstance(built, Failure), built.text
    inputs = random_inputs(found, 1, "normal")
    result = run(built, inputs)
    assert result.outcome == "ok", result.text
    verdict = compare(result.outputs, reference(found, inputs, "reassoc"))
    assert verdict.passed, verdict.message


def _size(items: tuple[Item, ...]) -> int:
    """Return the instructions of items, each counted once."""
    return sum(_size(i.body) if isinstance(i, Loop) else isinstance(i, Compute | Transfer) for i in items)


def test_a_matrix_product_is_one_loop_of_the_fpu() -> None:
    made = nests(program("matmul"), "reassoc")
    assert made is not None
    body = made[1][0].nest.body
    assert [type(i) for i in body] == [Launch, Launch, Launch, Loop]
    loop = body[-1]
    assert isinstance(loop, Loop)
    assert (loop.frep, loop.count, _size(loop.body)) == (True, 32, 24)


TWICE = """kernel twice
in x: f64[8]
inout i: i32[8]
out y: f64[8]
out z: f64[8]

a:8@stream y[{0}] = x[{0}] + 1
b:8 i[{0}] = i[{0}] + 1
c:8@stream z[{0}] = y[7 - {0}] * 2
"""


def test_other_statements_are_c_that_calls_the_nests() -> None:
    files = dict(as_written(checked(TWICE)).files)
    assert sorted(files) == ["twice.S", "twice.c", "twice.h"]
    assert "void twice_nest0(const double *, double *);" in files["twice.c"]
    assert "  twice_nest1(y, z);" in files["twice.c"].splitlines()
    # what C has stored is in memory before streams read, and what they write before C goes on
    assert files["twice.S"].count("    fence ") == 2
    assert files["twice.S"].count("scfgr t1, t0") == 2


def test_nests_wait_for_what_they_read() -> None:
    dependent = TWICE.replace("b:8 i[{0}] = i[{0}] + 1\n", "").replace("inout i: i32[8]\n", "")
    apart = dependent.replace("y[7 - {0}]", "x[7 - {0}]")
    (name, text), *_ = as_written(checked(dependent)).files
    assert name == "twice.S"
    assert text.count("scfgr t1, t0") == 1
    assert "scfgr t1, t0" not in as_written(checked(apart)).files[0][1]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("9@stream y[{0}] = exp(x[{0}])", "it computes exp, which the FPU has no instruction for"),
        ("9@stream y[{0}] = f64({0})", "it computes cast, which the FPU has no instruction for"),
        ("9@stream y[{0}] = x[{0}] / 3", "it computes div, which the FPU has no instruction for"),
        ("9@stream y[{0}] = max(x[{0}], 0)", "it computes max, which the FPU has no instruction for"),
        (
            "9@stream y[{0}] = {0} > 3 ? 1 : x[{0}]",
            "it computes select, which the FPU has no instruction for",
        ),
        ("9@stream z[{0}] = w[{0}]", "the elements of w z do not fill words of 64 bits one by one"),
        ("9@stream y[{0}] = x[{0} // 2]", "the address of x is no sum of iterations times constants"),
        ("8@stream y[{0}] = 1\n| y[{0} + 1] = y[0]", "y is read again after it was written"),
        (
            "2@stream 9@frep y[{1}] = x[{1}] + u[{1}] * v[{1}]",
            "it needs 4 streams (u v x y), and there are 3",
        ),
    ],
)
def test_what_cannot_be_streamed_is_c_and_says_why(body: str, why: str) -> None:
    buffers = "in x: f64[9]\nin u: f64[9]\nin v: f64[9]\nin w: f32[9]\nout y: f64[9]\nout z: f32[9]\n"
    rest = "9 z[{0}] = 0\n" if " z[" not in body else ""
    rest += "9 y[{0}] = 0\n" if " y[" not in body else ""
    found = checked(f"kernel k\n{buffers}{rest}{body}\n")
    notes = lower(found, get_target("snitch"), "strict").notes
    assert len(notes) == 1
    assert f"not streamed, {why}" in notes[0]
    assert next(name for name, _ in as_written(found, "strict").files) == "k.c"


def test_registers_that_run_out_are_counted() -> None:
    text = "kernel k\nin x: f64[4, 8]\nout y: f64[4, {n}]\n4@stream {n}@unroll y_0: y[{{0}},{{1}}] = 0\n"
    text += "| 8 {n}@unroll y[{{0}},{{2}}] += x[{{0}},{{1}}]\n"
    snitch = get_target("snitch")
    # 0.0 has one
    assert lower(checked(text.format(n=28)), snitch, "strict").notes == ()
    assert lower(checked(text.format(n=29)), snitch, "strict").notes == (
        "scope i0: not streamed, it needs 30 FP registers, and there are 29",
    )


@pytest.mark.parametrize("mark", ["vector", "frep"])
def test_marks_of_nests_outside_of_them_are_told(mark: str) -> None:
    text = f"kernel k\nin x: f64[8]\nout y: f64[8]\nn:8@{mark} y[{{0}}] = x[{{0}}]\n"
    notes = lower(checked(text), get_target("snitch"), "strict").notes
    assert notes == (f"scope n: @{mark} needs a @stream scope around it",)


def test_what_differs_in_the_sign_of_a_zero_is_two_nests() -> None:
    # nests are remembered by what they are made of, and 0.0 == -0.0
    def constants(zero: str) -> list[str]:
        text = f"kernel k\nin x: f64[64]\nout y: f64[64]\n64@stream y[{{0}}] = x[{{0}}] + {zero}\n"
        found = nests(checked(text))
        assert found is not None
        return [c.value.hex() for c in found[1][0].nest.setup]

    assert [constants(z) for z in ("0.0", "(-0.0)", "0.0")] == [["0x0.0p+0"], ["-0x0.0p+0"], ["0x0.0p+0"]]
