"""Panels are packed by the first rows that use them, whatever is left over, and the meaning stays."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.plan import packing, plan
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import statements
from tests.kernels.library import program
from tests.plan.meaning import assert_same_meaning
from tests.plan.products import product
from tests.plan.targets import TARGETS

WIDE = ("avx2", "avx512")
ROWS = (8, 12, 13, 35, 64)
"""Fewer than a tile or one, whole tiles, and tiles with some left over."""


@pytest.fixture(autouse=True)
def small_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("LEAST_ROWS", "SMALL_BYTES", "LEAST_STEP", "FIRST_BYTES"):
        monkeypatch.setattr(packing, limit, 1)


def packed_alone(made: Program) -> list[bool]:
    """For each statement that packs, whether the scope around its lanes does nothing else."""
    return [len(around[-2].body) == 1 for around, s in statements(made) if "_pack" in s.target.buffer]


@pytest.mark.parametrize("target", WIDE)
@pytest.mark.parametrize("rows", ROWS)
def test_products_keep_their_bits(rows: int, target: str) -> None:
    for columns in (96, 101):
        before = bind(program("matmul"), {"M": rows, "N": columns, "K": 17})
        made = plan(before, TARGETS[target], "reassoc", 1)
        assert packed_alone(made), "nothing is packed"
        assert not any(packed_alone(made))
        assert_same_meaning(before, TARGETS[target], "reassoc", threads=1 + columns % 2)


@pytest.mark.parametrize("target", WIDE)
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("bmm", {"B": 2, "M": 13, "N": 70, "K": 17}),
        ("matmul_bias_relu", {"M": 20, "N": 70, "K": 17}),
        ("ffn_swiglu", {"B": 13, "D": 17, "H": 70}),
        ("conv1x1", {"N": 2, "C": 17, "O": 13, "H": 7, "W": 11}),
    ],
)
def test_kernels_keep_their_bits(name: str, sizes: dict[str, int], target: str) -> None:
    before = bind(program(name), sizes)
    assert not all(packed_alone(plan(before, TARGETS[target], "reassoc", 1)))
    assert_same_meaning(before, TARGETS[target], "reassoc")


def test_other_panels_are_packed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are transposed, and those that read too little of a row."""
    before = bind(program("matmul_nt"), {"M": 13, "N": 70, "K": 32})
    assert all(packed_alone(plan(before, TARGETS["avx512"], "reassoc", 1)))
    monkeypatch.setattr(packing, "FIRST_BYTES", 1 << 20)
    before = bind(program("matmul"), {"M": 40, "N": 128, "K": 17})
    assert all(packed_alone(plan(before, TARGETS["avx512"], "reassoc", 1)))


@pytest.mark.parametrize("target", WIDE)
def test_random_products_keep_their_bits(target: str) -> None:
    for seed in range(100, 124):
        before = bind(parse(product(seed), f"product {seed}"))
        verify(before)
        assert_same_meaning(before, TARGETS[target], "reassoc", threads=1 + seed % 2)
