"""Which inputs the planner fetches ahead, and how far."""

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.plan import plan
from tests.kernels.library import program
from tests.plan.targets import TARGETS

ROWS = {
    # two passes over a row: whole rows of at least 8 KiB
    "softmax": ({"B": 4096, "N": 4096}, {"x": 4096}),
    "layernorm": ({"B": 16384, "N": 1024}, {"x": 2048}),
    "log_softmax": ({"B": 24576, "N": 512}, {"x": 2048}),
    # one pass, or rows that no near cache holds: 8 KiB
    "max_last": ({"B": 4096, "N": 4096}, {"x": 2048}),
    "rmsnorm": ({"B": 64, "N": 131072}, {"x": 2048}),
    # what is no row: columns, products, and what is read once in order
    "mean_first": ({"B": 8192, "N": 8192}, {}),
    "gemv": ({"M": 4096, "N": 4096}, {}),
    "relu": ({"M": 4096, "N": 4096}, {}),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_from_memory_are_fetched_ahead(name: str) -> None:
    sizes, expected = ROWS[name]
    made = plan(bind(program(name), sizes), TARGETS["avx512"], "reassoc", 1)
    assert {b.name: b.prefetch for b in made.buffers if b.prefetch} == expected


@pytest.mark.parametrize(
    ("name", "sizes", "distance"),
    [
        ("layernorm", {"B": 512, "N": 768}, 768),
        ("layernorm", {"B": 512, "N": 4096}, 0),  # long rows
        ("layernorm", {"B": 16, "N": 768}, 0),  # all rows in a near cache
        ("max_last", {"B": 4096, "N": 1024}, 0),  # one reduction a row
        ("rmsnorm", {"B": 512, "N": 1024}, 0),
    ],
)
def test_from_a_cache_only_short_rows_with_two_reductions_are(
    name: str, sizes: dict[str, int], distance: int
) -> None:
    made = plan(bind(program(name), sizes), TARGETS["avx512"], "reassoc", 1)
    assert made.buffer("x").prefetch == distance


def test_a_target_without_vectors_has_no_prefetches() -> None:
    made = plan(bind(program("max_last"), {"B": 4096, "N": 4096}), TARGETS["c"], "reassoc", 1)
    assert not any(b.prefetch for b in made.buffers)
