"""Each intrinsic of the tables does what its meaning says, on random and on special values."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from perfdojo.backends.x86.emulation import SUPPORT, c_type, function, lane_types
from perfdojo.backends.x86.intrinsic import Intrinsic
from perfdojo.backends.x86.intrinsics import intrinsics
from tests.backends.x86.building import extensions_here, library, runs_here
from tests.backends.x86.used import used_intrinsics

ROUNDS = 96
POOL_BYTES = 8192
PREDICATES = ("EQ_OQ", "LT_OQ", "LE_OQ", "GE_OQ", "GT_OQ", "NEQ_UQ", "UNORD_Q", "ORD_Q")
IMMEDIATES = {
    "cmp": tuple(f"_CMP_{p}" for p in PREDICATES),
    "round": ("_MM_FROUND_NINT",),
    "roundscale": ("_MM_FROUND_NINT",),
    "cvtps": ("_MM_FROUND_TO_NEAREST_INT",),
    "slli": ("1", "7", "8"),
    "srli": ("1", "7", "8"),
    "srai": ("1", "7", "15"),
    "shuffle": ("0x88", "0x1b"),
    "mask": ("0xa0", "0xf5"),
    "permute2f128": ("0x20", "0x31", "0x13"),
    "permute4x64": ("0xd8", "0x1b", "0x27"),
    "blend": ("0xa", "0x5"),
}


def immediates(name: str) -> tuple[str, ...]:
    operation = name.split("_")[2]
    if "gather" in name:
        return ("8",) if name.endswith(("pd", "epi64")) else ("4",)
    if operation.startswith("extract"):
        return ("0", "1")
    return ("1", "2", "4", "8") if name == "_mm_srli_si128" else IMMEDIATES[operation]


def check(intrinsic: Intrinsic, number: int) -> str:
    """Return a C function that counts in how many rounds the intrinsic and its meaning disagree."""
    immediate = any(t == "imm" for t, _ in intrinsic.parameters)
    rounds = [one_round(intrinsic, imm) for imm in (immediates(intrinsic.name) if immediate else ("",))]
    body = "\n".join(f"    {{\n{r}\n    }}" for r in rounds)
    return f"""\
