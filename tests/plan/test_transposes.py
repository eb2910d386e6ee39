"""Transposes: squares in registers, a tile copied where lines share sets, large results past the caches."""

from __future__ import annotations

import pytest

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.plan import plan
from tests.kernels.library import program
from tests.plan.targets import TARGETS

VECTORS = pytest.mark.parametrize("target", ["avx2", "avx512"])


def planned(target: str, rows: int, columns: int) -> Program:
    return plan(bind(program("transpose"), {"M": rows, "N": columns}), TARGETS[target], "reassoc", 1)


@VECTORS
@pytest.mark.parametrize("size", [16, 40, 100, 128, 1000])
def test_no_square_is_gathered(target: str, size: int) -> None:
    bound = bind(program("transpose"), {"M": size, "N": size})
    assert "gather" not in emit(bound, target).files[0][1]


@VECTORS
def test_a_tile_is_copied_where_lines_share_sets(target: str) -> None:
    assert {b.name for b in planned(target, 512, 512).buffers} == {"x", "y", "x_pack"}
    assert {b.name for b in planned(target, 500, 500).buffers} == {"x", "y"}


@VECTORS
def test_large_results_pass_by_the_caches(target: str) -> None:
    assert planned(target, 2100, 2000).buffer("y").nontemporal
    assert not planned(target, 2000, 2000).buffer("y").nontemporal
    assert not planned("c", 2100, 2000).buffer("y").nontemporal


@VECTORS
def test_the_mark_of_threads_stays_outside(target: str) -> None:
    outermost = planned(target, 500, 500).body[0]
    assert outermost.mark == "parallel"  # type: ignore[union-attr]
