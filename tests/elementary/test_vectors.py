"""f32: AVX2 code gives the bits of the scalar functions, for all arguments or a sample of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfdojo.backends import avx2
from perfdojo.backends.emission import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from perfdojo.compiler.text.parse import parse
from tests.elementary.compiled import FLAGS, GCC, compile_c

KERNEL = "kernel f\nsize N = 4096\nin x: f32[N]\nout y: f32[N]\nN@vector y[{{0}}] = {}(x[{{0}}])\n"
SOURCE = Path(__file__).with_name("vectors.c").read_text(encoding="utf-8")


def differences(name: str, step: int, folder: Path) -> int:
    """Return for how many of every `step`-th f32 the emitted vector code and the scalar function differ."""
    cpu = Path("/proc/cpuinfo")
    if GCC is None or not cpu.exists() or not set(avx2.TARGET.features) <= set(cpu.read_text().split()):
        pytest.skip("gcc or a processor with AVX2 is missing")
    program = bind(parse(KERNEL.format(name), name), {})
    emitted = emit(program, avx2.TARGET, "strict", vectors=avx2.vector_printer())
    for file, text in emitted.files:
        (folder / file).write_text(text, encoding="utf-8")
    assert f"pd_{name}_f32x8" in emitted.files[0][1]
    kernel = folder / "kernel.o"
    command = [GCC, *FLAGS, "-c", str(folder / emitted.files[0][0]), "-o", str(kernel)]
    subprocess.run(command, check=True, timeout=120)
    binary = folder / "vectors"
    compile_c(SOURCE, binary, "-fopenmp", f"-DSTRIDE={step}", f"-DFUNCTION=pd_{name}_f32", str(kernel))
    return int(subprocess.run([binary], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_vectors_have_the_bits_of_the_scalar_function_in_a_sample(name: str, tmp_path: Path) -> None:
    assert differences(name, 1009, tmp_path) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_vectors_have_the_bits_of_the_scalar_function_for_all_arguments(name: str, tmp_path: Path) -> None:
    assert differences(name, 1, tmp_path) == 0
