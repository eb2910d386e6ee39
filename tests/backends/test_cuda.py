"""CUDA: blocks and threads from marked scopes, shared memory, barriers where threads meet."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest

from perfdojo.backends import emit, lowered
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.cuda.device import device_of
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import RunResult

ROWS = """kernel rows
in  x: f32[5, 33]
out y: f32[5, 33]
tmp t: f32[33]
tmp s: f32[]

5@grid_x 33@block_x t[{1}] = x[{0},{1}] * 2.0
| s[] = 0.0
| 33 s[] += t[{1}]
| 33@block_x y[{0},{1}] = t[32 - {1}] + s[]
"""
TURNS = """kernel turns
in  x: f32[4, 8, 20]
out y: f32[4, 20]
tmp t: f32[20]

4@grid_x 20@block_x y[{0},{1}] = 0.0
| 8 20@block_x t[{2}] = x[{0},{1},{2}]
| | 20@block_x y[{0},{2}] += t[19 - {2}]
"""
APART = """kernel apart
in  x: f32[4, 6, 8]
out y: f32[4, 6, 8]
out z: f32[4, 6, 8]

4@grid_x 6@block_y 8@block_x y[{0},{1},{2}] = x[{0},{1},{2}] + 1.0
| 6@block_y 8@block_x z[{0},{1},{2}] = x[{0},{1},{2}] - 1.0
"""
LARGE = """kernel large
in  x: f32[3, 20000]
out y: f32[3, 20000]
tmp t: f32[20000]

3@grid_x 79 256@block_x t[{1}*256 + {2}] = x[{0},{1}*256 + {2}] if {1}*256 + {2} < 20000
| 79 256@block_x y[{0},{1}*256 + {2}] = t[19999 - {1}*256 - {2}] if {1}*256 + {2} < 20000
"""
SEVERAL = """kernel several
in  x: f32[300]
out y: f32[300]
tmp t: f32[300]

300 t[{0}] = x[{0}] + 1.0
300 y[{0}] = t[299 - {0}] * 2.0
"""

GUARDED = """kernel guarded
in  x: f32[8]
inout y: f32[2, 8]

2@grid_x 8@block_x 3@block_y 4 y[{0},{1}] += x[{1}] if {2} == 1
"""
SELDOM = """kernel seldom
in  x: f32[4, 8]
out y: f32[4, 8]
tmp v: f32[]

4@grid_x 8@block_x v[] = x[{0},{1}] + 1.0 if {0} < 1
| | y[{0},{1}] = v[] * v[] if {0} < 1
| | y[{0},{1}] = x[{0},{1}] if {0} >= 1
"""
ONE_AXIS = """kernel one_axis
in  x: f32[2, 4, 8, 3]
out y: f32[2, 4, 8, 3]
tmp t: f32[4, 3]

2@grid_x 4@block_y 8@block_x 3 t[{1},{3}] = x[{0},{1},{2},{3}] + 1.0
| | | 3 y[{0},{1},{2},{3}] = t[{1},2 - {3}]
"""
ONE_GRID_AXIS = """kernel one_grid_axis
in  x: f32[4, 8, 2]
out y: f32[4, 8, 2]
tmp t: f32[4, 2]

4@grid_y 8@grid_x 2@block_x t[{0},{2}] = x[{0},{1},{2}] + 1.0
| | 2@block_x y[{0},{1},{2}] = t[{0},1 - {2}]
"""
UNREACHED = """kernel unreached
in  x: f32[4, 2]
inout y: f32[4]
tmp t: f32[2]

4@grid_x 2@block_x t[{1}] = x[{0},{1}] if {0} >= 1
| 4 y[{0}] += t[0] - t[1] if {0} >= 1
"""
FIRST_ALONE = """kernel first_alone
in  x: f32[3, 8]
out y: f32[3]
out z: f32[3, 8]
tmp s: f32[]
tmp t: f32[]

