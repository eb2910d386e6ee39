"""CUDA: what threads keep in registers from part to part, and warps that combine it."""

from __future__ import annotations

import pytest

from tests.backends.test_cuda import made, needs_cxx, ran

ROWS = """kernel soft
in  x: f32[6, 64]
out y: f32[6, 64]
tmp m: f32[6]
tmp p: f32[6, 32]
tmp q: f32[6, 32]
tmp a: f32[6]
tmp e: f32[6, 64]

3@grid_x 2@block_y 32@block_x p[{0}*2 + {1},{2}] = x[{0}*2 + {1},{2}]
| | 32@block_x p[{0}*2 + {1},{2}] max= x[{0}*2 + {1}, 32 + {2}]
| | m[{0}*2 + {1}] = -inf
| | 32@warp m[{0}*2 + {1}] max= p[{0}*2 + {1},{2}]
| | 32@block_x q[{0}*2 + {1},{2}] = 0.0
| | 2@unroll 32@block_x e[{0}*2 + {1},{2}*32 + {3}] = exp(x[{0}*2 + {1},{2}*32 + {3}] - m[{0}*2 + {1}])
| | | | q[{0}*2 + {1},{3}] += e[{0}*2 + {1},{2}*32 + {3}]
| | a[{0}*2 + {1}] = 0.0
| | 32@warp a[{0}*2 + {1}] += q[{0}*2 + {1},{2}]
| | 2@unroll 32@block_x y[{0}*2 + {1},{2}*32 + {3}] = e[{0}*2 + {1},{2}*32 + {3}] / a[{0}*2 + {1}]
"""
"""A warp a row: nothing is in memory but x and y."""
WARPS = """kernel total
in  x: f32[3, 256]
out y: f32[3]
tmp p: f32[3, 256]
tmp w: f32[3, 8]
tmp t: f32[3]

3@grid_x 8@block_y 32@block_x p[{0},{1}*32 + {2}] = x[{0},{1}*32 + {2}] * 2.0
| 8@block_y w[{0},{1}] = -0.0
| | 32@warp w[{0},{1}] += p[{0},{1}*32 + {2}]
| t[{0}] = 0.0
| 8 t[{0}] += w[{0},{1}]
| y[{0}] = t[{0}]
"""
"""Eight warps: what each has goes through shared memory, all threads add that up."""
TILES = """kernel product
in  a: f32[8, 6]
in  b: f32[6, 8]
out c: f32[8, 8]
tmp s: f32[8, 2]
tmp r: f32[8, 8]

2@grid_x 4@block_y 8@block_x r[{0}*4 + {1},{2}] = 0.0
| 3 2@block_x 4@block_y s[{0}*4 + {3},{2}] = a[{0}*4 + {3},{1}*2 + {2}]
| | 2 4@block_y 8@block_x r[{0}*4 + {3},{4}] += s[{0}*4 + {3},{2}] * b[{1}*2 + {2},{4}]
| 4@block_y 8@block_x c[{0}*4 + {1},{2}] = r[{0}*4 + {1},{2}]
"""
"""An accumulator that stays in a register across two barriers in each turn of a loop."""
MIXED = """kernel mixed
in  x: f32[4, 32]
out y: f32[4, 32]
out z: f32[4]
tmp m: f32[4]

4@grid_x m[{0}] = x[{0},0]
| z[{0}] = m[{0}] + 1.0
| 32@block_x y[{0},{1}] = x[{0},{1}] * m[{0}]
"""
"""What is beside the output of one thread is held by all of them all the same."""


@needs_cxx
@pytest.mark.parametrize(
    ("text", "barriers", "shared", "shuffles"),
    [(ROWS, 0, 0, 2), (WARPS, 1, 1, 1), (TILES, 2, 1, 0), (MIXED, 0, 0, 0)],
    ids=["rows", "warps", "tiles", "mixed"],
)
def test_threads_keep_what_is_theirs(text: str, barriers: int, shared: int, shuffles: int) -> None:
    program, emitted = made(text)
    source = emitted.files[0][1]
    assert source.count("__syncthreads();") == barriers
    assert source.count("__shared__") == shared
    assert source.count(" = pd_warp_") == shuffles
    assert "cudaMallocAsync" not in source
    assert ran(program, emitted).outcome == "ok"


PRIVATE = """kernel private
in  x: f32[4, 6, 16]
out y: f32[4, 6, 16]
tmp t: f32[16]

4@grid_x 6@block_y 16@block_x t[{2}] = x[{0},{1},{2}] * 2.0
| | 16@block_x y[{0},{1},{2}] = t[15 - {2}]
"""
"""Each iteration of a scope of threads needs all of t: they do it by themselves, one after the other."""


@needs_cxx
def test_what_threads_would_have_to_share_is_done_by_one() -> None:
    program, emitted = made(PRIVATE)
    assert any("each thread runs it" in note for note in emitted.notes)
    assert ran(program, emitted).outcome == "ok"


UNEVEN = """kernel uneven
in  x: f32[4, 64]
out y: f32[4]
tmp p: f32[4, 64]
tmp m: f32[4]

4@grid_x 64@block_x p[{0},{1}] = x[{0},{1}] * 3.0
| m[{0}] = -inf
| 32@warp m[{0}] max= p[{0},{1}]
| 32@warp m[{0}] max= p[{0},32 + {1}]
| y[{0}] = m[{0}]
"""


@needs_cxx
def test_a_warp_of_several_gives_its_result_to_all() -> None:
    program, emitted = made(UNEVEN)
    assert "__shared__ float p[64];" in emitted.files[0][1]
    assert ran(program, emitted).outcome == "ok"


UNWRITTEN = """kernel unwritten
in  x: f32[3]
out y: f32[3]
tmp t: f32[1] space(heap)

4 t[0] = x[{0} - 1] if {0} >= 1
| y[{0} - 1] = t[0] if {0} - 1 >= 0
"""


@needs_cxx
def test_nothing_is_loaded_from_memory_that_nobody_has_written() -> None:
    program, emitted = made(UNWRITTEN)
    assert "cudaMallocAsync" in emitted.files[0][1]
    assert ran(program, emitted).outcome == "ok"


UNREAD = """kernel unread
in  x: f64[2]
out y: f64[2]
tmp t: f64[64]

2@grid_x 2@unroll 32@block_x t[{1}*32 + {2}] = x[{0}]
| y[{0}] = x[{0}]
"""


@needs_cxx
def test_unrolled_loops_around_what_nobody_reads_are_empty() -> None:
    program, emitted = made(UNREAD)
    assert "cudaMalloc" not in emitted.files[0][1]
    assert ran(program, emitted).outcome == "ok"