int check_{number}(const unsigned char *floats, const unsigned char *doubles, const unsigned char *bits,
                   const unsigned char *small) {{
  int wrong = 0;
  (void)floats, (void)doubles, (void)bits, (void)small;
  for (int round = 0; round < {ROUNDS}; round++) {{
{body}
  }}
  return wrong;
}}
"""


def one_round(intrinsic: Intrinsic, immediate: str) -> str:
    lines: list[str] = []
    store = intrinsic.result == "void"
    real, meant = [], []
    lane = next((t for t, _ in reversed(intrinsic.parameters) if store and "x" in t), intrinsic.result)
    for place, (type_, x) in enumerate(intrinsic.parameters):
        if type_ == "imm":
            real.append(immediate)
            meant.append(immediate)
        elif type_ in ("mem", "aligned") and store:
            lines.append("_Alignas(64) unsigned char one[64], two[64];")
            lines.append("memcpy(one, floats, 64); memcpy(two, floats, 64);")
            real.append("(void *)one")
            meant.append("two")
        elif type_ == "mem":
            pool = pool_of(lane)
            real.append(f"(const void *)({pool} + round * 8 + 1)")
            meant.append(f"{pool} + round * 8 + 1")
        else:
            index = "gather" in intrinsic.name and x == "x"
            pool = "small" if index else pool_of(type_)
            step = 64 if index else (8, 24, 40, 56)[place % 4]
            where = f"{pool} + round * {step} + {0 if index else 32 * place}"
            lines.append(f"{c_type(type_)} {x}; memcpy(&{x}, {where}, sizeof {x});")
            real.append(x)
            meant.append(x)
    real_call = f"{intrinsic.name}({', '.join(real)})"
    meant_call = f"ref{intrinsic.name}({', '.join(meant)})"
    if store:
        lines.append(f"{real_call}; {meant_call}; wrong += memcmp(one, two, 64) != 0;")
    else:
        result = c_type(intrinsic.result)
        same = {"f32": "same_f32", "f64": "same_f64"}.get(lane.split("x")[0], "same_bits")
        lines.append(f"const {result} r = {real_call}, s = {meant_call}; wrong += !{same}(&r, &s, sizeof r);")
    return "\n".join(f"      {line}" for line in lines)


def pool_of(type_: str) -> str:
    return {"f32": "floats", "f64": "doubles"}.get(type_.split("x")[0], "bits")


def program(names: list[str]) -> str:
    table = intrinsics()
    functions = "\n".join(function(table[n], f"ref{n}") for n in names)
    checks = "\n".join(check(table[n], k) for k, n in enumerate(names))
    return f"""\
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
{lane_types(functions)}
{SUPPORT}
{functions}
static bool same_bits(const void *a, const void *b, size_t n) {{ return memcmp(a, b, n) == 0; }}
static bool same_f32(const void *a, const void *b, size_t n) {{
  const uint32_t *x = a, *y = b;
  const uint32_t most = 0x7fffffff, inf = 0x7f800000;
  for (size_t k = 0; k < n / 4; k++)
    if (x[k] != y[k] && !((x[k] & most) > inf && (y[k] & most) > inf)) return false;
  return true;
}}
static bool same_f64(const void *a, const void *b, size_t n) {{
  const uint64_t *x = a, *y = b;
  const uint64_t most = UINT64_MAX >> 1, inf = 0x7ffull << 52;
  for (size_t k = 0; k < n / 8; k++)
    if (x[k] != y[k] && !((x[k] & most) > inf && (y[k] & most) > inf)) return false;
  return true;
}}
{checks}
"""


def pools(seed: int) -> list[bytes]:
    """Return lanes of f32, of f64, of any integers, and of small numbers, with many special values."""
    generator = np.random.default_rng(seed)
    n = POOL_BYTES // 8
    single = generator.integers(0, 2**32, 2 * n, dtype=np.uint32).view(np.float32)
    zeros = [0.0, -0.0] * 5
    limits = [np.inf, -np.inf, np.nan, 1e-45, -1e-40, 1e-38, 3e38, -3e38, 2.0**31, -(2.0**31), 2.0**63]
    special = np.array([*zeros, *limits, 0.5, 1, -1, 1.5, -2.5, 65504, 65520, 6e-8, 3e-8], np.float32)
    halves = generator.integers(0, 2**16, 2 * n, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        scale = 10.0 ** generator.integers(-6, 12, 2 * n)
        middle = (generator.standard_normal(2 * n) * scale).astype(np.float32)
    kind = np.minimum(generator.integers(0, 6, 2 * n), 3)
    floats = np.choose(kind, [single, halves, middle, generator.choice(special, 2 * n)]).astype(np.float32)
    double = generator.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    with np.errstate(all="ignore"):
        parts = [double, floats[:n].astype(np.float64), middle[:n].astype(np.float64)]
        doubles = np.choose(generator.integers(0, 3, n), parts)
    bits = generator.integers(0, 256, POOL_BYTES, dtype=np.uint8)
    extremes = generator.choice(np.array([0, 0xFF, 0x80, 0x7F, 1], np.uint8), POOL_BYTES)
    bits = np.where(np.repeat(generator.integers(0, 2, n), 8) == 1, bits, extremes).astype(np.uint8)
    small = generator.integers(0, 60, POOL_BYTES // 4, dtype=np.int32)
    small[1::2] = 0  # so that two lanes of i32 are also a small i64
    return [floats.tobytes(), doubles.tobytes(), bits.tobytes(), small.tobytes()]


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_each_intrinsic_does_what_its_meaning_says(target: str, tmp_path: Path) -> None:
    if not runs_here(target):
        pytest.skip(f"this processor has no {target}")
    names = used_intrinsics(target, extensions_here(target))
    built = library(program(names), tmp_path, target)
    memory = [ctypes.create_string_buffer(p) for p in pools(1)]
    wrong = [n for k, n in enumerate(names) if getattr(built, f"check_{k}")(*memory)]
    assert not wrong


def test_the_check_sees_a_wrong_meaning(tmp_path: Path) -> None:
    if not runs_here("avx2"):
        pytest.skip("this processor has no avx2")
    text = program(["_mm256_max_ps"]).replace("a[i] > b[i] ? a[i] : b[i]", "a[i] >= b[i] ? a[i] : b[i]")
    memory = [ctypes.create_string_buffer(p) for p in pools(1)]
    assert library(text, tmp_path, "avx2").check_0(*memory) > 0


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_every_intrinsic_used_has_a_meaning(target: str) -> None:
    assert set(used_intrinsics(target)) <= set(intrinsics())


def test_a_cost_names_its_source() -> None:
    table = intrinsics().values()
    assert any(i.latency is not None for i in table)
    assert all((i.latency is None) == (i.throughput is None) == (not i.source) for i in table)
    assert not [i.name for i in table if not re.fullmatch(r"_(mm\d*|k[a-z]+)_\w+", i.name)]