3@grid_x s[] = x[{0},7]
| 8@block_x z[{0},{1}] = x[{0},{1}]
| 8 t[] = s[]
| | 1@block_x t[] += 1.0
| | s[] = t[]
| y[{0}] = s[]
"""

AT_FIRST = """kernel at_first
in  x: f32[3, 5]
out y: f32[3, 5]
out z: f32[5, 2]
tmp t: f32[]

5@grid_x 3 t[] = x[{1},{0}] * 0.5 if {1} < 1
| | y[{1},{0}] = t[] + 1.0
| | t[] = x[{1},{0}]
| 2@block_x z[{0},{1}] = x[{1},{0}]
"""

OF_BLOCKS = """kernel of_blocks
in  x: f32[3, 8]
out y: f32[3, 8]
tmp t: f32[8] space(heap)

3@grid_x 8@block_x t[{1}] = x[{0},{1}] + 1.0
| 8@block_x y[{0},{1}] = t[7 - {1}]
"""
OF_THREADS = """kernel of_threads
in  x: f32[3, 8, 2]
out y: f32[3, 8, 2]
tmp t: f32[2] space(shared)

3@grid_x 8@block_x 2 t[{2}] = x[{0},{1},{2}] + 1.0
| | 2 y[{0},{1},{2}] = t[1 - {2}]
"""
LARGE_OF_THREADS = """kernel large_of_threads
in  x: f32[2, 4, 2000]
out y: f32[2, 4, 2000]
tmp t: f32[2000]

2@grid_x 4@block_x 2000 t[{2}] = x[{0},{1},{2}] + 1.0
| | 2000 y[{0},{1},{2}] = t[1999 - {2}]
"""
TWO_GRIDS = """kernel two_grids
in  x: f32[8, 8]
out y: f32[8, 8]

8@grid_x 8@grid_x y[{0},{1}] = x[{0},{1}]
"""
TWO_BLOCKS = """kernel two_blocks
in  x: f32[4]
out y: f32[4, 4]
tmp t: f32[]

