"""f32: all 2^32 arguments against the C library's f64 functions; confirms the table of bounds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfdojo.compiler.ulp import ULP
from tests.elementary.compiled import FUNCTIONS, GCC, compile_c

SOURCE = Path(__file__).with_name("exhaustive.c").read_text(encoding="utf-8")
ONE_ARGUMENT = [n for n in FUNCTIONS if n != "pow"]
SAMPLE = 1009


def worst(name: str, step: int, folder: Path) -> float:
    """Return the largest error in ULP over every `step`-th argument; no NaN, inf or zero may be wrong."""
    if GCC is None:
        pytest.skip("gcc is missing")
    program = folder / "exhaustive"
    flags = ("-O3", "-fopenmp", f"-DSTRIDE={step}", f"-DFUNCTION=pd_{name}_f32", f"-DREFERENCE=exact_{name}")
    compile_c(SOURCE, program, *flags)
    ran = subprocess.run([program], capture_output=True, text=True, check=True)
    error, argument, wrong = ran.stdout.split()
    assert int(wrong) == 0, ran.stdout
    print(f"{name}: {error} ULP at {argument}")
    return float(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_table_states_the_largest_error_over_all_arguments(name: str, tmp_path: Path) -> None:
    error = worst(name, 1, tmp_path)
    assert error <= ULP[name]["f32"] < error + 0.0101


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_sample_stays_within_the_table(name: str, tmp_path: Path) -> None:
    assert ULP[name]["f32"] / 2 < worst(name, SAMPLE, tmp_path) <= ULP[name]["f32"]
