"""Traffic at a cache by footprints, on programs where it can be worked out by hand."""

from __future__ import annotations

import pytest

from perfdojo.compiler.analysis.traffic import traffic
from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse

GEMV = """kernel gemv
in  a: f32[100, 1000]
in  x: f32[1000]
out y: f32[100]

100 1000 y[{0}] += a[{0},{1}] * x[{1}]
"""
BLOCKED = """kernel blocked
in  a: f32[100, 1000]
in  x: f32[1000]
out y: f32[100]

100 y[{0}] = 0.0
10 100 100 y[{1}] += a[{1},{0}*100 + {2}] * x[{0}*100 + {2}]
"""
ROWS = """kernel rows
in  x: f32[64, 1000]
out y: f32[64, 1000]
tmp s: f32[64]

64 1000 s[{0}] += x[{0},{1}]
| 1000 y[{0},{1}] = x[{0},{1}] / s[{0}]
"""
ALL = 4 * (100_000 + 1000 + 100)


def moved(text: str, cache: int) -> int:
    return traffic(bind(parse(text)), cache)


def test_a_large_cache_moves_all_once() -> None:
    assert moved(GEMV, 1 << 20) == ALL
    assert moved(BLOCKED, 1 << 20) == ALL


def test_a_row_that_fits_keeps_the_vector() -> None:
    assert moved(GEMV, 4 * 2001) == ALL


def test_a_row_that_does_not_fit_reads_the_vector_again() -> None:
    # each of 100 rows: its own 1000 elements, x again, y; and its start
    assert moved(GEMV, 4 * 1000) == 100 * 4 * (1000 + 1000 + 1) + 100 * 4


def test_blocks_read_the_vector_once() -> None:
    # y is set, then read and written in each of 10 blocks
    assert moved(BLOCKED, 4 * 1000) == 4 * 100 + 10 * 4 * (100 * 100 + 100 + 100)


@pytest.mark.parametrize(("cache", "rows"), [(4 * 2001, 2), (4 * 1500, 3)])
def test_passes_over_a_row_find_it_in_a_cache_that_holds_it(cache: int, rows: int) -> None:
    extra = 4 * 64 * 3
    assert moved(ROWS, cache) == pytest.approx(4 * 64 * 1000 * rows, abs=extra)
