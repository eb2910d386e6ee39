"""Moves that would take more threads or shared memory than a block of a GPU has are refused, with numbers."""

from __future__ import annotations

import pytest

from tests.transforms.states import reason, setting, state

TILES = """kernel tiles
in  x: f32[8, 96, 128]
out y: f32[8, 96, 128]
tmp t: f32[8, 96, 128]
tmp u: f32[96, 64] space(shared)

b:8@grid_x k:2 i:96 j:64 u[{2},{3}] = x[{0},{2},{1}*64 + {3}]
| | m:96 n:64 t[{0},{2},{1}*64 + {3}] = u[{2},63 - {3}]
| r:96 c:128 y[{0},{1},{2}] = t[{0},95 - {1},{2}]
"""


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (
            "set_space t shared",
            "0: a block of b would need 73728 bytes of shared memory for t, u, over 49152",
        ),
        ("double_buffer u by k", ""),
        ("double_buffer u by k ahead", ""),
        ("pad_dims u 0 200", "0: a block of b would need 75776 bytes of shared memory for u, over 49152"),
        (
            "create_temporary x at k in shared",
            "0: a block of b would need 73728 bytes of shared memory for u, x_t, over 49152",
        ),
        ("create_temporary x at i in shared", ""),
    ],
)
def test_shared_memory_of_a_block_is_limited(move: str, expected: str) -> None:
    assert reason(state(TILES), move, setting("cuda")) == expected


def test_what_blocks_share_counts_whole() -> None:
    program = state(TILES.replace("b:8@grid_x", "b:8"))
    found = reason(program, "set_space t shared", setting("cuda"))
    assert found == "0: a block of b would need 417792 bytes of shared memory for t, u, over 49152"


THREADS = """kernel threads
in  x: f32[8, 40, 4, 32]
out y: f32[8, 40, 4]
out z: f32[8, 40, 64]

b:8@grid_x i:40@block_y j:4 y[{0},{1},{2}] = 0.0
| | | w:32 y[{0},{1},{2}] += x[{0},{1},{2},{3}]
| k:40 l:64 z[{0},{1},{2}] = x[{0},{1},0,0]
"""


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        ("warp_reduce w", "4: the block would have 1280 threads, over 1024"),
        ("block l x", "5: the block would have 2560 threads, over 1024"),
        ("block j x", ""),
    ],
)
def test_lanes_of_warps_count_as_threads(move: str, expected: str) -> None:
    assert reason(state(THREADS), move, setting("cuda")) == expected


def test_moves_that_make_scopes_longer_are_asked_too() -> None:
    program = state(
        "kernel longer\nout y: f32[2, 600]\nout z: f32[2, 600]\n\n"
        "b:2@grid_x i:600@block_x y[{0},{1}] = 1.0\n| j:600@block_x z[{0},{1}] = 2.0\n"
    )
    found = reason(program, "join_scopes i j shift 500", setting("cuda"))
    assert found == "0: a block of b would have 1100 threads, over 1024"


def test_a_program_that_is_over_a_limit_as_written_can_be_mended() -> None:
    program = state(
        "kernel wide\nout y: f32[2, 2050]\nout z: f32[2, 1500]\n\n"
        "b:2@grid_x i:2050@block_x y[{0},{1}] = 1.0\n| j:1500@block_x z[{0},{1}] = 2.0\n"
    )
    assert reason(program, "sequential i", setting("cuda")) == ""