4@block_x t[] = x[{0}]
| 4@block_x 1@block_y y[{0},{1}] = t[]
"""


def made(text: str, planned: bool = False) -> tuple[Program, EmittedSource]:
    program = bind(parse(text, "k.ir"))
    verify(program)
    return program, emit(program, "cuda", scheduled=None if planned else Scheduled(program, ""))


def ran(program: Program, emitted: EmittedSource) -> RunResult:
    built = build_emulation(emitted, find_host(), "sm_80")
    assert isinstance(built, Emulated), built
    inputs = random_inputs(program, 0, "normal")
    result, _ = run_emulated(emitted, built, device_of("sm_80"), inputs, (0, 1, 2), 60.0)
    if result.outcome == "ok":
        verdict = compare(result.outputs, reference(program, inputs, "reassoc"))
        assert verdict.passed, verdict.message
    return result


needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@needs_cxx
@pytest.mark.parametrize(
    ("text", "barriers"),
    [
        *((ROWS, 1), (TURNS, 2), (APART, 0), (LARGE, 1), (GUARDED, 0), (SELDOM, 0), (ONE_AXIS, 0)),
        *((ONE_GRID_AXIS, 1), (UNREACHED, 1), (FIRST_ALONE, 2), (AT_FIRST, 0)),
        *((OF_BLOCKS, 1), (OF_THREADS, 0), (LARGE_OF_THREADS, 0), (TWO_GRIDS, 0), (TWO_BLOCKS, 0)),
    ],
    ids=lambda v: v.split()[1] if isinstance(v, str) else "",
)
def test_threads_wait_where_they_meet(text: str, barriers: int) -> None:
    program, emitted = made(text)
    source = emitted.files[0][1]
    assert source.count("__syncthreads();") == barriers
    assert ran(program, emitted).outcome == "ok"


@needs_cxx
@pytest.mark.parametrize(("text", "count"), [(ROWS, 1), (TURNS, 2)], ids=["rows", "turns"])
def test_each_barrier_is_needed(text: str, count: int) -> None:
    program, emitted = made(text)
    source = emitted.files[0][1]
    places = [m.start() for m in re.finditer(r"__syncthreads\(\);", source)]
    assert len(places) == count
    for place in places:
        without = source[:place] + source[place + len("__syncthreads();") :]
        broken = replace(emitted, files=((emitted.files[0][0], without), *emitted.files[1:]))
        assert ran(program, broken).outcome in ("race", "uninitialised-read")


def test_temporaries_lie_where_those_who_need_them_see_them() -> None:
    source = made(ROWS)[1].files[0][1]
    assert "__shared__ float t[33];" in source
    large = made(LARGE)[1]
    assert "__shared__" not in large.files[0][1]
    assert large.workspace == ("t, 240000 bytes of the device",)
    assert any("global memory" in note for note in large.notes)
    several = made(SEVERAL, planned=True)[1]
    assert several.files[0][1].count("__global__") == 2
    assert several.workspace == ("t, 1200 bytes of the device",)


def test_the_launcher_has_the_marked_extents() -> None:
    source = made(APART)[1].files[0][1]
    assert "dim3(4, 1, 1), dim3(8, 6, 1)" in source
    assert "__launch_bounds__(48)" in source


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize(
    ("extents", "message"),
    [
        ("1@grid_x 1025@block_x", "a block of k has 1025 threads, over 1024"),
        ("5@grid_x 205@block_z", "a kernel of k has 205 threads along @block_z, over 64"),
        ("65536@grid_y 2@block_x", "a kernel of k has 65536 blocks along @grid_y, over 65535"),
    ],
)
def test_what_no_device_takes_is_refused(planned: bool, extents: str, message: str) -> None:
    first, second = (part.split("@")[0] for part in extents.split())
    with pytest.raises(PerfDojoError, match=message):
        made(f"kernel k\nout y: i8[{first}, {second}]\n\n{extents} y[{{0}},{{1}}] = 1\n", planned)


def test_marked_scopes_of_one_iteration_stay_without_a_schedule() -> None:
    source = made("kernel k\nout y: f32[64]\n\n1@grid_x 64@block_x y[{1}] = 1.0\n", planned=True)[1]
    assert "dim3(1, 1, 1), dim3(64, 1, 1)" in source.files[0][1]


def test_rows_that_threads_cannot_share_are_one_of_each_thread_where_there_are_many() -> None:
    rows = "kernel k\nin  x: f32[{n}, 64]\nout y: f32[{n}, 64]\ntmp s: f32[{n}]\n\n"
    rows += "{n} 64 s[{{0}}] += x[{{0}},{{1}}]\n| | y[{{0}},{{1}}] = s[{{0}}]\n"
    for n, sizes in ((100, "dim3(100, 1, 1), dim3(1, 1, 1)"), (6400, "dim3(200, 1, 1), dim3(32, 1, 1)")):
        assert sizes in made(rows.format(n=n), planned=True)[1].files[0][1]


def test_kernels_have_a_text_before_they_are_c() -> None:
    text = lowered(made(ROWS)[0], "cuda", scheduled=Scheduled(made(ROWS)[0], ""))
    assert "kernel of blocks (i0@grid_x < 5) of 33 x 1 x 1 threads\n    shared t: f32[33]\n" in text
    assert "    barrier\n" in text


@pytest.mark.parametrize(
    ("extent", "dtype", "fp", "note"),
    [
        (32, "f32", "reassoc", ""),
        (32, "f32", "strict", "scope i1: no warp combines it, strict keeps the order of +="),
        (32, "i32", "strict", ""),
        (16, "f32", "reassoc", "scope i1: no warp combines it, it has 16 iterations, a warp 32 lanes"),
    ],
)
def test_lanes_combine_what_the_level_lets_them(extent: int, dtype: str, fp: FpLevel, note: str) -> None:
    head = f"kernel k\nin  x: {dtype}[8, {extent}]\nout y: {dtype}[8]\n\n"
    program = bind(parse(f"{head}8@grid_x {extent}@warp y[{{0}}] += x[{{0}},{{1}}]\n", "k.ir"))
    emitted = emit(program, "cuda", fp=fp, scheduled=Scheduled(program, ""))
    assert emitted.notes == ((note,) if note else ())
    assert ("__shfl_xor_sync" in emitted.files[0][1]) == (not note)
