"""CUDA: several elements in one access, copies that arrive later, and the barriers that these need."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.backends.test_cuda import made, needs_cxx, ran

TILES = """kernel turns
in  x: f32[4, 6, 32]
out y: f32[4, 32]
tmp t: f32[2, 32] space(shared)
tmp r: f32[4, 32]

4@grid_x 32@block_x r[{0},{1}] = 0.0
| 8@block_x 4@async t[0,{1}*4 + {2}] = x[{0},0,{1}*4 + {2}]
| 6 8@block_x 4@async t[({1} + 1)%2,{2}*4 + {3}] = x[{0},{1} + 1,{2}*4 + {3}] if {1} + 1 < 6
| | 32@block_x r[{0},{2}] += t[{1}%2,31 - {2}]
| 32@block_x y[{0},{1}] = r[{0},{1}]
"""
"""While one half of t is used the other one is filled: one barrier a turn."""
OWN = """kernel own
in  x: f32[3, 64]
out y: f32[3, 64]
tmp t: f32[64] space(shared)

3@grid_x 16@block_x 4@async t[{1}*4 + {2}] = x[{0},{1}*4 + {2}]
| 16@block_x 4 y[{0},{1}*4 + {2}] = t[{1}*4 + {2}] * 2.0
"""
"""Each thread reads what it copied itself, which may not have arrived."""
TYPES = """kernel types
in  a: f64[2, 8]
in  b: f16[2, 32]
in  c: i8[2, 64]
in  d: i64[2, 8]
out e: f64[2, 8]
out f: f16[2, 32]
out g: i8[2, 64]
out h: i64[2, 8]
out i: i8[2, 64]

2@grid_x 4@block_x 2@vector e[{0},{1}*2 + {2}] = a[{0},{1}*2 + {2}]
| 4@block_x 8@vector f[{0},{1}*8 + {2}] = b[{0},{1}*8 + {2}]
| 8@block_x 8@vector g[{0},{1}*8 + {2}] = c[{0},{1}*8 + {2}]
| 4@block_x 2@vector h[{0},{1}*2 + {2}] = d[{0},{1}*2 + {2}]
| 16@block_x 4@vector i[{0},{1}*4 + {2}] = c[{0},{1}*4 + {2}] if {1} < 7
| 36 i[{0},28 + {1}] = c[{0},28 + {1}]
"""
UNEVEN = """kernel uneven
in  x: f32[3, 33]
out y: f32[3, 33]

3@grid_x 8@block_x 4@vector y[{0},{1}*4 + {2}] = x[{0},{1}*4 + {2}]
| y[{0},32] = x[{0},32]
"""


@needs_cxx
@pytest.mark.parametrize(
    ("text", "barriers", "waits", "copies"), [(TILES, 1, 1, 2), (OWN, 1, 1, 1)], ids=["turns", "own"]
)
def test_threads_wait_for_copies(text: str, barriers: int, waits: int, copies: int) -> None:
    program, emitted = made(text)
    source = emitted.files[0][1]
    assert source.count("__syncthreads();") == barriers
    assert source.count("  pd_wait();") == waits
    assert source.count("__pipeline_memcpy_async(") == copies
    assert "#include <cuda_pipeline.h>" in source
    assert ran(program, emitted).outcome == "ok"


@needs_cxx
@pytest.mark.parametrize("text", [TILES, OWN], ids=["turns", "own"])
@pytest.mark.parametrize("wait", ["  pd_wait();", "__syncthreads();"])
def test_each_wait_is_needed(text: str, wait: str) -> None:
    program, emitted = made(text)
    source = emitted.files[0][1]
    if text is OWN and wait == "__syncthreads();":
        pytest.skip("its threads touch nothing of each other; the barrier is where waits stand")
    broken = replace(emitted, files=((emitted.files[0][0], source.replace(wait, "")), *emitted.files[1:]))
    assert ran(program, broken).outcome in ("race", "uninitialised-read")


@needs_cxx
def test_accesses_have_the_type_of_their_elements() -> None:
    program, emitted = made(TYPES)
    source = emitted.files[0][1]
    assert re.findall(r"\*\((\w+) \*\)", source) == ["double2", "uint4", "uint2", "longlong2", "uint32_t"]
    assert "Pointers are multiples of 16." in emitted.files[1][1]
    assert ran(program, emitted).outcome == "ok"


@needs_cxx
def test_what_is_not_aligned_is_copied_one_by_one() -> None:
    program, emitted = made(UNEVEN)
    assert "float4" not in emitted.files[0][1]
    assert any("need not begin at a multiple of 4" in note for note in emitted.notes)
    assert ran(program, emitted).outcome == "ok"


AT_ONCE = """kernel at_once
in  x: f32[3, 32]
out y: f32[3, 32]
tmp t: f32[32] space(shared)

3@grid_x 8@block_x 4@async t[{1}*4 + {2}] = x[{0},{1}*4 + {2}]
| | 4@vector y[{0},{1}*4 + {2}] = t[{1}*4 + {2}]
"""
"""A thread that does not wait uses what it copied itself."""
FROM_NEAR = """kernel from_near
in  x: f32[3, 32]
out y: f32[3, 32]
tmp t: f32[32] space(shared)
tmp u: f32[32] space(shared)

3@grid_x 32@block_x t[31 - {1}] = x[{0},{1}]
| 8@block_x 4@async u[{1}*4 + {2}] = t[{1}*4 + {2}]
| 32@block_x y[{0},{1}] = u[31 - {1}]
"""
"""Only what lies in global memory is copied by the hardware."""


@needs_cxx
@pytest.mark.parametrize("text", [AT_ONCE, FROM_NEAR], ids=["at once", "from near"])
def test_what_cannot_arrive_later_is_copied_at_once(text: str) -> None:
    program, emitted = made(text)
    assert "__pipeline_memcpy_async" not in emitted.files[0][1]
    assert ran(program, emitted).outcome == "ok"


def test_a_guard_that_parts_the_elements_is_named() -> None:
    guarded = "kernel k\nin  x: f32[8, 32]\ninout y: f32[8, 32]\n\n"
    guarded += "8@grid_x 8@block_x 4@vector y[{0},{1} * 4 + {2}] = x[{0},{1} * 4 + {2}] if {2} < 3\n"
    note = "scope i2: not one access, the guard of y is not the same for all of them"
    assert note in made(guarded)[1].notes
