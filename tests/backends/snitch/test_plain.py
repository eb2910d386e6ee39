"""Programs without streams: C for the integer core, its header and runtime, and that gcc takes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.backends.counters import narrow
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.text.parse import parse
from tests.backends.direct import checked
from tests.kernels.library import program, texts

GCC = "riscv64-unknown-elf-gcc"
needs_gcc = pytest.mark.skipif(shutil.which(GCC) is None, reason=f"no {GCC}")


def compiled(e: EmittedSource, folder: Path) -> str:
    """Return what the compiler says about the emitted files; nothing when all is well."""
    for name, text in e.files:
        (folder / name).write_text(text)
    sources = [name for name, _ in e.files if name.endswith((".c", ".S"))]
    command = [GCC, "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", *e.flags, "-c", *sources]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


@needs_gcc
@pytest.mark.parametrize("name", ["matmul", "softmax", "layernorm"])
def test_library_kernels_compile_without_a_warning(name: str, tmp_path: Path) -> None:
    assert name in texts()
    assert compiled(emit(bind(program(name)), "snitch"), tmp_path) == ""


def test_says_what_compiles_it_and_how_pointers_are_aligned() -> None:
    e = emit(bind(program("matmul")), "snitch")
    files = dict(e.files)
    assert "riscv64-unknown-elf-gcc -O3" in files["matmul.c"]
    assert "-mno-fdiv" in files["matmul.c"]
    assert "Pointers are multiples of 8." in files["matmul.h"]
    assert e.alignment == 8


def test_large_temporaries_are_static() -> None:
    text = "kernel k\nin x: f32[2000]\nout y: f32[2000]\ntmp t: f32[2000]\n"
    text += "2000 t[{0}] = x[{0}] + 1\n2000 y[{0}] = t[1999 - {0}]\n"
    e = emit(checked(text), "snitch")
    assert "  static _Alignas(8) float t[2000];" in e.files[0][1].splitlines()
    assert e.workspace == ("t: 8000 bytes of static memory",)


def test_counters_have_32_bits_where_index_arithmetic_fits() -> None:
    text = "kernel k\nin x: f32[9]\nout y: i64[9]\n9 y[{0}] = {0} * 1000000000 + i64(x[{0}])\n"
    small = text.replace("1000000000", "1000")
    snitch = get_target("snitch")
    assert not narrow(lower(checked(text), snitch, "strict").body)
    assert narrow(lower(checked(small), snitch, "strict").body)
    assert "for (int64_t i0 = 0" in emit(bind(parse(text, "k.ir")), "snitch").files[0][1]
    assert "for (int32_t i0 = 0" in emit(bind(parse(small, "k.ir")), "snitch").files[0][1]
