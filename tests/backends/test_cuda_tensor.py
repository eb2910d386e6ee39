"""CUDA: nests that tensor cores do, with matrices that warps hold; what keeps nests from it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
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
from tests.backends.test_cuda import needs_cxx

STRAIGHT = """kernel product
in  a: f16[64, 48]
in  b: f16[48, 32]
out c: f32[64, 32]
tmp s: f32[64, 32] space(fragment)

2@grid_x 2@block_y 2@unroll 16@mma 16 s[{0}*32 + {1}*16 + {3},{2}*16 + {4}] = 0.0
| | 3 2@unroll p:16@mma 16 16 s[{0}*32 + {1}*16 + {p},{3}*16 + {5}] += f32(a[{0}*32 + {1}*16 + {p},{2}*16 + {6}]) * f32(b[{2}*16 + {6},{3}*16 + {5}])
| | 2@unroll 16@mma 16 c[{0}*32 + {1}*16 + {3},{2}*16 + {4}] = s[{0}*32 + {1}*16 + {3},{2}*16 + {4}]
"""  # noqa: E501
"""Factors from global memory: two warps, each with two matrices of sums."""
TILES = """kernel tiles
in  a: bf16[32, 64]
in  b: bf16[64, 32]
out c: bf16[32, 32]
tmp x: bf16[32, 32]
tmp y: bf16[32, 32]
tmp s: f32[32, 32] space(fragment)
tmp d: f32[32, 32]

1@grid_x 2@block_y 2@unroll 16@mma 16 s[{1}*16 + {3},{2}*16 + {4}] = 0.0
| 2 16 2@block_y 32@block_x x[{2}*2 + {3},{4}] = a[{2}*2 + {3},{1}*32 + {4}]
| | 16 2@block_y 32@block_x y[{2}*2 + {3},{4}] = b[{1}*32 + {2}*2 + {3},{4}]
| | 2@unroll 2@block_y 2@unroll p:16@mma 16 16 s[{3}*16 + {p},{4}*16 + {6}] += f32(x[{3}*16 + {p},{2}*16 + {7}]) * f32(y[{2}*16 + {7},{4}*16 + {6}])
| 2@block_y 2@unroll 16@mma 16 d[{1}*16 + {3},{2}*16 + {4}] = s[{1}*16 + {3},{2}*16 + {4}]
| 16 2@block_y 32@block_x c[{1}*2 + {2},{3}] = bf16(d[{1}*2 + {2},{3}])
"""  # noqa: E501
"""Factors and sums go through shared memory, sums stay with the warps over the turns of a loop."""
COLUMNS = """kernel columns
in  a: f16[48, 16]
in  b: f16[16, 48]
inout c: f32[16, 16]
tmp s: f32[16, 16] space(fragment)

1@grid_x 16@mma 16 s[{1},{2}] = c[{2},{1}]
| 3 p:16@mma 16 16 s[{p},{3}] += f32(b[{p},{1}*16 + {4}]) * f32(a[{1}*16 + {4},{3}])
| 3 q:16@mma 16 16 s[{4},{3}] += f32(b[{3},{1}*16 + {q}]) * f32(a[{1}*16 + {q},{4}])
| 16@mma 16 c[{2},{1}] = s[{1},{2}]
"""
"""Sums begin with what is in memory, by columns; factors of b and a, and as their transposes in turn."""
ROUNDED = """kernel rounded
in  a: f32[16, 32]
in  b: f32[16, 32]
out c: f32[16, 16]
tmp s: f32[16, 16] space(fragment)

