"""The elementary functions in lanes are those of one lane: the same bits for every f32."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from perfdojo.backends.helpers import helper_text
from perfdojo.backends.vectors.routines import routine_function, routine_name
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from tests.backends.vectors.cases import table
from tests.backends.x86.building import library, runs_here

HARNESS = """
/* Counts the arguments from `start` on, `stride` apart, on which both differ; NaNs are equal. */
int64_t differ_NAME(uint32_t start, uint32_t stride, int64_t count) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < count; k += LANES) {
    float x[LANES], y[LANES];
    for (int i = 0; i < LANES; i++) {
      const uint32_t bits = start + (uint32_t)(k + i) * stride;
      memcpy(&x[i], &bits, 4);
    }
    STORE(y, VECTOR(LOAD(x)));
    for (int i = 0; i < LANES; i++) {
      const float z = SCALAR(x[i]);
      wrong += memcmp(&y[i], &z, 4) != 0 && !(y[i] != y[i] && z != z);
    }
  }
  return wrong;
}
"""
PREFIX = {4: "_mm", 8: "_mm256", 16: "_mm512"}


def program(target: str, lanes: int) -> str:
    headers = ("immintrin", "math", "stdbool", "stdint", "string")
    text = [*(f"#include <{h}.h>" for h in headers), helper_text(f"pd_{f}_f32" for f in VECTOR_FUNCTIONS)]
    for name in VECTOR_FUNCTIONS:
        text.append(routine_function(table(target), name, lanes))
        harness = HARNESS.replace("NAME", name).replace("LANES", str(lanes))
        harness = harness.replace("VECTOR", routine_name(name, lanes)).replace("SCALAR", f"pd_{name}_f32")
        harness = harness.replace("STORE", f"{PREFIX[lanes]}_storeu_ps")
        text.append(harness.replace("LOAD", f"{PREFIX[lanes]}_loadu_ps"))
    return "\n".join(text)


def differing(built: ctypes.CDLL, name: str, start: int, stride: int, count: int) -> int:
    function = getattr(built, f"differ_{name}")
    function.restype, function.argtypes = ctypes.c_int64, (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int64)
    return int(function(start, stride, count))


@pytest.mark.parametrize(("target", "lanes"), [("avx2", 8), ("avx512", 16)])
def test_functions_agree_with_one_lane_on_a_sample(target: str, lanes: int, tmp_path: Path) -> None:
    built = library(program(target, lanes), tmp_path, target, "-O1")
    for name in VECTOR_FUNCTIONS:
        assert differing(built, name, 0, 40961, 2**32 // 40961) == 0, name


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_functions_agree_with_one_lane_on_every_argument(name: str, tmp_path: Path) -> None:
    target, lanes = ("avx512", 16) if runs_here("avx512") else ("avx2", 8)
    if not runs_here(target):
        pytest.skip(f"this processor has no {target}")
    built = library(program(target, lanes), tmp_path, target, "-O2")
    assert differing(built, name, 0, 1, 2**32) == 0
