"""Numbers that a schedule gives the planner are those of the loops that it makes."""

from __future__ import annotations

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import plan
from perfdojo.compiler.plan.knobs import Knobs
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int

PRODUCT = """in a: f32[24, 64]
in b: f32[64, 96]
out y: f32[24, 96]

m:24 n:96 k:64 y[{0},{1}] += a[{0},{2}] * b[{2},{1}]"""
LOOP = "in x: f32[64, 640]\nout y: f32[64, 640]\n\np:64 q:640 y[{0},{1}] = maxnum(x[{0},{1}], 0)"
COLUMNS = "in x: f32[96, 640]\nout y: f32[640]\n\np:96 q:640 y[{1}] += x[{0},{1}]"


def extents(text: str, knobs: Knobs, mark: str) -> set[int]:
    """Return the extents of the scopes with a mark, on avx2: eight lanes of f32."""
    bound = bind(parse(f"kernel k\n{text}\n", "k.ir"))
    verify(bound)
    made = plan(bound, get_target("avx2"), "reassoc", 1, knobs)
    return {const_int(s.node.extent) for s in made.scopes.values() if s.node.mark == mark}


@pytest.mark.parametrize("passes", [2, 3, 5])
def test_passes_are_the_vectors_of_one_pass(passes: int) -> None:
    assert 8 * passes in extents(LOOP, Knobs(passes=passes), "vector")


@pytest.mark.parametrize("sums", [2, 3, 6])
def test_sums_are_the_rows_of_one_pass(sums: int) -> None:
    assert extents(COLUMNS, Knobs(sums=sums), "unroll") == {sums}


@pytest.mark.parametrize(("rows", "vectors"), [(2, 1), (3, 2), (4, 3), (1, 4)])
def test_rows_and_vectors_are_limits_of_a_register_tile(rows: int, vectors: int) -> None:
    assert max(extents(PRODUCT, Knobs(rows=rows, vectors=vectors), "vector")) <= 8 * vectors
    assert max(extents(PRODUCT, Knobs(rows=rows, vectors=vectors), "unroll"), default=1) <= rows
