"""f32: AVX2 code gives the bits of the scalar functions, for all arguments or a sample of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from perfdojo.backends import avx2
from perfdojo.backends.emission import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from perfdojo.compiler.text.parse import parse
from tests.elementary.compiled import GCC, compile_c

KERNEL = "kernel v_{0}\nsize N = 4096\nin x: f32[N]\nout y: f32[N]\nN@vector y[{{0}}] = {0}(x[{{0}}])\n"
SOURCE = Path(__file__).with_name("vectors.c").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program that takes the name of a function and a step, and counts the arguments that differ."""
    cpu = Path("/proc/cpuinfo")
    if GCC is None or not cpu.exists() or not set(avx2.TARGET.features) <= set(cpu.read_text().split()):
        pytest.skip("gcc or a processor with AVX2 is missing")
    folder = tmp_path_factory.mktemp("vectors")
    kernels = []
    for name in VECTOR_FUNCTIONS:
        kernel = bind(parse(KERNEL.format(name), name), {})
        emitted = emit(kernel, avx2.TARGET, "strict", vectors=avx2.vector_printer())
        (_, text), (header, declared) = emitted.files
        assert f"pd_{name}_f32x8" in text
        (folder / header).write_text(declared, encoding="utf-8")
        kernels.append(re.sub(r"\bpd_", f"pd_v_{name}_", text))  # in one file: <immintrin.h> is long
    (folder / "kernels.c").write_text("\n".join(kernels), encoding="utf-8")
    headers = "".join(f'#include "v_{name}.h"\n' for name in VECTOR_FUNCTIONS)
    counts = "".join(f"COUNT({name})\n" for name in VECTOR_FUNCTIONS)
    calls = "".join(f"    CALL({name})\n" for name in VECTOR_FUNCTIONS)
    source = SOURCE.replace("HEADERS\n", headers).replace("COUNTS\n", counts).replace("    CALLS\n", calls)
    binary = folder / "vectors"
    compile_c(source, binary, "-fopenmp", str(folder / "kernels.c"))
    return binary


def differences(program: Path, name: str, step: int) -> int:
    """Return for how many of every `step`-th f32 the emitted vector code and the scalar function differ."""
    return int(subprocess.run([program, name, str(step)], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_vectors_have_the_bits_of_the_scalar_function_in_a_sample(name: str, program: Path) -> None:
    assert differences(program, name, 1009) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_vectors_have_the_bits_of_the_scalar_function_for_all_arguments(name: str, program: Path) -> None:
    assert differences(program, name, 1) == 0
