"""The emitted files as files: header, comments, allocation, threads, warnings, CMake."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from perfdojo.backends import cmake, emit, get_target, host_targets, target_names
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.text.parse import parse
from tests.backends.direct import checked, disagreements, emitted

LARGE = """\
# y = x backwards; no source
kernel turn
size N = 40000
in  x: f32[N]
in  never: f32[N]
out y: f32[N]
tmp t: f32[N]

N t[{0}] = x[{0}] + 1
N y[{0}] = t[N - 1 - {0}]
"""

PRIVATE = """\
kernel private
in  x: f32[16, 9000]
out y: f32[16, 9000]
tmp t: f32[16, 9000] reuse(0)
tmp s: f32[16, 9] reuse(0)

b:16@parallel n:9000 t[{0},{1}] = x[{0},{1}] * 2
| k:9 s[{0},{1}] = t[{0},{1}]
| m:9000 y[{0},{1}] = t[{0},8999 - {1}] + s[{0},{1} % 9]
"""


def _gcc(
    folder: Path, e: EmittedSource, *arguments: str, compiler: str = "gcc"
) -> subprocess.CompletedProcess[str]:
    for name, text in e.files:
        (folder / name).write_text(text)
    command = [compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *e.flags, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", ["c", "avx2", "avx512"])
def test_compiles_without_a_warning(target: str, tmp_path: Path) -> None:
    e = emit(checked(LARGE), target)
    done = _gcc(tmp_path, e, "-std=c11", "-O2", "-c", "turn.c")
    assert not done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_the_header_serves_cpp_and_c_and_may_be_included_twice(tmp_path: Path) -> None:
    e = emit(checked(LARGE), "c")
    main = "int main(void) { static float x[40000], y[40000]; return turn(x, x, y); }\n"
    user = '#include "turn.h"\n' * 2 + main
    (tmp_path / "user.cc").write_text(user)
    done = _gcc(tmp_path, e, "-std=c++17", "-c", "user.cc", compiler="g++")
    assert not done.stderr
    (tmp_path / "user.c").write_text(user)
    assert not _gcc(tmp_path, e, "-std=c11", "-c", "user.c").stderr


def test_without_memory_it_returns_1_and_writes_nothing(tmp_path: Path) -> None:
    e = emit(checked(LARGE), "c")
    assert e.workspace == ("t: 160000 bytes on the heap",)
    none = "#include <stdlib.h>\nvoid *aligned_alloc(size_t a, size_t s) { return a + s ? NULL : NULL; }\n"
    (tmp_path / "none.c").write_text(none)
    flags = ("-std=c11", "-shared", "-fPIC", "-Wl,-Bsymbolic")
    done = _gcc(tmp_path, e, *flags, "turn.c", "none.c", "-o", "turn.so")
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(tmp_path / "turn.so"))
    y = (ctypes.c_float * 4)(*range(4))
    assert library.turn(None, None, y) == 1
    assert list(y) == [0, 1, 2, 3]


def test_says_how_it_was_made_and_what_it_promises() -> None:
    text = LARGE.replace("in  never: f32[N]", "in  idx: i32[N] values(0, 7)\nin  flag: bool[N] pad(3)")
    program = bind(parse(text, "/some/where/turn.ir"), {"N": 50})
    (_, source), (_, header) = emit(program, "c", fp="contract").files
    assert source.startswith("/* perfdojo generated file: turn.c\n")
    assert header.startswith("/* perfdojo generated file: turn.h\n")
    for line in (" *   perfdojoc turn.ir --target c --fp contract -D N=50", " * N y[{0}] = t[N - 1 - {0}]"):
        assert line in source.splitlines()
    for part in (
        "y = x backwards; no source",
        "x     in     f32[50]",
        "0 <= every element < 7",
        "strides 1, 53 elements in all",
        "A bool is a byte, 0 or 1.",
        "Returns 0.",
    ):
        assert part in header


def test_the_command_gives_the_sizes_that_were_given() -> None:
    text = "kernel k\nsize N = 8\nsize M = N//2\nout y: f32[M]\n\nM y[{0}] = 1\n"
    for sizes, given in (
        ({}, ""),
        ({"N": 10}, " -D N=10"),
        ({"M": 3}, " -D M=3"),
        ({"N": 10, "M": 3}, " -D N=10 -D M=3"),
    ):
        source = emit(bind(parse(text, "k.ir"), sizes), "c").files[0][1]
        assert f"--fp reassoc{given}\n" in source


def test_a_kernel_cannot_end_the_comment_that_quotes_it() -> None:
    text = "# */ int x; /* \\\nkernel k # ?" + "?/\nout y: f32[2]\n\n2 y[{0}] = 1 # */\n"
    case = emitted(checked(text))
    assert not disagreements([case])


def test_equal_programs_give_equal_bytes() -> None:
    first, second = (emit(checked(LARGE, N=17), "avx2", fp="reassoc", threads=2) for _ in range(2))
    assert first == second


def test_threads_have_temporaries_of_their_own() -> None:
    case = emitted(checked(PRIVATE), threads=3)
    source = case.emitted.files[0][1]
    assert "-fopenmp" in case.emitted.flags
    assert "#pragma omp parallel for num_threads(3)" in source
    assert case.emitted.workspace == (
        "t: 36000 bytes on the heap for each of 3 threads",
        "s: 36 bytes on the stack",
    )
    assert not disagreements([case])


def test_one_thread_needs_no_openmp() -> None:
    case = emitted(checked(PRIVATE))
    assert "#pragma" not in case.emitted.files[0][1]
    assert "omp.h" not in case.emitted.files[0][1]
    assert not case.emitted.flags


def test_functions_in_lanes_want_their_instructions_interleaved() -> None:
    text = "kernel k\nin x: f32[64]\nout y: f32[64]\n\n64@vector y[{0}] = exp(x[{0}])\n"
    assert "-fschedule-insns" in emitted(checked(text), "avx2").emitted.flags
    assert "-fschedule-insns" not in emitted(checked(text), "c").emitted.flags
    assert "-fschedule-insns" not in emitted(checked(text.replace("exp", "abs")), "avx2").emitted.flags


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_builds_the_library(tmp_path: Path) -> None:
    e = emit(checked(LARGE), "c")
    for name, text in (*e.files, ("CMakeLists.txt", cmake(e))):
        (tmp_path / name).write_text(text)
    for command in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "build" / "libturn.a").exists()


def test_cmake_text() -> None:
    text = cmake(emit(checked(LARGE), "avx2"))
    assert "add_library(turn STATIC turn.c)" in text
    assert "-ffp-contract=off" in text
    assert "-mavx2" in text
    assert "target_link_libraries(turn PRIVATE m)" in text


def test_cmake_text_of_cuda_is_for_its_compiler() -> None:
    text = cmake(emit(checked(LARGE), "cuda"))
    assert "project(turn LANGUAGES CUDA)" in text
    assert "add_library(turn STATIC turn.cu)" in text
    assert "target_compile_options(turn PRIVATE -fmad=false)" in text
    assert "-ffp-contract" not in text


def test_targets_are_the_folders() -> None:
    assert target_names() == ("avx2", "avx512", "c", "cuda", "neon", "rvv", "snitch")
    assert host_targets() == ("avx2", "avx512", "c")
    assert all(get_target(n).name == n for n in target_names())
    with pytest.raises(PerfDojoError, match="no target 'avx51'") as error:
        get_target("avx51")
    assert "did you mean 'avx512'?" in str(error.value)
