"""The text of Snitch's runtime: what a kernel gets, that it compiles and links, that the cluster runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from perfdojo.backends import emit
from perfdojo.backends.snitch import FLAGS
from perfdojo.backends.snitch.runtime import functions_in, public_names, runtime, runtime_files
from perfdojo.compiler.interpret import first_difference, interpret
from perfdojo.compiler.libraries import bits_are_fixed
from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import Built, build, run
from tests.backends.direct import checked
from tests.backends.snitch.native import RISCV_GCC, write
from tests.backends.snitch.operands import SPECIAL, SPECIAL_F32

needs_riscv = pytest.mark.skipif(shutil.which(RISCV_GCC) is None, reason=f"no {RISCV_GCC}")
LINKED = ("-nostdlib", "-Wl,-e,0,--no-warn-rwx-segments")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def test_a_kernel_gets_what_it_calls_and_no_more() -> None:
    assert runtime_files("z[i] = x[i] + y[i];") == ()
    assert [name for name, _ in runtime_files("z[i] = fabsf(x[i]);")] == ["snitch_runtime.h"]
    files = dict(runtime_files("float z = sqrtf(x[i]);"))
    assert "float sqrtf(float x) {" in files["snitch_runtime.c"]
    assert "float sqrtf(float x);" in files["snitch_runtime.h"]
    assert not any(name in text for text in files.values() for name in ("__divdf3", "pd_log_table", "tanh"))


def test_operators_count_as_calls() -> None:
    assert functions_in("float a = b / c; /* double x / y */") == {"__divsf3"}
    assert functions_in("double a = exp(b); // the exponent /") == {"exp"}
    assert functions_in("const double *x; z = x[i] / 3.0;") == {"__divdf3"}


@pytest.mark.parametrize(("dtype", "function"), [("f32", "snitch_rare_divf("), ("f64", "snitch_rare_div(")])
def test_a_division_in_a_kernel_is_the_runtimes(dtype: str, function: str) -> None:
    text = (
        f"kernel k\nin x: {dtype}[4]\nin y: {dtype}[4]\nout z: {dtype}[4]\n4 z[{{0}}] = x[{{0}}] / y[{{0}}]\n"
    )
    source = dict(emit(checked(text), "snitch").files)["snitch_runtime.c"]
    assert function in source
    assert ("snitch_rare_divf(" in source) != ("snitch_rare_div(" in source)


def test_an_unknown_function_is_an_error() -> None:
    with pytest.raises(KeyError):
        runtime(["cbrt"])


@needs_riscv
@pytest.mark.parametrize("name", sorted(public_names()))
def test_each_function_compiles_on_its_own(name: str, tmp_path: Path) -> None:
    for file, text in runtime_files(f"{name}()"):
        (tmp_path / file).write_text(text, encoding="utf-8")
    command = [RISCV_GCC, "-std=c11", *WARNINGS, *FLAGS, "-fsyntax-only", "snitch_runtime.c"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@needs_riscv
def test_nothing_but_the_compilers_own_library_is_called(tmp_path: Path) -> None:
    write(tmp_path, public_names())
    sources = sorted(f.name for f in tmp_path.iterdir() if f.suffix in (".c", ".S"))
    assert sources == ["snitch_exp.S", "snitch_runtime.c", "snitch_sigmoid.S", "snitch_tanh.S"]
    more = ("-O3", "-fno-math-errno", *LINKED, *sources, "-lgcc", "-o", "all.elf")
    ran = subprocess.run([RISCV_GCC, "-std=c11", *FLAGS, *more], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    code = subprocess.run(
        ["riscv64-unknown-elf-objdump", "-d", "all.elf"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "fmadd.d" in code
    assert not any(f"\t{op}" in code for op in ("fdiv", "fsqrt"))


ON_THE_CLUSTER = """\
kernel k
size N = {count}
in x: f64[N]
in y: f64[N]
in v: f32[N]
in w: f32[N]
out a: f64[N, 4]
out b: f32[N, 4]
out c: f32[N, 8]
N a[{{0}}, 0] = x[{{0}}] / y[{{0}}]
| a[{{0}}, 1] = sqrt(x[{{0}}])
| a[{{0}}, 2] = rsqrt(x[{{0}}])
| a[{{0}}, 3] = floor(x[{{0}}]) + round(y[{{0}}])
| b[{{0}}, 0] = v[{{0}}] / w[{{0}}]
| b[{{0}}, 1] = sqrt(v[{{0}}])
| b[{{0}}, 2] = rsqrt(v[{{0}}])
| b[{{0}}, 3] = ceil(v[{{0}}]) + round(w[{{0}}])
"""
FUNCTIONS = ("exp", "log", "tanh", "erf", "sigmoid", "sin", "cos")


@needs_riscv
def test_the_cluster_computes_the_bits_of_the_interpreter() -> None:
    try:
        tools = find_tools()
    except MissingTool as error:
        pytest.skip(str(error))
    rng = np.random.default_rng(5)
    text = ON_THE_CLUSTER.format(count=60)
    text += "".join(f"| c[{{0}}, {k}] = {f}(v[{{0}}])\n" for k, f in enumerate(FUNCTIONS))
    text += "| c[{0}, 7] = pow(v[{0}], w[{0}])\n"
    program = checked(text)
    built = build(emit(program, "snitch", fp="strict"), tools)
    assert isinstance(built, Built), built
    inputs = {
        "x": np.concatenate((SPECIAL, np.exp(rng.normal(size=40)))),
        "y": np.concatenate((SPECIAL[::-1], rng.normal(size=40))),
        "v": np.concatenate((SPECIAL_F32, 5 * rng.normal(size=40).astype(np.float32))),
        "w": np.concatenate((SPECIAL_F32[::-1], rng.normal(size=40).astype(np.float32))),
    }
    ran = run(built, inputs)
    assert ran.outcome == "ok", ran.text
    assert first_difference(ran.outputs, interpret(program, inputs)) == ""


def test_f64_functions_need_no_equal_bits_where_the_library_is_another() -> None:
    head = "kernel k\nin x: f64[4]\nin v: f32[4]\nout y: f64[4]\n"
    with_library = checked(f"{head}4 y[{{0}}] = exp(x[{{0}}])\n")
    without = checked(f"{head}4 y[{{0}}] = sqrt(x[{{0}}]) / f64(exp(v[{{0}}]))\n")
    assert not bits_are_fixed(with_library, "strict", own_library=True)
    assert bits_are_fixed(with_library, "strict", own_library=False)
    assert bits_are_fixed(without, "strict", own_library=True)
    assert not bits_are_fixed(without, "reassoc", own_library=False)


@pytest.mark.parametrize(("dtype", "function"), [("f32", "snitch_divf"), ("f64", "snitch_div")])
def test_quotients_of_a_kernel_are_inline_and_powers_of_two_left_to_gcc(dtype: str, function: str) -> None:
    def files(divisor: str) -> dict[str, str]:
        text = f"kernel k\nin x: {dtype}[4]\nin s: {dtype}[]\nout z: {dtype}[4]\n"
        text += f"4 z[{{0}}] = x[{{0}}] / {divisor}\n"
        return dict(emit(checked(text), "snitch").files)

    named, constant = files("s[]"), files("4.0")
    assert f"{function}(x[i0], s_0)" in named["k.c"]
    assert re.search(rf"^static inline \w+ {function}\(", named["snitch_runtime.h"], re.MULTILINE)
    assert f" {function}(" not in named["snitch_runtime.c"]
    assert "x[i0] / 4.0" in constant["k.c"]