1@grid_x 16@mma 16 s[{1},{2}] = 0.0
| 4 p:16@mma 16 8 s[{p},{3}] += a[{p},{1}*8 + {4}] * b[{3},{1}*8 + {4}]
| 16@mma 16 c[{1},{2}] = s[{1},{2}]
"""
"""Factors in f32."""
KEPT = {"straight": STRAIGHT, "tiles": TILES, "columns": COLUMNS, "rounded": ROUNDED}


def made(text: str, fp: FpLevel = "fast") -> tuple[Program, EmittedSource]:
    program = bind(parse(text, "k.ir"))
    verify(program)
    return program, emit(program, "cuda", fp=fp, scheduled=Scheduled(program, ""))


def ran(program: Program, emitted: EmittedSource, kind: str = "normal") -> RunResult:
    built = build_emulation(emitted, find_host(), "sm_80")
    assert isinstance(built, Emulated), built
    inputs = random_inputs(program, 0, kind)
    result, _ = run_emulated(emitted, built, device_of("sm_80"), inputs, (0, 1, 2), 60.0)
    if result.outcome == "ok":
        verdict = compare(result.outputs, reference(program, inputs, emitted.fp, emitted.tensor))
        assert verdict.passed, verdict.message
    return result


@needs_cxx
@pytest.mark.parametrize("kind", ["normal", "special"])
@pytest.mark.parametrize(
    ("name", "products", "barriers"),
    [("straight", 1, 0), ("tiles", 1, 3), ("columns", 2, 1), ("rounded", 1, 0)],
)
def test_warps_do_nests_together(name: str, products: int, barriers: int, kind: str) -> None:
    program, emitted = made(KEPT[name])
    source = emitted.files[0][1]
    assert source.count("wmma::mma_sync(") == products
    assert source.count("__syncthreads();") == barriers
    assert emitted.tensor == ("tf32" if name == "rounded" else "16 bits")
    assert not emitted.notes
    assert ran(program, emitted, kind).outcome == "ok"


@needs_cxx
def test_each_barrier_is_needed() -> None:
    program, emitted = made(TILES)
    source = emitted.files[0][1]
    places = [m.start() for m in re.finditer(r"__syncthreads\(\);", source)]
    assert len(places) == 3
    for place in places:
        without = source[:place] + source[place + len("__syncthreads();") :]
        broken = replace(emitted, files=((emitted.files[0][0], without), *emitted.files[1:]))
        assert ran(program, broken).outcome in ("race", "uninitialised-read")


def test_rounded_factors_are_beyond_the_bound_of_others() -> None:
    program, emitted = made(ROUNDED)
    inputs = random_inputs(program, 0, "normal")

    def cut(x: np.ndarray) -> np.ndarray:
        return ((x.view(np.uint32) + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32)

    a, b = (cut(inputs[name]) for name in "ab")
    result = {"c": (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float32)}
    assert compare(result, reference(program, inputs, "fast", emitted.tensor)).passed
    for fp, tensor in (("fast", "16 bits"), ("reassoc", "tf32")):
        assert not compare(result, reference(program, inputs, fp, tensor)).passed


def test_truncated_sums_are_beyond_the_bound_of_others() -> None:
    text = "kernel k\nin x: f32[1000]\nout y: f32[]\n1000 y[] += x[{0}]\n"
    program = bind(parse(text, "k.ir"))
    ones = {"x": np.ones(1000, np.float32)}
    exact, truncated = (reference(program, ones, "fast", t)["y"].bound[()] for t in ("", "16 bits"))
    assert 2.9 < truncated / exact < 3.1


CASES = {
    "level": (STRAIGHT, "", "", "reassoc rounds each sum to nearest"),
    "apart": (
        STRAIGHT,
        "out c: f32[64, 32]",
        "out c: f32[64, 32] pad(0, 1)",
        "rows of c are 132 bytes apart, no multiple of 16",
    ),
    "begin": (
        STRAIGHT.replace("b: f16[48, 32]", "b: f16[48, 40]"),
        "{3}*16 + {5}])",
        "{3}*16 + {5} + 8])",
        "matrices of b begin at multiples of 16 bytes, not of 32",
    ),
    "touched": (
        STRAIGHT,
        "\n| | 3",
        "\n| | s[{0}*32 + {1}*16,0] = 0.0\n| | 3",
        "s is no array of matrices that a warp holds",
    ),
    "lanes": (STRAIGHT, "2@block_y", "2@block_x", "each thread runs it"),
    "narrow": (
        STRAIGHT.replace("out c", "in x: f32[48]\nout z: f32[2, 48]\nout c"),
        "@grid_x 2",
        "@grid_x 48@block_x z[{0},{1}] = x[{1}]\n| 2",
        "a block of it cannot have a multiple of 32 threads along x",
    ),
    "odd": (
        STRAIGHT.replace("tmp s", "tmp q: f32[8]\ntmp s"),
        "16@mma 16 s[{0}*32 + {1}*16 + {3},{2}*16 + {4}] = 0.0",
        "8@mma q[{3}] = 0.0\n| | 2 16 16 s[{0}*32 + {1}*16 + {3},{2}*16 + {4}] = 0.0",
        "q is no fill, load or store of a matrix in space(fragment), and no sum of products into one",
    ),
}


@needs_cxx
@pytest.mark.parametrize("name", CASES)
def test_what_no_instruction_does_stays_loops(name: str) -> None:
    text, old, new, reason = CASES[name]
    assert old in text
    program, emitted = made(text.replace(old, new), "reassoc" if name == "level" else "fast")
    assert any(f"not done by tensor cores, {reason}" in note for note in emitted.notes), emitted.notes
    assert ran(program, emitted).outcome == "ok"


def tile(rows: int, columns: int) -> str:
    """A warp with several rows and columns of matrices, two steps of each."""
    every = f"{rows}@unroll {columns}@unroll"
    m, n = 16 * rows, 16 * columns
    head = (
        f"in a: f16[{m}, 32]\nin b: f16[32, {n}]\nout c: f32[{m}, {n}]\ntmp s: f32[{m}, {n}] space(fragment)"
    )
    return f"""kernel tile
{head}

