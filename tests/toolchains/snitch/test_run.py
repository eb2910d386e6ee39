"""Kernels on the simulated cluster: right results come back, and every way to go wrong has its name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.layout import ARGUMENT_BYTES, place
from perfdojo.toolchains.snitch.run import build, run
from tests.toolchains.snitch.kernels import (
    ADD,
    COPY,
    STREAMED_ADD,
    XY_Z,
    N,
    assembly,
    in_c,
    made,
    source,
    vector,
    xy,
)


@pytest.mark.parametrize("kernel", [ADD, STREAMED_ADD], ids=["C", "streams"])
def test_outputs_come_back(kernel: EmittedSource, tools: Tools) -> None:
    result = run(made(kernel, tools), xy())
    assert (result.outcome, result.text) == ("ok", "")
    assert np.array_equal(result.outputs["z"], xy()["x"] + xy()["y"])


def test_every_type_passes_unchanged(tools: Tools) -> None:
    samples = {
        "f64": np.array([1.5, -np.inf, 5e-324]),
        "f32": np.array([1.5, np.inf, 1e-45], np.float32),
        "i32": np.array([1, -(2**31), 2**31 - 1], np.int32),
        "i8": np.array([1, -128, 127], np.int8),
        "bool": np.array([True, False, True]),
        "i64": np.array([1, -(2**63), 2**63 - 1]),
    }
    arguments = tuple(
        a for t in samples for a in (vector(f"s_{t}", "in", t, 3), vector(f"d_{t}", "out", t, 3))
    )
    words = {"f64": 8, "f32": 4, "i32": 4, "i8": 1, "bool": 1, "i64": 8}
    listed = ", ".join(f"{'const ' if a.role == 'in' else ''}char *restrict {a.name}" for a in arguments)
    copies = " ".join(f"for (int i = 0; i < {3 * words[t]}; i++) d_{t}[i] = s_{t}[i];" for t in samples)
    text = f"int k({listed});\nint k({listed}) {{ {copies} return 0; }}\n"
    result = run(made(source(text, arguments), tools), {f"s_{t}": v for t, v in samples.items()})
    assert result.outcome == "ok", result.text
    assert all(result.outputs[f"d_{t}"].tobytes() == v.tobytes() for t, v in samples.items())


def test_inout_starts_with_its_input_in_each_call(tools: Tools) -> None:
    kernel = in_c(
        f"for (int i = 0; i < {N}; i++) d[i] += s[i]; return 0;", (vector("s", "in"), vector("d", "inout"))
    )
    x = xy()
    result = run(made(kernel, tools), {"s": x["x"], "d": x["y"]})
    assert np.array_equal(result.outputs["d"], x["x"] + x["y"])


def test_what_does_not_fit_the_tcdm_lies_in_main_memory(tools: Tools) -> None:
    count = TCDM_BYTES // 8
    arguments = (vector("x", "in", count=count), vector("d", "inout", count=4))
    kernel = in_c(f"d[1] = x[0] + x[{count - 1}]; return 0;", arguments)
    built = made(kernel, tools)
    assert built.area.in_main
    x = np.arange(count, dtype=np.float64)
    result = run(built, {"x": x, "d": np.ones(4)})
    assert result.outcome == "ok", result.text
    assert result.outputs["d"].tolist() == [1, count - 1, 1, 1]


def test_the_area_fits_beside_what_is_reserved() -> None:
    most = ARGUMENT_BYTES - 128
    assert not place(in_c("return 0;", (vector("x", "in", "f64", most // 8),))).in_main
    assert place(in_c("return 0;", (vector("x", "in", "f64", most // 8 + 1),))).in_main
    small = in_c("return 0;", (vector("x", "in"),))
    assert place(replace(small, memory="main")).in_main


def test_arguments_that_must_lie_in_the_tcdm_and_do_not_fit_are_refused(tools: Tools) -> None:
    kernel = in_c("return 0;", (vector("x", "in", count=TCDM_BYTES // 8),), memory="tcdm")
    with pytest.raises(
        PerfDojoError, match=r"from the TCDM, where they need 131200 bytes; 122880 of its 131072"
    ):
        build(kernel, tools)


def test_a_kernel_may_be_called_as_the_harness(tools: Tools) -> None:
    text = ADD.files[0][1].replace("int k(", "int start(")
    kernel = replace(
        ADD, kernel="start", symbol="start", files=(("start.c", text), ("check.c", "int a_b = 1;\n"))
    )
    assert run(made(kernel, tools), xy()).outcome == "ok"
    streamed = replace(STREAMED_ADD, files=(("start.S", STREAMED_ADD.files[0][1]),))
    assert run(made(streamed, tools), xy()).outcome == "ok"


LOOP = f"for (int i = 0; i < {N}; i++) z[i] = x[i] + y[i];"
WRONG = {
    "a missing element": (
        f"for (int i = 1; i < {N}; i++) z[i] = x[i]; return 0;",
        "wrong-result",
        "1 of 64 elements of z",
    ),
    "behind the end": (
        f"{LOOP} z[{N}] = 1; return 0;",
        "memory-overwrite",
        "z has 512 bytes, but its byte 512 was",
    ),
    "before the start": (f"{LOOP} z[-1] = 1; return 0;", "memory-overwrite", "y has 512 bytes, but its byte"),
    "an input": (
        f"{LOOP} ((double *)x)[3] = 1; return 0;",
        "memory-overwrite",
        "x is an input, but its byte 24 was",
    ),
    "failed": (f"{LOOP} return 1;", "out-of-memory", "k returned 1"),
    "misaligned": (f"{LOOP} return *(volatile int *)((char *)x + 2) * 0;", "crash", "hart 0"),
    "unmapped": (f"{LOOP} return *(volatile int *)0x40;", "crash", "k+"),
    "illegal": (f'{LOOP} __asm__ volatile(".word 0"); return 0;', "crash", "illegal instruction"),
    "deep stack": (
        f"{LOOP} volatile char big[5000]; for (int i = 0; i < 5000; i++) big[i] = 1; return 0;",
        "memory-overwrite",
        "the stack of hart 0 needs more than its 4096 bytes",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_named(name: str, tools: Tools) -> None:
    body, outcome, text = WRONG[name]
    result = run(made(in_c(body, XY_Z), tools), xy())
    assert result.outcome == outcome, result.text
    assert text in result.text
    assert not result.outputs


REGISTERS = {
    "an integer register": ("    li s3, 1", "s3"),
    "a register for floats": ("    fmv.d fs2, ft3", "fs2"),
    "the stack pointer": ("    addi sp, sp, -16", "sp"),
    "the rounding mode": ("    csrwi frm, 1", "frm"),
    "s0": ("    li s0, 7", "s0"),
}


@pytest.mark.parametrize("name", REGISTERS)
def test_a_broken_calling_convention_is_found(name: str, tools: Tools) -> None:
    body, register = REGISTERS[name]
    result = run(made(assembly(body + "\n    li a0, 0", (vector("x", "in"),)), tools), {"x": xy()["x"]})
    assert result.outcome == "wrong-result"
    assert f"in {register} than" in result.text


def test_an_endless_loop_ends(tools: Tools) -> None:
    built = made(in_c("for (volatile int i = 0;;) i++;", (vector("x", "in"),)), tools)
    result = run(built, {"x": xy()["x"]})
    assert (result.outcome, result.text) == ("timeout", "it was still running after 3000000 cycles")
    stopped = run(built, {"x": xy()["x"]}, timeout_s=0.05)
    assert (stopped.outcome, stopped.text) == (
        "timeout",
        "the simulation was stopped: it ran longer than 0.05 s",
    )


def test_streams_that_are_left_on_are_found(tools: Tools) -> None:
    body = STREAMED_ADD.files[0][1].replace("    csrrci x0, 0x7c0, 1\n", "")
    result = run(made(source(body, XY_Z, "k.S"), tools), xy())
    assert result.outcome == "crash", result.text
    assert result.text.endswith("; k had returned, or not begun")


def test_more_arguments_than_registers(tools: Tools) -> None:
    arguments = (*(vector(f"x{k}", "in", count=1) for k in range(10)), vector("d", "out", count=10))
    body = " ".join(f"d[{k}] = *x{k};" for k in range(10))
    built = made(in_c(f"{body} return 0;", arguments), tools)
    result = run(built, {f"x{k}": np.array([float(k)]) for k in range(10)})
    assert result.outputs["d"].tolist() == list(range(10))


def test_all_cores_call_a_kernel_for_several(tools: Tools) -> None:
    body = """\
    csrr t0, mhartid
    slli t0, t0, 3
    add a0, a0, t0
    add a1, a1, t0
    fld ft3, 0(a0)
    fsd ft3, 0(a1)
    fmv.x.w t1, ft3
    mv t1, t1
    li a0, 0"""
    kernel = assembly(body, (vector("x", "in", count=4), vector("z", "out", count=4)), cores=4)
    x = np.arange(4) + 0.5
    result = run(made(kernel, tools), {"x": x})
    assert result.outcome == "ok", result.text
    assert np.array_equal(result.outputs["z"], x)
    fewer = replace(kernel, cores=3)
    assert "1 of 4 elements of z" in run(made(fewer, tools), {"x": x}).text


def test_the_hart_of_the_dma_calls_it_too(tools: Tools) -> None:
    result = run(made(COPY, tools), {"x": xy()["x"]})
    assert result.outcome == "ok", result.text
    assert np.array_equal(result.outputs["z"], xy()["x"])


def test_what_gcc_refuses_is_a_failure(tools: Tools) -> None:
    failed = build(in_c("return nothing;", (vector("x", "in"),)), tools)
    assert isinstance(failed, Failure)
    assert failed.outcome == "compile-error"
    assert "nothing" in failed.text


def test_inputs_must_fit(tools: Tools) -> None:
    result = run(made(ADD, tools), {"x": xy()["x"]})
    assert result.outcome == "not-runnable"
    assert result.text == "argument 'y' is missing"


def test_a_missing_compiler_names_its_package(no_path: None) -> None:
    with pytest.raises(MissingTool) as error:
        find_tools()
    assert "gcc-riscv64-unknown-elf" in error.value.hint


def test_padding_stays(tools: Tools) -> None:
    d = Argument("d", "out", "f64", (2, 3), (4, 1), 8)
    good = "for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) d[4 * i + j] = x[j];"
    arguments = (vector("x", "in"), d)
    x = {"x": xy()["x"]}
    assert np.array_equal(
        run(made(in_c(f"{good} return 0;", arguments), tools), x).outputs["d"][1], x["x"][:3]
    )
    result = run(made(in_c(f"{good} d[3] = 0; return 0;", arguments), tools), x)
    assert result.text == "padding of d was written, at element 3 of the buffer"