1@grid_x {every} 16@mma 16 s[{{1}}*16 + {{3}},{{2}}*16 + {{4}}] = 0.0
| 2@unroll {every} p:16@mma q:16 16 s[{{2}}*16 + {{p}},{{3}}*16 + {{q}}] += f32(a[{{2}}*16 + {{p}},{{1}}*16 + {{6}}]) * f32(b[{{1}}*16 + {{6}},{{3}}*16 + {{q}}])
| {every} 16@mma 16 c[{{1}}*16 + {{3}},{{2}}*16 + {{4}}] = s[{{1}}*16 + {{3}},{{2}}*16 + {{4}}]
"""  # noqa: E501


@needs_cxx
@pytest.mark.parametrize(
    ("rows", "columns", "order"),
    [
        (2, 3, "for 2 for 3 right[3] for 2 left[1] for 3 product"),
        (2, 9, "for 2 for 2 left[1] for 9 right[1] product"),
    ],
    ids=["few", "many"],
)
def test_factors_that_products_have_in_common_are_loaded_once(rows: int, columns: int, order: str) -> None:
    program, emitted = made(tile(rows, columns))
    source = emitted.files[0][1]
    sizes = dict(re.findall(r"> (left|right)_0\[(\d+)\];", source))
    found = re.findall(r"(for) \(.* < (\d+);|load_matrix_sync\((\w+)_0|(mma)_sync", source)
    words = [f"for {n}" if f else f"{side}[{sizes[side]}]" if side else "product" for f, n, side, _ in found]
    assert " ".join(words[2:-2]) == order
    assert ran(program, emitted).outcome == "ok"


PLAIN = """kernel plain
in  x: f32[5, 4, 8]
out y: f32[5, 4, 8]
tmp t: f32[8] space(fragment)
tmp s: f32[] space(fragment)

5@grid_x 4@block_y 8 t[{2}] = x[{0},{1},{2}]
| | s[] = 0.0
| | 8 s[] += t[{2}]
| | 8@block_x y[{0},{1},{2}] = t[7 - {2}] + s[]
"""


@needs_cxx
def test_what_lies_there_without_instructions_is_a_temporary() -> None:
    program, emitted = made(PLAIN)
    assert "fragment" not in emitted.files[0][1].split("#ifdef")[1]
    assert ran(program, emitted).outcome == "ok"
